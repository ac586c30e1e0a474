"""Laws of the scanner: its work is bounded, whatever it is given, and nothing hides in that."""

from __future__ import annotations

import gzip
import json
import random
import string
import subprocess
import sys
from collections.abc import Callable

import pytest

from dreaming.redaction import anchors, decoding, detector
from dreaming.redaction.anchors import Anchors
from dreaming.redaction.detector import ENOUGH, RULES, Detector, Work
from dreaming.redaction.engine import Hit, Redactor, ScanFailed
from dreaming.redaction.rules import Rule, Severity
from tests.rules.redaction_samples import counterexample, github_token, record, rules_hit

REDACTOR = Redactor(b"key of the tests")
LINE = 30_000
each_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])


def scan(data: bytes, allowed: frozenset[str] = frozenset()) -> tuple[tuple[Hit, ...], Work]:
    """What is found in one block, and what it cost."""
    scanner = REDACTOR.scanner(allowed)
    scanner.feed(data, 1)
    return scanner.finish(), scanner.work


def line_of(unit: bytes, length: int = LINE) -> bytes:
    """A line of the same thing over and over."""
    return (unit * (length // len(unit) + 1))[:length]


def letters(seed: int, count: int) -> str:
    """Letters and digits that look random."""
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=count))


# -- bounded work ---------------------------------------------------------------------------------


@each_rule
def test_a_line_full_of_one_rule_s_anchors_is_compared_once(rule: Rule) -> None:
    """Where look-alikes or beginnings repeat, more of them are hardly any more work."""
    for text in (counterexample(rule), *(prefix.decode() for prefix in rule.prefixes[:1])):
        unit = json.dumps(text).encode().strip(b'"') + b" "
        short, long = (scan(line_of(unit, length))[1].compared for length in (LINE, 2 * LINE))
        assert long <= short + LINE, text[:4]


@pytest.mark.parametrize(
    "unit",
    [
        rb"\u0041",
        rb"\\\\u0041",
        "\\",
        "%41",
        "%2541",
        rb"ab\u001b[01;31mcdefghij\u001b[m",
        rb"token=\u001b[0m",
        rb"a\u200bb",
        "a\u200bb",
        "a\0",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2w ",
        '"AKIA' + 'ABCDEFGH" ',
        "ey" + "J",
        "password= ",
        "https curl -u ",
        "\n",
    ],
    ids=[f"unit {n}" for n in range(16)],
)
def test_wrappings_without_end_are_undone_in_proportion(unit: str | bytes) -> None:
    """What is unwrapped, and how often the pattern engine calls, follows the length."""
    raw = unit if isinstance(unit, bytes) else unit.encode()
    data = line_of(raw, 50_000)
    assert scan(line_of(raw, 100_000))[1].compared <= 2.2 * scan(data)[1].compared + 50_000
    assert len(REDACTOR._detector._anchors.find(data)) < 1_250


def test_twice_the_bytes_are_at_most_twice_the_work() -> None:
    """Work grows with length, no faster: also where nothing repeats."""
    text = "".join(f"password = read_field_{n}(form), " for n in range(2_000)).encode()
    works = [scan(text[:length])[1].compared for length in (30_000, 60_000)]
    assert 0 < works[1] <= 2.2 * works[0]


