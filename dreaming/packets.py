"""Excerpts, ranked and numbered, within a budget: what a backend reads.

What stands in an excerpt was written by others, some of it by people who would like to speak to
the model. So it is rendered as data: every line of it begins with a bar, the fence around it
carries the session's keyed id, which nobody outside can know, and what looks like a fence, cannot
be seen or would name a file (``@path``) is changed for good; nothing ever changes it back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt, KeptExcerpt

MAX_FIELD: Final = 1200
"""Longest part of an excerpt that is shown, in characters; longer ones are cut in the middle."""

MOST_STRENGTH: Final = 2.5
"""Stronger excerpts are not better ones."""
NAMED: Final = 2.0
"""What a name of its own is worth beside strength."""
FADING: Final = 0.97
"""How much less the next excerpt of the same session is worth."""

_WIDEST_NUMBER: Final = "e000000"
_FENCE_WORD: Final = re.compile(r"<(?=/?(?:session|known)\b)", re.IGNORECASE)
_MENTION: Final = re.compile(r"@(?=\S)")
_LINE_END: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANK_LETTERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that show nothing although Unicode calls them printable."""


class Packet(msgspec.Struct, frozen=True):
    """The excerpts of one session that go into one request, each with its number (``e17``)."""

    session_id: str
    excerpts: tuple[tuple[str, KeptExcerpt], ...]
    """(number, excerpt), best first. Numbers are unique within a request."""


def number(excerpts: Sequence[KeptExcerpt], budget_tokens: int) -> list[tuple[Packet, ...]]:
    """Return the packets of each request: all excerpts, best sessions first, numbered from ``e1``.

    A session stands in one request, unless it alone is over the budget: then it is cut into
    requests of its own. One excerpt over the budget still gets a request, alone. The result does
    not depend on the order of ``excerpts``, and leaving out all sessions of some requests leaves
    the others as they are, so that a night that was cut short asks the same questions again.
    """
    requests: list[list[list[KeptExcerpt]]] = []
    room: list[int] = []
    for session in _sessions(excerpts):
        size = _session_size(session)
        if size > budget_tokens:
            pieces = list(_pieces(session, budget_tokens))
            requests += [[piece] for piece in pieces]
            room += [0] * len(pieces)
            continue
        place = next((i for i, free in enumerate(room) if free >= size), len(room))
        if place == len(room):
            requests.append([])
            room.append(budget_tokens)
        requests[place].append(session)
        room[place] -= size
    return [_numbered(sessions) for sessions in requests]


def best(excerpts: Sequence[KeptExcerpt], budget_tokens: int) -> list[KeptExcerpt]:
    """Return the excerpts that are worth their tokens, within a budget.

    A second excerpt of one session adds less than a first, and one more with names that the
    session has shown already adds least. The result does not depend on the order of ``excerpts``.
    """
    chosen: list[KeptExcerpt] = []
    seen: set[tuple[str, str]] = set()
    worth: list[tuple[float, int, KeptExcerpt]] = []
    for session in _sessions(excerpts):
        for place, kept in enumerate(session):
            names = {(kept.session_id, name) for name in kept.excerpt.names}
            new = bool(names - seen)
            seen |= names
            value = min(kept.excerpt.strength, MOST_STRENGTH) + (NAMED if new else 0.0)
            value *= 0.5 if names and not new else 1.0
            worth.append((-value * FADING**place, len(worth), kept))
    room = budget_tokens
    for _, _, kept in sorted(worth, key=lambda one: one[:2]):
        size = _excerpt_size(kept)
        if size <= room:
            chosen.append(kept)
            room -= size
    return chosen


def render(packets: Iterable[Packet]) -> str:
    """Return the packets as plain text, each session fenced, every word of it plainly data."""
    return "\n\n".join(_render_session(packet) for packet in packets)


def as_data(text: str) -> str:
    """Return ``text`` as it may stand in a prompt: visible, without fences and ``@`` mentions.

    ``@`` gets a space behind it, since programs that take prompts read ``@path`` as "attach this
    file".
    """
    return _MENTION.sub("@ ", _FENCE_WORD.sub("< ", visible(text)))


