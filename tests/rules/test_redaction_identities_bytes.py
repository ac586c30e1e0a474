"""Raw transcript bytes in, redacted bytes out: what holds for every record, however wrapped."""

from __future__ import annotations

import json
import time
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.redaction import lane
from dreaming.redaction.engine import Redactor, ScanFailed
from dreaming.redaction.names import Learned, git_names
from dreaming.redaction.patterns import OwnPatterns, PatternTooSlow
from tests.rules.redaction_samples import KEY, github_token, record

UUID = "6b1d2c1e-8a44-4f0e-9c3e-0a4f0f6f7f10"
WONDER = Redactor(KEY, names=("wonderkim", "josé maria", "box-7.lan"))


def read(data: bytes, size: int = 1 << 22) -> Callable[[], lane.Blocks]:
    """Whole lines, in blocks of about ``size`` bytes."""
    blocks, start, line = [], 0, 1
    while start < len(data):
        end = data.find(b"\n", start + size) + 1 or len(data)
        blocks.append((data[start:end], line, False))
        line += data.count(b"\n", start, end)
        start = end
    return lambda: blocks


def redact(data: bytes, redactor: Redactor = WONDER, size: int = 1 << 22) -> bytes:
    """The redacted bytes; refused ones are a mistake of the test."""
    found = redactor.redact_bytes(read(data, size))
    assert isinstance(found, lane.Redacted)
    return b"".join(found)


def escaped(text: str, levels: int) -> str:
    """A string within JSON within JSON."""
    for _ in range(levels):
        text = json.dumps({"t": text})
    return text


PLANTED = [
    "wonderkim@acme.io",
    "/home/wonderkim",
    "/Users/wonderkim",
    "C:\\Users\\wonderkim",
    "/mnt/c/Users/wonderkim",
    "%2FUsers%2Fwonderkim",
    "-Users-wonderkim",
    "file:///home/wonderkim",
    "wonderkim%40acme.io",
    "WonderKim",
    "WONDERKIM",
    "wonderkim",
    "José Maria",
    "josé.maria",
]


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
@pytest.mark.parametrize("planted", PLANTED)
def test_a_known_name_is_left_in_no_wrapping(planted: str, levels: int) -> None:
    """Escaped up to three times, coloured, percent-encoded, before a line end: it is gone."""
    around = [
        f"a {planted} b",
        f"x\n{planted}\ny",
        f"\t{planted}\r\n",
        f'"{planted}"',
        f"\x1b[1;31m{planted}\x1b[0m.",
        urllib.parse.quote(f"a {planted} b"),
    ]
    data = b"".join(record(escaped(text, levels)) for text in around)
    once = redact(data)
    left = once.decode().lower()
    assert "wonderkim" not in left
    assert "maria" not in left
    assert len(list(map(json.loads, once.splitlines()))) == len(around)
    assert redact(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "wonder\x1b[01;31m\x1b[Kkim\x1b[m\x1b[K is",
        "mail wonderkim@\x1b[1macme.io",
        "/home/\x1b[31mwonderkim\x1b[0m/x",
        "wonder\u200bkim",
        "ssh 52.18.\x1b[31m7.9",
    ],
)
def test_what_codes_and_unseen_characters_cut_is_still_found(text: str) -> None:
    """A terminal's colours or an invisible character inside a value hide it from nobody."""
    data = record(text)
    (once,) = redact(data).splitlines()
    assert json.loads(once)
    for part in ("kim", "acme", "52.18", "7.9"):
        assert part not in once.decode()


def test_an_escaped_letter_hides_no_name() -> None:
    """JSON may write any letter as its code."""
    line = b'{"t":"/home/\\u0077onderkim/x and wonderkim\\u0040acme.io, /home/zo\\u00eb/x"}\n'
    out = redact(line)
    assert b"onderkim" not in out
    assert b"zo" not in out
    assert json.loads(out)


def test_names_are_learned_from_the_whole_transcript() -> None:
    """A home folder in the last block tells the name that stands in the first."""
    lines = [record("owner: trillian4 staff"), *[record("filler " * 50)] * 40]
    lines.append(record("cd /home/trillian4/code"))
    out = redact(b"".join(lines), size=2000)
    assert b"trillian4" not in out
    assert out.count(b"\n") == len(lines)


@pytest.mark.parametrize(
    "line",
    [
        "Author: Tricia Macmillan <tricia@heart.io>",
        "    Co-Authored-By: Tricia Macmillan <t.tricia@heart.io>",
        'git config --global user.name "Tricia Macmillan"',
        "user.name=Tricia Macmillan",
    ],
)
def test_people_are_learned_from_git(line: str) -> None:
    """A full name goes in any case; git is where transcripts tell it."""
    out = redact(record(line) + record("ask TRICIA macmillan, tricia.macmillan or so"))
    assert b"acmillan" not in out
    assert b"ask <user:" in out


