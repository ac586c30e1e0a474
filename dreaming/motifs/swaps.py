"""Wishes with slots: use this and not that, call it so and not so, run this first.

The name carries the slots (``use-bun-not-npm``), so that sessions that mean the same two things
meet. Slots are single words of a strict shape, or short phrases where wording is the matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from dreaming.models.finding import Excerpt
from dreaming.motifs.finder import Finder, Index
from dreaming.motifs.interface import Told

_TOOL = r"[`'\"]?(?P<{0}>[a-z][\w+./@:-]{{0,29}}[\w+]|[a-z]d)[`'\"]?"
_YES, _NO = _TOOL.format("yes"), _TOOL.format("no")
_ART = r"(?:the |an? |our |my |only |just |plain )?"
_INSTEAD = (
    r"(?: (?:tool|command|cli|script|for [\w ]{1,20}))?,? (?:instead of|rather than|in place of|"
    r"(?:and |but )?not|over|statt|anstatt|anstelle von|au lieu de|plutôt que|en lugar de|"
    r"en vez de|em vez de|invece di|вместо|а не) (?:using |use |with |by )?"
)
_USE = (
    r"(?:use|using|run|prefer|switch to|nutze?|benutze?|verwende|utilise[rz]?|usar?|используй|"
    r"запускай|with) "
)
_SO = r"(?:\w+ )?(?:always |please |just |but )?"
_PHRASE = r"[\"'“`]?(?P<{0}>[\w&]+(?:[.-]\w+)*(?: [\w&]+(?:[.-]\w+)*){{0,3}}?)[\"'”`]?"
_SAY, _NOT_SAY = _PHRASE.format("yes"), _PHRASE.format("no")
_END = r"(?=$|[.,;:!?)\"'”`]| (?:in|for|at|on|when|and|because|please)\b)"

USE: Final = (
    rf"\b{_USE}{_ART}{_YES}{_INSTEAD}{_ART}{_NO}(?![\w-])",
    rf"\b(?:don'?t|do not|never|stop|no more|not) (?:us|runn?)(?:e|ing)? {_ART}{_NO}"
    rf"[,.;:–—-]+ ?{_SO}(?:use|run) {_ART}{_YES}(?![\w-])",
    rf"\b(?:no|not|kein|pas|nicht) {_NO}[,;:.]? {_SO}(?:use|run|nutze) {_YES}(?![\w-])",
    rf"\bwhy (?:are|did|do) you (?:us|run)\w* {_NO}\W{{1,3}}{_SO}(?:use|run) {_YES}(?![\w-])",
    rf"\b(?:use|using) {_YES}(?: here| in \w+ \w+)?, ?not {_NO}(?![\w-])",
    rf"\bthis is an? {_YES} (?:project|repo|codebase),? not (?:an? )?{_NO}(?![\w-])",
    rf"{_NO} ?(?:ではなく|じゃなくて|의 ?대신|말고|대신에?) ?{_YES}",
    rf"(?:不要|别|不)用 ?{_NO}[,，、 ]*(?:请|要|而是)?(?:用|使用) ?{_YES}",
    rf"(?:用|使用) ?{_YES} ?(?:而不是|代替|[，,]? ?不要用|[，,]? ?别用) ?{_NO}",
)
SAY: Final = (
    rf"instead of (?:saying|calling it|writing) {_NOT_SAY},?\W{{0,3}}(?:just |please |we )?"
    rf"(?:say|call it|write|use) {_SAY}{_END}",
    rf"\b(?:just )?(?:say|call it|call them|write) {_SAY}(?:\W{{1,4}}(?:and |we |you )?"
    r"(?:don'?t|do not|dont|not|instead of|rather than|never)(?: need to)?(?: say| call it)? )"
    rf"{_NOT_SAY}{_END}",
    rf"\bstop (?:saying|calling it) {_NOT_SAY}\W{{1,4}}it'?s (?:just |called )?{_SAY}{_END}",
    rf"\bit(?:'s| is) (?:called|spelled|written|named|branded) {_SAY},?(?: and)? not "
    rf"{_NOT_SAY}{_END}",
)
MAKER: Final = re.compile(
    r"(?:generated|created|built) (?:\w+ ){0,3}?by (?:running )?[`'\"](?P<yes>(?:npm|pnpm|yarn|"
    r"bun|make|just|mise|task|go|cargo|mix|python3?|uv|poetry|gradle|mvn|dotnet|rake|bundle|"
    r"composer|php|npx)(?: [\w:./-]+){1,4})[`'\"]"
)
"""The command that makes a file, in a message or a remark, within quotes."""

_AROUND = 100
_VAGUE = frozenset(
    "it that this these those them they one ones something anything everything a an the and or me "
    "my your his her our their you i we is are be been to for in on at of as so no not just only "
    "more less all any some same other others another what which who how here there now then "
    "instead using use way thing things new old real right wrong good better sure many much two "
    "three".split()
)


@cache
def _index() -> Index[tuple[str, Finder]]:
    finders = [*(("use", Finder(one)) for one in USE), *(("say", Finder(one)) for one in SAY)]
    return Index((one, one[1].runs) for one in finders)


def swaps(text: str) -> Iterator[tuple[str, str]]:
    """Yield a name for each pair of things that a folded text wants swapped, with the words."""
    for prefix, finder in _index().near(text):
        for found in finder.compiled.finditer(text):
            one, other = _slug(found["yes"]), _slug(found["no"])
            if prefix == "say":
                one, other = _shortened(one, other)
            if _tells(one) and _tells(other) and one != other:
                yield f"{prefix}-{one}-not-{other}", found[0]


def makers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each command that a text says makes its missing files, with the words."""
    for found in MAKER.finditer(text) if " by " in text else ():
        start = max(text.rfind("\n", 0, found.start()) + 1, found.start() - _AROUND)
        yield f"made-by-{_slug(found['yes'])}", text[start : found.end()].strip()


