"""Words that hint, as data: they add to a signal that structure has found, they rarely make one.

A list of words does not carry over to another team's sessions; what people do does (the same thing
is done again, a word of the person shows up in the next action). So these stay short and general.
They are for text in lower case: that is four times as fast as patterns that ignore case.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final


class Cue:
    """A pattern that is compiled when a text first needs it: a night without news needs none."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern, self._flags = pattern, flags

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """As of a compiled pattern."""
        return re.compile(self._pattern, self._flags).search

    @cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        """As of a compiled pattern."""
        return re.compile(self._pattern, self._flags).match

    @cached_property
    def findall(self) -> Callable[[str], list[str]]:
        """As of a compiled pattern."""
        return re.compile(self._pattern, self._flags).findall


_LATIN = {
    "en": """no|nope|nah|wrong|incorrect|stop|whoa|wait|careful|don'?t|do not|never|instead|
        rather than|you (?:forgot|missed|always|keep|should(?:n'?t)?|need|have to|must|can'?t)|
        (?:i|we) (?:told|said|meant|use|don'?t)|again|always|every time|actually|undo|revert|must|
        has to be|have to be|needs? (?:the|to|an?)|missing|should be|isn'?t|it'?s not|that'?s not|
        those are|otherwise|use|no need|not (?:that|this|like|on|in|with)|only""",
    "de": """nein|nicht|falsch|stopp?|halt|niemals|nie|stattdessen|statt|immer|jedes mal|wieder|
        du hast vergessen|rückgängig|muss|müssen|sondern|sonst|bitte kein|kein""",
    "fr": """non|faux|arrête|attends|jamais|plutôt|au lieu|toujours|encore une fois|il faut|
        ne (?:pas|jamais)|n'utilise|tu as oublié|annule|sinon|doit|pas comme""",
    "es": """no|nunca|mal|para|espera|incorrecto|en lugar|en vez|siempre|otra vez|de nuevo|
        debes?|hay que|olvidaste|deshaz|si no|usa""",
    "pt": """não|nunca|errado|pare|espera|em vez|sempre|de novo|deve|tem que|esqueceu|desfaz|
        senão|use""",
    "it": """non|mai|sbagliato|ferma|aspetta|invece|sempre|di nuovo|devi|bisogna|annulla|
        altrimenti|usa""",
    "nl": """nee|niet|nooit|fout|wacht|in plaats van|altijd|opnieuw|moet|anders|gebruik""",
    "pl": """nie|nigdy|źle|czekaj|zamiast|zawsze|znowu|musi|inaczej|użyj|cofnij""",
    "ru": """нет|не|никогда|неправильно|стоп|подожди|вместо|всегда|опять|снова|надо|нужно|
        должен|должно|иначе|используй|отмени""",
    "tr": """hayır|asla|yanlış|dur|bekle|yerine|her zaman|yine|tekrar|gerek|yoksa|kullan""",
}
_WIDE = (
    "不要|不是|不对|错了|停|别|必须|应该|而不是|总是|每次|又|撤销|请用|"
    "違う|ではなく|じゃない|やめて|止めて|しないで|必ず|いつも|また|代わりに|使って|戻して|"
    "아니|틀렸|멈춰|하지 ?마|말고|대신|항상|반드시|또|되돌려"
)


def _any_of(lists: list[str]) -> str:
    return "|".join(re.sub(r"\s*\n\s*", "", words) for words in lists)


CORRECTION: Final = Cue(rf"\b(?:{_any_of(list(_LATIN.values()))})\b|{_WIDE}")
"""A person may be correcting."""

STRONG: Final = Cue(
    r"\b(?:no[,.! ]|nope|wrong|stop|whoa|don'?t|do not|never|instead|you (?:forgot|always|keep)|"
    r"i told you|always|every time|must|has to be|otherwise|not (?:that|this|on|in|with)|again|"
    r"nein|falsch|niemals|nie|immer|stattdessen|non|jamais|toujours|nunca|siempre|mai|sempre|"
    r"nooit|altijd|nigdy|zawsze|нет|никогда|всегда|asla)\b|"
    r"不要|别|必须|ではなく|しないで|必ず|하지 ?마"
)
"""A person corrects, in words that say how much they mind."""