def test_more_look_alikes_than_can_be_compared_are_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is a bound on the close looks at one transcript; beyond it nothing is called clean."""
    monkeypatch.setattr(detector, "FREE", 20_000)
    text = "".join(f"AK{'IA'}{letters(n, 9)}a " for n in range(4_000)).upper().encode()
    scanner = REDACTOR.scanner()
    with pytest.raises(ScanFailed, match="than can be compared"):
        scanner.feed(text, 1)
        scanner.finish()
    assert scanner.work.compared <= 20_000 + len(text)


def test_of_a_rule_s_hits_the_first_are_named() -> None:
    """A thousand credentials are no more than fifty; what is allowed does not count."""
    data = b"".join(record(github_token(str(n))) for n in range(ENOUGH * 4))
    hits, _ = scan(data)
    assert [hit.record for hit in hits] == list(range(1, ENOUGH + 1))
    allowed = frozenset(hit.fingerprint for hit in hits)
    others = [hit.record for hit in scan(data, allowed)[0] if hit.fingerprint not in allowed]
    assert others == list(range(ENOUGH + 1, 2 * ENOUGH + 1))


def test_a_token_cut_in_two_by_the_parts_of_a_message_is_found() -> None:
    """The second string may follow in the same record, or in one of the next two."""
    token = github_token()
    first, rest = token[:20], token[20:]
    parts = [{"type": "text", "text": f"error: no {first}"}, {"type": "text", "text": f"{rest} is"}]
    same = json.dumps({"message": {"content": parts}}).encode() + b"\n"
    apart = b"".join(json.dumps(part).encode() + b"\n" for part in parts)
    broken = json.dumps([f"no {first}\n", rest]).encode()
    for data in (same, apart, broken.replace(b'", "', b'", "text": "')):
        assert {hit.rule for hit in scan(data)[0]} == {"github-token"}
    far = json.dumps({"a": f"no {first}", "b": "x " * 400, "c": rest}).encode()
    assert not scan(far)[0]


# -- nothing hides --------------------------------------------------------------------------------

FLOODS: dict[str, Callable[[int], str]] = {
    "look-alikes": lambda n: f"AK{'IA'}{letters(n % 7, 6).upper()} ",
    "escapes": lambda n: rf"\u00{33 + n % 90:02x}",
    "colours": lambda n: rf"abc\u001b[{30 + n % 8}mdefghijkl\u001b[0m ",
    "percent": lambda n: f"%{33 + n % 90:02x}",
    "base64": lambda n: "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2w ",
    "lines": lambda n: f'token = "{letters(n % 11, 4)}.getvalue" \n',
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_credential_in_a_flood_is_found(flood: str) -> None:
    """Where anchors stand so dense that they are no longer told one by one, nothing is lost."""
    units = [FLOODS[flood](n) for n in range(6_000)]
    before, after = "".join(units[:4_000]), "".join(units[4_000:])
    data = f"{before} {github_token()} {after}".encode()
    hits, _ = scan(data)
    assert [(hit.rule, hit.record) for hit in hits if hit.severity is Severity.HIGH] == [
        ("github-token", 1 + before.count("\n"))
    ]


def test_dense_anchors_are_told_by_stretches() -> None:
    """Few places for many matches, and every match lies in one of them."""
    found = Anchors(["a", "b"]).find(b"a" * 100_000 + b"b")
    assert len(found) < 100
    for end in range(1, 100_001, 997):
        assert any(p.number == 0 and p.first <= end <= p.last for p in found)
    assert any(p.number == 1 and p.first == 100_001 for p in found)
    assert anchors.OVERLAP < anchors.STRETCH


@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_of_two_bytes_a_character_is_read(form: str) -> None:
    """A transcript written in UTF-16 hides nothing."""
    hits, _ = scan(record(github_token()).decode().encode(form))
    assert "github-token" in {hit.rule for hit in hits}


def test_text_with_escaped_zeros_between_is_read() -> None:
    """The output of a program that writes UTF-16 hides nothing."""
    hits, _ = scan(record("".join(sign + "\0" for sign in f"key {github_token()} end")))
    assert "github-token" in {hit.rule for hit in hits}


@pytest.mark.parametrize("junk", [b"\0", b"\xff", b"\xed\xa0\x80", b"\xc3\x28", b"\\ud800", b"\r"])
def test_bytes_that_are_no_text_hide_nothing(junk: bytes) -> None:
    """Zeros, invalid UTF-8 and lone surrogates beside a credential change nothing."""
    hits, _ = scan(junk * 9 + b' "' + github_token().encode() + b'" ' + junk * 9)
    assert "github-token" in {hit.rule for hit in hits}


def test_packed_bytes_are_a_failure() -> None:
    """Nobody has looked into a packed file, so it is not clean."""
    with pytest.raises(ScanFailed, match="cannot be decoded"):
        scan(gzip.compress(record("hello")))


def test_any_bytes_at_all_are_scanned() -> None:
    """Random bytes raise nothing."""
    data = random.Random(1).randbytes(300_000)
    for part in (data, data[:1], b""):
        scan(b" " + part)


# -- unwrapping -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        (rb"a\u0041\x41\/\n", b"aAA/\n"),
        (rb"\\\\\\\\u0041", b"A"),
        (rb"\ud800\u2192\u00e9\u200b", b"?\t?"),
        (b"\x1b[31ma\x1b[0m\0", b"a"),
        (rb"\q\u12", rb"\q\u12"),
        ("é" + "".join(map(chr, decoding.INVISIBLE)) + "b\u200a", "éb\u200a".encode()),
    ],
)
def test_what_a_person_reads(raw: bytes | str, plain: bytes) -> None:
    """Escapes at any level, terminal codes and invisible characters are undone; others stay."""
    assert decoding.clean(raw.encode() if isinstance(raw, str) else raw) == plain


def test_percent_is_undone_twice() -> None:
    """A lone sign stays what it is."""
    assert decoding.percent(b"%41%2542%25%zz") == b"AB%%zz"


# -- sealed off -----------------------------------------------------------------------------------

_GUARD = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
sys.addaudithook(lambda event, args: refuse() if event.startswith("socket.") else None)
from dreaming.redaction.engine import Redactor
scanner = Redactor(b"key").scanner()
scanner.feed(sys.stdin.buffer.read(), 1)
print(sorted(hit.rule for hit in scanner.finish()))
"""


def test_no_socket_is_opened() -> None:
    """A scan asks nobody."""
    data = record(f"{github_token()} mail alice@acme.io") + record("https://acme.io/")
    done = subprocess.run(
        [sys.executable, "-c", _GUARD], input=data, capture_output=True, check=True, timeout=60
    )
    assert b"github-token" in done.stdout


def test_a_detector_without_rules_finds_nothing() -> None:
    """The wrappings alone are no hits."""
    assert list(Detector([]).find(rb"\u0041 %41 " * 400)) == []


def test_a_value_that_was_let_in_hides_no_other() -> None:
    """However often it stands there, it is told once, and what follows is found."""
    known, other = github_token("known"), github_token("other")
    alone = REDACTOR.scanner()
    alone.feed(record(known), 1)
    mark = alone.finish()[0].fingerprint
    scanner = REDACTOR.scanner({mark})
    for line in range(1, 200):
        scanner.feed(record(f"line {line}: {known}"), line)
    scanner.feed(record(other), 200)
    assert [(hit.record, hit.fingerprint == mark) for hit in scanner.finish()] == [
        (1, True),
        (200, False),
    ]


@pytest.mark.parametrize("unseen", ["\u202e", "\u034f", "\ufe0f", "\u3164", "\u2062"])
def test_no_character_that_nobody_sees_hides_a_token(unseen: str) -> None:
    """Marks of direction, joiners, selectors and fillers count like a zero-width space."""
    token = github_token("unseen")
    whole = f"KEY={token[:12]}{unseen}{token[12:]}"
    assert rules_hit(record(whole)) == rules_hit(f'{{"t":"{whole}"}}\n'.encode())
    assert "github-token" in rules_hit(record(whole))
