"""Replace what identifies by pseudonyms that are stable for one key.

``<uuid:3f2a>`` is the same UUID in every transcript of one workspace and says nothing elsewhere, so
what belonged together still does. A home folder becomes ``<home>``. Text that holds nothing
identifying is not touched, not even copied.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from dreaming.redaction.detector import ScanFailed
from dreaming.redaction.homes import Span, stands_free
from dreaming.redaction.identities import ANCHORS, COMMON_WORDS

_BETWEEN: Final = b"\n\x00\n"
_SHORTEST_NAME: Final = 3
_PSEUDONYM: Final = re.compile(rb"<(?:uuid|email|home|user|host|ip|mac|phone)(?::[0-9a-f]{4})?>")


class Pseudonyms:
    """The compiled anchors of identifying text, the key and the machine's own names."""

    def __init__(self, key: bytes, names: Sequence[str] = ()) -> None:
        import hyperscan  # late: loading it costs 20 ms

        self._key = key
        self._names = frozenset(_encode(name).lower() for name in names if name)
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._database.compile(
            expressions=[anchor.encode("latin-1") for anchor, _ in ANCHORS],
            ids=list(range(len(ANCHORS))),
            flags=[hyperscan.HS_FLAG_DOTALL] * len(ANCHORS),
        )
        self._failure: type[Exception] = hyperscan.error

    def redact(self, texts: Sequence[str], names: Sequence[str] = ()) -> list[str]:
        """Return the texts with every identifying string replaced; see ``Redactor.redact``."""
        out = list(texts)
        users = {_encode(name).lower() for name in names if name}
        known = self._names | users
        waiting: Sequence[int] = range(len(out))
        while waiting:  # what a replacement uncovers is replaced in the next round
            encoded = [_encode(out[index]) for index in waiting]
            data = _BETWEEN.join(encoded) + b"\n"
            spans = self._identities(data, frozenset(known))
            learned = {span.value.lower() for span in spans if span.kind == "home"} - known - {b""}
            known |= learned
            users |= learned
            if learned and len(waiting) < len(out):
                waiting = range(len(out))
                continue
            spans += _names_in(data, known, users)
            waiting = self._rewrite(out, waiting, encoded, data, spans)
        return out

    def _identities(self, data: bytes, known: frozenset[bytes]) -> list[Span]:
        """Return what stands at the anchors."""
        events: list[tuple[int, int]] = []
        add = events.append

        def take(number: int, start: int, end: int, flags: int, context: object) -> None:
            add((end, number))

        try:
            self._database.scan(data, match_event_handler=take)
        except self._failure as error:
            raise ScanFailed(f"The pattern engine gave up: {error}") from error
        spans = (ANCHORS[number][1](data, end, known) for end, number in events)
        return [span for span in spans if span]

    def _rewrite(
        self,
        out: list[str],
        waiting: Sequence[int],
        encoded: Sequence[bytes],
        data: bytes,
        spans: Iterable[Span],
    ) -> list[int]:
        """Put pseudonyms in place of the spans; return which texts changed."""
        starts = _starts(encoded)
        pieces: dict[int, list[bytes]] = {}
        position: dict[int, int] = {}
        for span in sorted(set(spans), key=lambda s: (s.start, -s.end)):
            which = bisect_right(starts, span.start) - 1
            begin = starts[which]
            if span.start < position.get(which, begin) or span.end > begin + len(encoded[which]):
                continue
            if _inside_pseudonym(data, span):
                continue
            parts = pieces.setdefault(which, [])
            parts += (data[position.get(which, begin) : span.start], self._pseudonym(span))
            position[which] = span.end
        for which, parts in pieces.items():
            parts.append(data[position[which] : starts[which] + len(encoded[which])])
            out[waiting[which]] = b"".join(parts).decode("utf-8", "surrogatepass")
        return [waiting[which] for which in pieces]

    def _pseudonym(self, span: Span) -> bytes:
        if span.kind == "home":
            return b"<home>"
        mark = hmac.new(self._key, span.kind.encode() + b"\x00" + span.value, hashlib.sha256)
        return f"<{span.kind}:{mark.hexdigest()[:4]}>".encode()


def _inside_pseudonym(data: bytes, span: Span) -> bool:
    opened = data.rfind(b"<", max(0, span.start - 8), span.start)
    found = _PSEUDONYM.match(data, opened) if opened >= 0 else None
    return found is not None and found.end() >= span.end


def _names_in(data: bytes, names: Collection[bytes], users: Collection[bytes]) -> list[Span]:
    """Return where names stand as words of their own, in any usual spelling."""
    spans = []
    for name in sorted(names):
        if len(name) < _SHORTEST_NAME or name in COMMON_WORDS or name.isdigit():
            continue
        for spelling in _spellings(name):
            at = data.find(spelling)
            while at >= 0:
                end = at + len(spelling)
                if stands_free(data, at) and not (
                    data[end : end + 1].isalnum() or data[end : end + 1] == b"_"
                ):
                    kind = (
                        "host" if name not in users and b"." in name.replace(b"-", b".") else "user"
                    )
                    spans.append(Span(at, end, kind, name))
                at = data.find(spelling, end)
    return spans


def _spellings(name: bytes) -> set[bytes]:
    dashed = re.sub(rb"[._ ]", b"-", name)
    return {form for n in (name, dashed) for form in (n, n.capitalize(), n.upper(), n.title())}


def _starts(encoded: Sequence[bytes]) -> list[int]:
    """Return where each text begins in the joined data."""
    starts, at = [], 0
    for text in encoded:
        starts.append(at)
        at += len(text) + len(_BETWEEN)
    return starts


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