def test_a_first_name_alone_goes_where_it_is_no_word() -> None:
    """Where the address says that it is a first name, and only with a capital."""
    out = redact(record("Author: Tricia Macmillan <tricia@heart.io>") + record("Tricia, tricia"))
    assert out.endswith(b', tricia"}]}}\n')
    out = redact(record("Author: Will Page <will@heart.io>") + record("Will you Page? Will Page."))
    assert b"Will you Page? <user:" in out


@pytest.mark.parametrize(
    "line",
    [
        b"Co-Authored-By: Claude <noreply@anthropic.com>",
        b"Author: dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
        b"Author: Your Name <you@example.com>",
        b"see user.name and user.email from the settings",
        b"Author: build <ci@acme.io>",
    ],
)
def test_programs_are_no_people(line: bytes) -> None:
    """Nothing is learned from a program's or a placeholder's identity."""
    end = line.find(b"<") + 1 or line.find(b"user.name") + 10
    assert git_names(line, end) == Learned()


LOOK_ALIKES = [
    "version 1.2.3.4-rc1 and numpy==1.26.4 and chrome/120.0.6099.71",
    "icon@2x.png, @types/node@20.1.2, @pytest.fixture, git@github.com:acme/repo.git",
    "user@example.com noreply@anthropic.com you@yourcompany.example",
    "/home/runner/work /Users/Shared/x /home/node/app C:\\Users\\Public",
    "the max value will mark april as done; rose, grant and bill are words",
    "std::vector<int> a::b; 12:34:56; 127.0.0.1:3000; 2001:db8::1",
    "\u001b[32mPASS\u001b[0m src/a.ts \u003cdiv\u003e",
]


@given(st.lists(st.sampled_from(LOOK_ALIKES), min_size=1, max_size=4), st.integers(0, 3))
def test_look_alikes_stay_byte_for_byte(texts: list[str], levels: int) -> None:
    """What identifies nobody is not touched, in whatever depth."""
    data = b"".join(record(escaped(text, levels)) for text in texts)
    assert redact(data) == data


PIECES = st.sampled_from(
    [
        *PLANTED,
        *LOOK_ALIKES,
        *(UUID, "52.18.7.9", "a4:83:e7:01:02:0f", "+44 20 7946 0123", "Kims-MacBook-Pro.local"),
        *(" ", "\\", '"', "\n", "\x1b[31m", "/", "-", "é", "\u200b", "<home>", "n", "u0041", "\\u"),
    ]
)


@given(st.lists(st.lists(PIECES, max_size=7).map("".join), max_size=4), st.integers(0, 2))
def test_records_stay_records(texts: list[str], levels: int) -> None:
    """As many lines, each still JSON, no known name left; twice is once, byte for byte."""
    data = b"".join(record(escaped(text, levels)) for text in texts)
    once = redact(data)
    assert once.count(b"\n") == data.count(b"\n")
    assert all(json.loads(line)["message"] for line in once.splitlines())
    assert redact(once) == once


@given(st.binary(max_size=60), st.lists(PIECES.map(str.encode), max_size=5))
def test_any_bytes_pass(noise: bytes, pieces: list[bytes]) -> None:
    """What is no JSON and no text is redacted as it stands, and keeps its lines."""
    data = noise + b"".join(pieces) + b"\n"
    once = WONDER._pseudonyms.redact_lines(data, Learned()).data
    assert once.count(b"\n") == data.count(b"\n")
    assert WONDER._pseudonyms.redact_lines(once, Learned()).data == once


@given(st.lists(st.lists(PIECES, max_size=6), max_size=4))
def test_what_is_not_parsed_again_is_json(texts: list[list[str]]) -> None:
    """A line in which nothing is told as doubtful was JSON and is, checked by parsing them all."""
    data = b"".join(record(" ".join(pieces)) for pieces in texts)
    lines = WONDER._pseudonyms.redact_lines(data, Learned())
    unsure = {data.count(b"\n", 0, at) for at, _, _ in lines.unsure}
    for number, line in enumerate(lines.data.splitlines()):
        assert number in unsure or json.loads(line)


