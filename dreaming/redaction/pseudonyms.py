"""Replace what identifies by pseudonyms that are stable for one key.

``<uuid:3f2a91bc07de>`` is the same UUID in every transcript of one workspace and says nothing
elsewhere, so what belonged together still does. A home folder becomes ``<home>``. Works on text and
on the raw bytes of a transcript alike: an escape of JSON is never cut in two. Text that holds
nothing identifying is not touched, not even copied.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from dreaming.redaction.anchors import Anchors, Kept, ScanFailed
from dreaming.redaction.homes import PATH, WORD, dashed_home, home_folder
from dreaming.redaction.identities import ANCHORS, WRAPPED, before_unwrapping, unwrapped
from dreaming.redaction.identities import uuid as read_uuid
from dreaming.redaction.names import GIT_ANCHORS, Finder, Learned, git_names, of_users
from dreaming.redaction.patterns import PSEUDONYM, OwnPatterns

PSEUDONYMS_VERSION: Final = 2
"""Raised when the same text is redacted in another way."""

_BETWEEN: Final = b"\n\x00\n"
"""Nothing that identifies spans a line end."""
_DIGITS: Final = 4
_DIGITS_OF: Final = {"uuid": 12}
"""Hexadecimal digits of a pseudonym. Agents tell records apart by their UUIDs, of which there are
hundreds of thousands: with four digits, two in three hundred would be taken for one."""
_MOST_ROUNDS: Final = 30
_NEAR: Final = 200
"""Bytes: nothing that identifies is longer."""
_LONGEST: Final = 16 << 10
_PSEUDONYM: Final = re.compile(PSEUDONYM.pattern.encode())
_LONGEST_PSEUDONYM: Final = 24
_STRING: Final = re.compile(rb'"(?:[^"\\\n]|\\.)*"( *:)?')
_LETTERS: Final = frozenset(b"nrtbf")
_SLASH: Final = 0x2F
_APART: Final = frozenset(b" \n\t\"'`(),=")
"""What stands beside an identity mostly, and is never a part of one."""
_APART_AFTER: Final = _APART | frozenset(b"/\\")
_MOST_REMEMBERED: Final = 1 << 16
_BARE: Final = b"+-.0123456789eE" + b"truefalsn" + b"[]{}:, \t\r\n"
"""All that JSON has outside of strings."""
_PLAIN_PATH: Final = re.compile(
    rb"""[ \n\t"'`(),=]/Users/[^"\\]+\Z|.[ \n\t"'`(),=]/home/[^"\\]+\Z""", re.DOTALL
)
"""What stands here is told by these bytes alone, and replacing it cuts no JSON."""

_READERS: Final = tuple(reader for _, reader in ANCHORS)
_UUID: Final = _READERS.index(read_uuid)
_HOME: Final = _READERS.index(home_folder)
_DASHED: Final = _READERS.index(dashed_home)
_GIT: Final = len(ANCHORS)
_WRAPPED: Final = _GIT + len(GIT_ANCHORS)
_EXPRESSIONS: Final = (*(anchor for anchor, _ in ANCHORS), *GIT_ANCHORS, *WRAPPED)

_REST: Final = tuple(number for number in range(_GIT) if number not in (_UUID, _HOME))
_ALL_TELL_NAMES: Final = (_HOME, _DASHED, *range(_GIT, _WRAPPED))

Replacement = tuple[int, int, bytes]
"""Start, end, and what is put there."""


class _Found(NamedTuple):
    """What stands in some bytes."""

    replacements: list[Replacement]
    """In order; none overlaps another."""
    doubts: list[int]
    """Places that are nothing as they stand, and may be something when what is beside them is
    replaced."""
    unsure: list[int]
    """Places where a replacement, for all that is known, might cut JSON."""


class Lines(NamedTuple):
    """Whole lines of a transcript, redacted."""

    data: bytes
    touched: list[bytes]
    """Those in which a pseudonym touches other text: only there something may have come to be that
    was not before."""
    unsure: list[tuple[int, bytes, bytes]]
    """Those that might be no JSON any more, or other lines: where each stood, what it was, what it
    is. In all others what was replaced is within a string, and no quote, escape or line end."""


class _Uuids(dict[bytes, bytes]):
    """The pseudonyms of UUIDs; none where one might be numbers in JSON, or is zero."""

    def __init__(self, marked: Callable[[str, bytes], bytes]) -> None:
        self._marked = marked

    def __missing__(self, uuid: bytes) -> bytes:
        mark = self._marked("uuid", uuid.lower()) if uuid.translate(None, _BARE) else b""
        if len(self) < _MOST_REMEMBERED:
            self[uuid] = mark
        return mark


class Pseudonyms:
    """The compiled anchors of identifying text, the key, the machine's own names and patterns."""

    def __init__(
        self,
        key: bytes,
        names: Sequence[str] = (),
        patterns: Sequence[str] = (),
        kept: Kept | None = None,
    ) -> None:
        own_key = hashlib.blake2b(key, digest_size=32, person=b"pseudonyms").digest()
        self._hash = hashlib.blake2b(key=own_key, digest_size=8)  # thrice as fast as HMAC
        self._own = of_users(names)
        self._accounts = frozenset(_encode(name.lower()) for name in names if name)
        self._patterns = OwnPatterns(patterns)
        self._kept = kept
        self._everything = _compiled(kept)
        self._finder = lru_cache(8)(Finder)
        self._mark = lru_cache(1 << 16)(self._marked)
        self._uuids = _Uuids(self._marked)

    def redact(self, texts: Sequence[str], names: Sequence[str] = ()) -> list[str]:
        """Return the texts with every identifying string replaced; see ``Redactor.redact``."""
        out = list(texts)
        learned = of_users(names)
        waiting: Sequence[int] = range(len(out))
        for _ in range(_MOST_ROUNDS):  # what a replacement uncovers is replaced in the next round
            if self._patterns:
                for index in waiting:
                    out[index] = self._patterns.replace(out[index], self._own_mark)
            encoded = [_encode(out[index]) for index in waiting]
            data = _BETWEEN.join(encoded) + b"\n"
            found, more = self._find(data, learned)
            if more != learned:
                learned = more
                if len(waiting) < len(out):
                    waiting = range(len(out))
                    continue
            again = []
            starts = _starts(encoded)
            doubtful = {bisect_right(starts, at - 1) - 1 for at in found.doubts}
            for which, replacements in _by_text(found.replacements, starts):
                begin = starts[which]
                whole = _spliced(data, replacements, begin, begin + len(encoded[which]))
                out[waiting[which]] = whole.decode("utf-8", "surrogatepass")
                if self._patterns or which in doubtful:
                    again.append(waiting[which])
            waiting = again
            if not waiting:
                return out
        raise ScanFailed("Identities stand inside identities without end.")

    def learn(self, data: bytes, learned: Learned) -> Learned:
        """Return the names with those that whole lines of a transcript tell."""
        known = self._known(learned)
        users: set[bytes] = set()
        usual, usual_at = b"\n", 0
        found = _that_tell_names(self._kept).ends(data)
        for number, ends in zip(_ALL_TELL_NAMES, found, strict=True):
            for end in ends:
                if number >= _GIT:
                    learned = learned.and_of(git_names(data, end))
                elif not data.startswith(usual, end - usual_at):
                    span = _READERS[number](data, end, known)
                    if span is not None and span.kind != PATH:
                        users.add(span.value)
                        usual, usual_at = data[span.start : span.end + 1], end - span.start
        return learned.and_of(_of_homes(users))

    def redact_lines(self, data: bytes, learned: Learned) -> Lines:
        """Return whole lines of a transcript redacted; ``learned`` are the names of all of it.

        Lines that were JSON are JSON afterwards.
        """
        return self._again(data, learned, _MOST_ROUNDS)

    def _again(self, data: bytes, learned: Learned, rounds: int) -> Lines:
        if not rounds:
            raise ScanFailed("Identities stand inside identities without end.")
        before = data
        if self._patterns:
            data = _STRING.sub(self._own_in_string, data)
        found, learned = self._find(data if data.endswith(b"\n") else data + b"\n", learned)
        replacements = found.replacements
        if not replacements:
            return Lines(data, [], [] if data is before else [(0, before, data)])
        parts: list[bytes] = []
        touched: list[bytes] = []
        unsure: dict[int, tuple[int, bytes, bytes]] = {}
        position = used = 0
        for start, end in self._doubtful_lines(data, found):
            first = bisect_right(replacements, (start,), used)
            last = bisect_right(replacements, (end,), first)
            if first == last:
                continue
            parts.append(_spliced(data, replacements[used:first], position, start))
            line = _spliced(data, replacements[first:last], start, end)
            line = self._again(line, learned, rounds - 1).data
            parts.append(line)
            touched.append(line)
            unsure[start] = start, data[start:end], line
            position, used = end, last
        parts.append(_spliced(data, replacements[used:], position, len(data)))
        whole = b"".join(parts)
        if self._patterns:
            return Lines(whole, touched, [(0, before, whole)])
        for at in found.unsure:
            start = data.rfind(b"\n", 0, at) + 1
            if start not in unsure:
                end = data.find(b"\n", at)
                end = end if end >= 0 else len(data)
                first, last = (bisect_right(replacements, (place,)) for place in (start, end))
                line = _spliced(data, replacements[first:last], start, end)
                unsure[start] = start, data[start:end], line
        return Lines(whole, touched, list(unsure.values()))

    def _doubtful_lines(self, data: bytes, found: _Found) -> Iterator[tuple[int, int]]:
        if self._patterns:
            yield 0, len(data)
            return
        stop = 0
        replacements = found.replacements
        for at in sorted(found.doubts):
            if at <= stop:
                continue
            place = bisect_right(replacements, (at,))
            before = replacements[place - 1][1] if place else -_NEAR
            after = replacements[place][0] if place < len(replacements) else at + _NEAR
            if _are_joined(data, before, at) or _are_joined(data, at, after):
                start = data.rfind(b"\n", stop, at - 1) + 1 or stop
                stop = data.find(b"\n", at - 1)
                stop = stop if stop >= 0 else len(data)
                yield start, stop

    def _find(self, data: bytes, learned: Learned) -> tuple[_Found, Learned]:
        """Return what stands in the data, and the names with those that it tells."""
        others: list[Replacement] = []
        doubts: list[int] = []
        known = self._known(learned)
        ends = self._everything.ends(data)
        marks = self._uuids
        safe = [
            (end - 36, end, mark)
            for end in ends[_UUID]
            if data[end - 37] in _APART
            and data[end] in _APART
            and (mark := marks[data[end - 36 : end]])
        ]
        if len(safe) < len(ends[_UUID]):
            done = {end for _, end, _ in safe}
            for end in ends[_UUID]:
                if end not in done:
                    span = read_uuid(data, end, known)
                    if span is None:
                        doubts.append(end)
                    else:
                        others.append((span.start, end, self._mark("uuid", span.value)))
        add, add_other = safe.append, others.append
        users: set[bytes] = set()
        last_home = -1
        homes: set[int] = set()
        paths: dict[bytes, tuple[int, int] | None] = {}
        for end in ends[_HOME]:
            # From before "/Users/a" to the next slash: mostly one of a few in a transcript.
            path = data[end - 9 : data.find(b"/", end, end + 40) + 1]
            if path in paths:
                place = paths[path]
                if place is None:
                    doubts.append(end)
                    continue
                last_home = end + place[1]
                add((end - place[0], last_home, b"<home>"))
                homes.add(last_home)
                continue
            span = home_folder(data, end, known)
            if span is None or (span.kind == PATH and span.start != last_home):
                doubts.append(end)
                if _PLAIN_PATH.match(path):
                    paths[path] = None
                continue
            last_home = span.end
            homes.add(last_home)
            users.add(span.value)
            if _PLAIN_PATH.match(path):
                paths[path] = end - span.start, last_home - end
                add((span.start, last_home, b"<home>"))
            else:
                add_other((span.start, last_home, b"<home>"))
        for number in range(_GIT, _WRAPPED):
            for end in ends[number]:
                learned = learned.and_of(git_names(data, end))
        learned = learned.and_of(_of_homes(users))
        known, users, last_home = self._known(learned), set(), -1
        for number in _REST:
            for end in ends[number]:
                span = _READERS[number](data, end, known)
                if span is None or (span.kind == PATH and span.start != last_home):
                    doubts.append(end)
                elif number == _DASHED:
                    last_home = span.end
                    add_other((span.start, last_home, b"<home>"))
                    users.add(span.value)
                else:
                    add_other((span.start, span.end, self._mark(span.kind, span.value)))
        learned = learned.and_of(_of_homes(users))
        names = learned.and_of(self._own)
        for start, end, kind, name in self._finder(names, learned.names).find(data, homes):
            if not _inside_pseudonym(data, start, end):
                add_other((start, end, self._mark(kind, _encode(name))))
        wrapped = sorted(end for some in ends[_WRAPPED:] for end in some)
        if wrapped:
            others += self._in_wrapped(data, wrapped, learned)
        unsure = [start for start, end, _ in others if not _is_safe(data, start, end)]
        return _Found(_in_order(data, safe + others, doubts), doubts, unsure), learned

    def _in_wrapped(
        self, data: bytes, ends: Sequence[int], learned: Learned
    ) -> Iterator[Replacement]:
        """Yield what is whole only without the terminal codes and escapes inside it."""
        for low, high in _stretches(data, ends):
            raw = data[low:high]
            plain, cuts = unwrapped(raw)
            if not cuts:
                continue
            for start, end, mark in self._plain(plain + b"\n", learned):
                first, last = before_unwrapping(cuts, start), before_unwrapping(cuts, end - 1) + 1
                if raw[last - 1] == 0x5C:  # the last letter is escaped
                    last = before_unwrapping(cuts, end)
                if last - first > end - start:
                    yield low + first, low + last, mark

    def _plain(self, data: bytes, learned: Learned) -> list[Replacement]:
        """Return what stands in a small piece of text, looked at once."""
        known = self._known(learned)
        spans = []
        for reader, ends in zip(_READERS, self._everything.ends(data), strict=False):
            for end in ends:
                span = reader(data, end, known)
                if span and span.kind != PATH:
                    spans.append((span.start, span.end, self._mark(span.kind, span.value)))
        names = self._finder(learned.and_of(self._own), learned.names)
        for start, end, kind, name in names.find(data):
            spans.append((start, end, self._mark(kind, _encode(name))))
        return spans

    def _known(self, learned: Learned) -> frozenset[bytes]:
        return self._accounts.union(map(_encode, learned.names))

    def _marked(self, kind: str, value: bytes) -> bytes:
        if kind == "home":
            return b"<home>"
        mark = self._hash.copy()
        mark.update(b"%b\x00%b" % (kind.encode(), value))
        return f"<{kind}:{mark.hexdigest()[: _DIGITS_OF.get(kind, _DIGITS)]}>".encode()

    def _own_mark(self, value: str) -> str:
        return self._mark("own", _encode(value)).decode()

    def _own_in_string(self, string: re.Match[bytes]) -> bytes:
        """Return a JSON string with the person's patterns replaced in what it says; keys stay."""
        if string[1]:
            return string[0]
        try:
            text = json.loads(string[0], strict=False)
        except ValueError:  # no string after all, or broken bytes: read as it stands
            text, plain = "", string[0].decode("utf-8", "surrogateescape")
            return self._patterns.replace(plain, self._own_mark).encode("utf-8", "surrogateescape")
        redacted = self._patterns.replace(text, self._own_mark)
        if redacted == text:
            return string[0]
        return json.dumps(redacted, ensure_ascii=string[0].isascii()).encode()