def visible(text: str) -> str:
    """Return ``text`` with nothing in it that acts on a screen or cannot be seen.

    Line ends become newlines, control characters their pictures, hidden ones ``<U+202E>``, and
    what is no character U+FFFD. Newlines and tabs stay.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_visible_char(char) for char in _LINE_END.sub("\n", text))


def holds(excerpt: Excerpt, quote: str) -> bool:
    """Say whether ``quote`` stands in the excerpt, as it is kept or as it is rendered.

    White space is folded on both sides; everything else must be the same. Nothing stands nowhere.
    """
    wanted = _folded(quote)
    return bool(wanted) and any(
        wanted in _folded(text) or wanted in _folded(as_data(text)) for text in texts(excerpt)
    )


def estimate_tokens(texts: Sequence[str]) -> int:
    """Return a cautious number of tokens for these texts (3.5 bytes a token, rounded up)."""
    return -(-sum(len(text.encode("utf-8", "replace")) for text in texts) * 2 // 7)


def _sessions(excerpts: Sequence[KeptExcerpt]) -> list[list[KeptExcerpt]]:
    """Group by session, best excerpt first within it, best session first."""
    groups: dict[str, list[KeptExcerpt]] = {}
    for kept in sorted(excerpts, key=_rank):
        groups.setdefault(kept.session_id, []).append(kept)
    return list(groups.values())


def _rank(kept: KeptExcerpt) -> tuple[float, str, str, int, str, str]:
    """Sort key: the strongest first; nothing in it depends on when or in which order it came."""
    excerpt = kept.excerpt
    return (
        -excerpt.strength,
        excerpt.kind.value,
        kept.native_id,
        excerpt.line,
        kept.session_id,
        kept.id,
    )


def _session_size(session: Sequence[KeptExcerpt]) -> int:
    return _fence_size(session[0]) + sum(_excerpt_size(kept) for kept in session)


def _excerpt_size(kept: KeptExcerpt) -> int:
    return estimate_tokens([_render_excerpt(_WIDEST_NUMBER, kept.excerpt), "\n"])


def _fence_size(kept: KeptExcerpt) -> int:
    return estimate_tokens([_render_session(Packet(kept.session_id, ())), "\n\n\n"])


def _pieces(session: Sequence[KeptExcerpt], budget: int) -> Iterator[list[KeptExcerpt]]:
    piece: list[KeptExcerpt] = []
    fence = _fence_size(session[0])
    used = fence
    for kept in session:
        size = _excerpt_size(kept)
        if piece and used + size > budget:
            yield piece
            piece, used = [], fence
        piece.append(kept)
        used += size
    yield piece


def _numbered(sessions: Sequence[Sequence[KeptExcerpt]]) -> tuple[Packet, ...]:
    packets = []
    count = 0
    for session in sessions:
        labels = [f"e{count + place}" for place in range(1, len(session) + 1)]
        packets.append(Packet(session[0].session_id, tuple(zip(labels, session, strict=True))))
        count += len(session)
    return tuple(packets)


def _render_session(packet: Packet) -> str:
    lines = [f"<session {packet.session_id}>"]
    lines += [_render_excerpt(label, kept.excerpt) for label, kept in packet.excerpts]
    lines.append(f"</session {packet.session_id}>")
    return "\n".join(lines)


def _render_excerpt(label: str, excerpt: Excerpt) -> str:
    denied = f", denied by a {excerpt.denier}" if excerpt.denier else ""
    parts = [f"[{label}] {excerpt.kind} ({excerpt.tool}{denied})"]
    for name, text in _parts(excerpt):
        parts.append(f"  {name}:")
        parts += [f"  | {line}" for line in as_data(_cut(text)).split("\n")]
    return "\n".join(parts)


def _parts(excerpt: Excerpt) -> list[tuple[str, str]]:
    """Return the parts that say something, in the order in which they happened."""
    parts = [
        ("wrong", excerpt.wrong),
        ("error", excerpt.error),
        ("remark by the model", excerpt.remark),
        (f"words ({excerpt.words_by})", excerpt.words),
        ("right", excerpt.right),
    ]
    said = [(name, text.strip()) for name, text in parts if text.strip()]
    return said or [(f"quoted ({q.speaker})", q.text.strip()) for q in excerpt.quotations]


def texts(excerpt: Excerpt) -> Iterator[str]:
    """Yield every text of an excerpt that a model may be shown."""
    yield from (quotation.text for quotation in excerpt.quotations)
    yield from (excerpt.wrong, excerpt.error, excerpt.remark, excerpt.words, excerpt.right)


def _cut(text: str) -> str:
    if len(text) <= MAX_FIELD:
        return text
    head, tail = MAX_FIELD * 2 // 3, MAX_FIELD // 3
    return f"{text[:head]}\n[{len(text) - head - tail} characters left out]\n{text[-tail:]}"


def _folded(text: str) -> str:
    return " ".join(text.split())


def _visible_char(char: str) -> str:
    if char in "\n\t":
        return char
    if char in _BLANK_LETTERS or 0xE0100 <= ord(char) <= 0xE01EF:
        return f"<U+{ord(char):04X}>"
    if char.isprintable():
        return char
    category = unicodedata.category(char)
    if category == "Zs":
        return " "
    if category == "Cc":
        return chr(0x2400 + ord(char)) if char < " " else f"<U+{ord(char):04X}>"
    return f"<U+{ord(char):04X}>" if category == "Cf" else "\ufffd"