def test_a_number_that_is_a_name_breaks_no_json() -> None:
    """Where a replacement is outside of any string, the transcript is failed, never passed on."""
    found = Redactor(bytes(32), ("1e55",)).redact_bytes(read(record("1") + b'{"a": 1e55}\n'))
    assert isinstance(found, lane.Redacted)
    with pytest.raises(ScanFailed, match="record 2"):
        list(found)


def test_credentials_refuse_the_whole() -> None:
    """High excludes, medium holds; what a person allowed does neither."""
    high = read(record(f"token {github_token()}"))
    found = WONDER.redact_bytes(high)
    assert isinstance(found, lane.Excluded)
    allowed = WONDER.redact_bytes(high, {hit.fingerprint for hit in found.hits})
    assert isinstance(allowed, lane.Redacted)
    login = "kim:" + "Tr1ck" + "y-H0rse-77"
    held = WONDER.redact_bytes(read(record(f"curl -u {login} https://intra.acme.io")))
    assert isinstance(held, lane.Held)


def test_what_changes_between_the_readings_is_not_believed() -> None:
    """Only bytes that were scanned are passed on, however many blocks they are."""
    versions = iter([record("one"), record(github_token())])
    found = WONDER.redact_bytes(lambda: [(next(versions), 1, False)])
    assert isinstance(found, lane.Redacted)
    assert list(found) == [record("one")]
    versions = iter([record("one"), record(github_token())])
    found = WONDER.redact_bytes(lambda: [(record("1"), 1, False), (next(versions), 2, False)])
    assert isinstance(found, lane.Redacted)
    with pytest.raises(ScanFailed, match="changed"):
        list(found)


def test_a_long_line_in_pieces_is_one_line() -> None:
    """A home folder over the seam of two pieces is found."""
    line = b'{"t":"' + b"word " * 5000 + b' /home/wonderkim/x "}\n'
    at = line.find(b"derkim")
    pieces = [(line[:at], 1, True), (line[at:], 1, True)]
    found = WONDER.redact_bytes(lambda: pieces)
    assert isinstance(found, lane.Redacted)
    assert b"".join(found) == line.replace(b"/home/wonderkim", b"<home>")


# -- patterns of one's own ------------------------------------------------------------------------


def test_a_pattern_replaces_what_a_text_says() -> None:
    """It sees no escapes, and its pseudonym is stable."""
    own = Redactor(KEY, patterns=(r"ACME-\d{4}", r'say "[a-z]+"'))
    out = redact(record('ACME-1234: ACME-1234 say "hush"\n'), own)
    text = json.loads(out)["message"]["content"][0]["content"]
    first, second = text.split(": ")
    assert first.startswith("<own:")
    assert second.startswith(f"{first} <own:")
    assert redact(out, own) == out
    assert own.redact(["ACME-1234"]) == [first]


GREEDY = [
    Redactor(KEY, ("wonderkim",), (pattern,))
    for pattern in (".+", "[a-f0-9]+", "own", "(?<=-)[A-Za-z]+$")
]


@given(st.lists(PIECES, max_size=8).map("".join), st.sampled_from(GREEDY))
def test_any_pattern_is_idempotent(text: str, own: Redactor) -> None:
    """Also one that matches everything, or the inside of a pseudonym."""
    data = record(text)
    once = own._pseudonyms.redact_lines(data, Learned()).data
    assert own._pseudonyms.redact_lines(once, Learned()).data == once
    assert json.loads(once)["type"] is not None
    (again,) = own.redact([text])
    assert own.redact([again]) == [again]


def test_a_pattern_without_end_fails_the_transcript() -> None:
    """Never clean: nothing is known about what was not searched."""
    patterns = OwnPatterns(["(a|aa)+$"], seconds=0.05)
    with pytest.raises(PatternTooSlow, match="Number 1"):
        patterns.replace("a" * 60 + "!", str)
    assert issubclass(PatternTooSlow, ScanFailed)


# -- time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece",
    [b"@", b"a@b.c", b"/home/", b"/home/a1", b"-Users-a1", b"1", b":", b"-", b"1.", b"a:", b"\\n",
     b"\x1b[31mx", b"\\u0041", b"+1 ", b"wonderkim", b"<home>", b"Author: A <"],
)  # fmt: skip
def test_time_grows_with_length_only(piece: bytes) -> None:
    """Four times as much of anything takes about four times as long, not sixteen."""
    redactor = WONDER._pseudonyms

    def seconds(size: int) -> float:
        line = piece * (size // len(piece)) + b"\n"
        start = time.process_time()
        redactor.redact_lines(line, Learned())
        return time.process_time() - start

    seconds(1000)
    small = min(seconds(12_000) for _ in range(2))
    assert seconds(48_000) < 9 * small + 0.05