def _stretches(data: bytes, ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield what stands around these places, those that stand close together at once."""
    first = last = ends[0]
    for end in ends[1:]:
        if end - last > _NEAR or end - first > _LONGEST:
            yield max(0, first - _NEAR), last + _NEAR
            first = end
        last = end
    yield max(0, first - _NEAR), min(len(data), last + _NEAR)


def _of_homes(users: set[bytes]) -> Learned:
    return of_users(name.decode("utf-8", "replace") for name in users)


@lru_cache
def _compiled(kept: Kept | None) -> Anchors:
    return Anchors(_EXPRESSIONS, kept, "identities")


@lru_cache
def _that_tell_names(kept: Kept | None) -> Anchors:
    return Anchors([_EXPRESSIONS[number] for number in _ALL_TELL_NAMES], kept, "names")


def _in_order(data: bytes, spans: list[Replacement], doubts: list[int]) -> list[Replacement]:
    """Return the replacements without those inside others; none begins within an escape."""
    out: list[Replacement] = []
    add, position, first = out.append, 0, -1
    spans.sort()
    for span in spans:
        start, end, mark = span
        before, after = data[start - 1], data[end]
        if start >= position and before in _APART and after in _APART_AFTER:
            add(span)
            position, first = end, start
            continue
        if start and before == 0x5C:
            start = _past_escape(data, start)
        if start < position:
            if end <= position:
                continue
            doubts.append(end)
            if start != first:
                continue
            out.pop()  # of two that begin together the longer one stays
        elif start >= end:
            continue
        if after in WORD or (before in WORD and data[start - 2] != 0x5C):
            doubts.append(start)  # what is glued to it may come to stand alone
        add((start, end, mark))
        position, first = end, start
    return out


def _is_safe(data: bytes, start: int, end: int) -> bool:
    """Say whether replacing this leaves JSON as it is: it is inside one string, no escape is cut.

    After a blank, a quote or the like no escape goes on; without a quote what is replaced is inside
    a string or outside of all, and outside no letter or mark of it can stand.
    """
    raw = data[start:end]
    return (
        data[start - 1] in _APART
        and raw.isascii()
        and b'"' not in raw
        and b"\\" not in raw
        and b"\n" not in raw
        and bool(raw.translate(None, _BARE))
    )


def _past_escape(data: bytes, start: int) -> int:
    """Return where a replacement begins that follows backslashes: never inside an escape."""
    run = start
    while run and data[run - 1] == 0x5C:
        run -= 1
    if (start - run) % 2 == 0:
        return start
    if data[start] in b'\\/"':
        return start - 1
    if data[start] in _LETTERS:
        return start + 1
    return start + 5 if re.match(rb"u[0-9a-fA-F]{4}", data[start : start + 5]) else start


def _are_joined(data: bytes, start: int, end: int) -> bool:
    """Say whether what ends and what begins here may be parts of one thing."""
    return end - start < _NEAR and data.find(b'"', start, end) < 0


def _inside_pseudonym(data: bytes, start: int, end: int) -> bool:
    opened = data.rfind(b"<", max(0, start - _LONGEST_PSEUDONYM), start)
    found = _PSEUDONYM.match(data, opened) if opened >= 0 else None
    return found is not None and found.end() >= end


def _spliced(data: bytes, replacements: Sequence[Replacement], low: int, high: int) -> bytes:
    """Return ``data[low:high]`` with the replacements in it made."""
    if not replacements:
        return data[low:high]
    parts: list[bytes] = []
    for start, end, mark in replacements:
        parts += (data[low:start], mark)
        low = end
    parts.append(data[low:high])
    return b"".join(parts)


def _by_text(
    replacements: Sequence[Replacement], starts: Sequence[int]
) -> Iterator[tuple[int, list[Replacement]]]:
    """Yield the number of each text that changes, with what changes in it."""
    which, group = -1, list[Replacement]()
    stop = 0
    for one in replacements:
        if group and one[0] >= stop:
            yield which, group
            group = []
        if not group:
            which = bisect_right(starts, one[0]) - 1
            stop = starts[which + 1] if which + 1 < len(starts) else sys.maxsize
        group.append(one)
    if group:
        yield which, group


def _starts(encoded: Sequence[bytes]) -> list[int]:
    """Return where each text begins in the joined data."""
    starts, at = [], 0
    for text in encoded:
        starts.append(at)
        at += len(text) + len(_BETWEEN)
    return starts


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