APPROVAL: Final = Cue(
    r"^\s*(?:thanks|thank you|great|perfect|nice|cool|looks (?:fine|good)|ok(?:ay)?|yes|yep|sure|"
    r"continue|go on|go ahead|proceed|lgtm|commit|danke|ja|weiter|merci|oui|gracias|sí|obrigado|"
    r"sim|grazie|sì|tak|да|спасибо|好的?|继续|はい|네)[.!\s]*$"
)
"""A person agrees; nothing is corrected."""

DONE: Final = Cue(
    r"\b(?:done|completed?|finished|implemented|fixed|added|updated|committed|pushed|merged|created|"
    r"removed|renamed|replaced|pass(?:es|ing)?|verified|works?|ready|live|clean|fertig|erledigt|"
    r"terminé|listo|hecho|pronto|feito|готово|сделано)\b|[✅✓]|would you like me to commit|"
    r"want me to commit|完成|已(?:添加|修复)|しました|완료"
)
"""A model reports that something is done."""

COMMITTED: Final = Cue(
    r"\b(?:git\b[^\n]{0,40}\b(?:commit|push)\b|gh pr\b|(?:committed|pushed)\b)", re.ASCII
)
"""A commit or a push, as a command or in a report."""

DOCUMENT: Final = Cue(r"\.(?:md|mdx|rst|adoc|txt)\b")
"""A path of a text for people."""

REALISED: Final = Cue(
    r"\b(?:should(?:'ve| have)|i (?:assumed|believed|thought|need to|have to|must|can'?t|cannot|"
    r"only have|was asked|seem to)|(?:has|have|needs?|had) to|needs? (?:an?|the|to)|must|instead|"
    r"rather than|turns? out|that explains|because|since|isn'?t|wasn'?t|aren'?t|weren'?t|can'?t|"
    r"cannot|only exists|wrong|no way|not (?:possible|permitted|allowed|available|visible|"
    r"reachable)|switching|different|expired|missing|stale|by default|wants|unless|expects|"
    r"limitation|out of reach|muss|falsch|stattdessen|weil|il faut|au lieu|parce que|hay que|"
    r"en lugar|porque|deve|invece|perché|нужно|вместо|потому)\b|"
    r"应该|而不是|因为|必须|ではなく|必要が|대신|때문"
)
"""A model notices that something is other than it had assumed."""

CANNOT: Final = Cue(
    r"\b(?:i (?:can'?t|cannot|could not|couldn'?t|am unable|do not have|don'?t have|have no|"
    r"only have|only received|lack)\b|no (?:bash|shell|terminal|command execution|network|"
    r"write access)\b|(?:isn'?t|is not|not) (?:possible|available|permitted|visible)\b|"
    r"out of reach|no way (?:to|of)|my (?:permissions|tools|tool set|role)\b|read[- ]only)",
    re.ASCII,
)
"""A restricted agent says what it cannot do."""

SALIENT: Final = Cue(
    r"error|fatal|denied|not found|cannot|can't|failed|refus|invalid|unable|exception|unsupported|"
    r"incompatible|expected|does not|doesn't|no such|missing|timed out|rejected|warning|violat|"
    r"deprecated|not allowed|conflict|✖|protected|blocked|stale|differs|unknown|already|forbidden|"
    r"fehler|erreur|ошибк|错误|エラー"
)
"""Lines of a failed call's output that tell why."""

SOFT_ERROR: Final = Cue(
    r"error\b(?<!\werror)|fatal:|exception|denied\b(?<!\wdenied)|exec format|rate limit|expired|"
    r"refused|not permitted|no such|cannot|does not exist|timed out|command not found"
)
"""Output of a call that ended well and still tells of a failure."""