def told(name: str, members: Sequence[Excerpt]) -> Told | None:
    """Return the words for a swap, spelled as the excerpts spell it; ``None`` for another name."""
    kind, _, slots = name.partition("-")
    wanted, between, unwanted = slots.partition("-not-")
    if kind in ("use", "say") and between:
        one, other = _spelled(wanted, members), _spelled(unwanted, members)
        if kind == "use":
            symptom = f"`{other}` was used where this project wants `{one}`."
            return Told(name, "tools", symptom, f"Use `{one}` instead of `{other}`.", 0.85)
        symptom = f"Texts said “{other}” where the project says “{one}”."
        return Told(name, "writing", symptom, f"Write “{one}”, not “{other}”.", 0.8)
    if name.startswith("made-by-"):
        command = _spelled(name.removeprefix("made-by-"), members)
        symptom = f"Files that `{command}` makes are not checked in, and were missing."
        rule = f"Run `{command}` where the files it makes are missing; do not write them by hand."
        return Told(name, "build", symptom, rule, 0.75)
    return None


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9+.]+", "-", text.lower()).strip("-.")


def _tells(slug: str) -> bool:
    return 1 < len(slug) <= 32 and slug not in _VAGUE and slug.split("-")[0] not in _VAGUE


def _shortened(one: str, other: str) -> tuple[str, str]:
    """Return two short phrases without the word that both end on."""
    left, right = one.split("-"), other.split("-")
    if 1 < len(left) < len(right) < 4 and left[-1] == right[-1]:
        return "-".join(left[:-1]), "-".join(right[:-1])
    return one, other


def _spelled(slug: str, members: Sequence[Excerpt]) -> str:
    """Return a slot as the excerpts write it; as the name has it where none does."""
    pattern = re.compile(
        rf"(?<!\w){re.escape(slug).replace(re.escape('-'), '[^A-Za-z0-9]')}(?!\w)", re.I
    )
    for text in (text for one in members for text in (one.words, one.remark, one.error)):
        found = pattern.search(text)
        if found is not None and "\n" not in found[0]:
            return found[0]
    return slug
