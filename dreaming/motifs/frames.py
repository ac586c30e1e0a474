"""How people mind something, as data: the turns of phrase around the thing they speak of.

A wish is a thing (tests, a commit, an emoji) in a frame ("you forgot the …", "never …", "… too").
People word the frames alike whatever they want, so frames are shared by all wishes, and a language
is added here once.
"""

from __future__ import annotations

import re
from enum import Flag, auto
from functools import cached_property, reduce
from operator import or_
from typing import Final

import msgspec

from dreaming.motifs.table import Entry


class Moment(Flag):
    """What stood right before a person's words."""

    NONE = 0
    FIRST = auto()
    """They open the session: a task, in which only standing rules and unusual orders count."""
    WORK = auto()
    """The model has edited files, or says that it is done."""
    DONE = auto()
    """The model says that it is done."""
    COMMIT = auto()
    """The model committed or pushed, or says so."""
    DOCS = auto()
    """The model's last edit was of a document."""
    STOPPED = auto()
    """The person stopped the model or denied a call."""


class Frame(msgspec.Struct, frozen=True):
    """A turn of phrase: what stands before the thing, and what stands behind it."""

    before: str
    after: str = ""


class Wish(Entry, frozen=True, dict=True, eq=False, kw_only=True):
    """Something that people ask of an agent again and again, or that models admit, in new words.

    Patterns are for folded text, and a match begins where no letter stands before it.
    """

    about: str = ""
    frames: str = ""
    after: str = ""
    review: str = ""
    pasted: str = ""

    @cached_property
    def moment(self) -> Moment:
        """When ``after`` and ``pasted`` count."""
        some = (Moment[one.upper()] for one in self.when.split("+") if one)
        return reduce(or_, some, Moment.NONE) or Moment.WORK


FRAMES: Final = {
    "forgot": Frame(
        r"you(?:'ve| have)? (?:just |again |also )?(?:forgot(?:ten)?|missed|skipped|omitted|"
        r"left out|ignored)|you (?:still )?(?:did(?:n'?t| not)|have(?:n'?t| not)|never|"
        r"are(?:n'?t| not))|forgot(?:ten)?|(?:i|we) (?:still )?(?:do(?:n'?t| not)|can(?:'?t|not)) "
        r"(?:see|find)|there(?:'?s| is| are) (?:still )?no|where(?:'?s| is| are)|why (?:is|are|do|"
        r"does|did|have|has) (?:there|we|you|it|this) (?:no|not)|why (?:no|not|(?:did|do|are|is|"
        r"have|has)n'?t)(?: you| there| we)?|missing|(?:still|has|have) no|vergessen|wo sind|"
        r"warum kein\w*|oublié|où sont|pourquoi (?:il n'y a )?pas|olvidaste|faltan?|"
        r"dónde están|esqueceu|faltam?|onde estão|cadê|забыла?|где|忘了|忘记|没有?|缺",
        r"(?:is|are|was|were)? ?(?:still )?(?:missing|forgotten|not (?:updated|added|there|run)|"
        r"out of date|outdated|stale)|fehl(?:t|en)|vergessen|manquent?|забыл|呢|忘|没|"
        r"が(?:ない|抜け)|を忘れ|は(?:どこ|ない)|(?:이|가)? ?(?:없|빠졌)|(?:은|는) ?어디",
    ),
    "must": Frame(
        r"always|every time|each time|from now on|going forward|in (?:the )?future|remember to|"
        r"don'?t forget(?: to)?|immer|ab jetzt|künftig|toujours|désormais|siempre|"
        r"a partir de ahora|sempre|daqui em diante|всегда|обязательно|впредь|每次|一定要|必须|以后|"
        r"必ず|今後|항상|반드시|앞으로",
        r"every time|each time|from now on|going forward|必ず",
    ),
    "never": Frame(
        r"never|don'?t(?! forget)(?! think)(?! know)(?! see)|dont|do not|stop|quit|no more|"
        r"please no|must(?:n'?t| not)|should(?:n'?t| not)|not allowed to|niemals|nie|bitte kein\w*|"
        r"nicht(?: mehr)?|jamais|ne(?= \w+ pas)|arrête|plus de|nunca|deja de|pare de|никогда|"
        r"хватит|перестань|не надо|不要|别|不许|禁止|不准",
        r"(?:bitte )?nicht|しないで|(?:を|は)?やめて|禁止|하지 ?(?:마|말)|쓰지 ?마|금지",
    ),
    "why": Frame(
        r"why (?:did|do|are|would|have|was|is|were) (?:you|there|it|we|this)|who (?:told|asked) you"
        r"|i (?:did(?:n'?t| not)|never) (?:ask|tell|want|say)\w*|you should(?:n'?t| not) have|"
        r"warum hast du|wieso|pourquoi (?:as-tu|tu as)|por qu[eé] (?:has|você)|зачем|почему ты|"
        r"为什么|なんで|なぜ|왜",
    ),
    "again": Frame(
        r"again|still|once more|(?:second|third) time|you (?:keep|always|constantly)|"
        r"i(?:'ve| have)? (?:already )?(?:told|said|asked)|as i said|wieder|immer noch|encore|"
        r"otra vez|de novo|опять|снова|всё ещё|又|还是|また|まだ|또|아직",
        r"again|schon wieder|otra vez|de novo|опять|снова",
    ),
    "excess": Frame(
        r"(?:do(?:es)?(?:n'?t| not)|no longer) (?:really )?(?:need|want)|no need (?:for|to)|"
        r"unnecessary|useless|pointless|too (?:much|many)|get rid of|remove(?: all| the| those|"
        r" these)+|way too|(?:keine?|unnötige?) \w*|pas besoin|no (?:hace falta|necesit\w+)|"
        r"não precis\w+|не нужн\w*|не надо|不需要|不用|不必|删掉|去掉|要らない|"
        r"いらない|필요 ?없",
        r"(?:is|are) (?:not|un)\s?(?:needed|necessary)|不需要|いらない|필요 ?없",
    ),
    "no": Frame(r"no|zero|keine?|sans|sin|sem|без|无|無"),
}
"""``no`` goes with ``never`` and ``excess`` and stands right before the thing."""

STANDING: Final = re.compile(
    r"\balways\b|\bnever\b|from now on|going forward|in (?:the )?future|(?:please|as always).{0,12}"
    r"remember|remember to\b|every time|start by\b|i(?:'ve| have) noticed you\b|"
    r"without (?:asking|being asked)|under no circumstances|\b(?:immer|niemals|ab jetzt|"
    r"künftig|toujours|jamais|désormais|siempre|nunca|a partir de ahora|sempre|всегда|никогда|"
    r"впредь)\b|每次|以后|永远|一律|必ず|今後|絶対に|항상|절대|반드시|앞으로"
)
"""In folded text, somebody states a rule that is to hold beyond this task."""
