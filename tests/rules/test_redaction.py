from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path

import hyperscan
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.redaction import engine
from dreaming.redaction.detector import RULES, Detector
from dreaming.redaction.engine import RULES_VERSION, Redactor, ScanFailed, Severity
from dreaming.redaction.proofs import base62_checksum, is_placeholder
from dreaming.redaction.rules import Rule
from dreaming.redaction.shapes import opening, pattern, sample
from tests.rules.redaction_samples import (
    REDACTOR,
    example,
    github_token,
    private_key,
    record,
    rules_hit,
    scan,
)

# -- wrappings ------------------------------------------------------------------------------------

WRAPPINGS: dict[str, Callable[[str], bytes]] = {
    "plain": record,
    "gutter": lambda token: record(f"     1\u2192A=1\n     2\u2192KEY={token}\n"),
    "diff": lambda token: record(f"@@ -0,0 +1,2 @@\n+A=1\n+KEY={token}\n"),
    "crlf": lambda token: record(f"A=1\r\nKEY={token}\r\n"),
    "quoted header": lambda token: record(json.dumps({"cmd": f'curl -H "X: {token}" x'})),
    "percent": lambda token: record("https://x.io/?k=" + token.replace("_", "%5F")),
    "colour around": lambda token: record(f"KEY=\x1b[33m{token}\x1b[0m\n"),
    "colour inside": lambda token: record(f"\x1b[01;31m\x1b[K{token[:4]}\x1b[m\x1b[K{token[4:]}"),
    "invisible": lambda token: record(f"{token[:6]}\u200b{token[6:]}"),
    "invisible as utf-8": lambda token: f'{{"t":"{token[:9]}\u200b{token[9:]}"}}\n'.encode(),
    "all escaped": lambda token: (
        b'{"t":"' + "".join(f"\\u{ord(c):04x}" for c in token).encode() + b'"}\n'
    ),
    "wrapped line": lambda token: record(f"KEY={token[:20]}\n{token[20:]}\nNEXT=1"),
    "two records": lambda token: record(f"KEY={token[:20]}") + record(token[20:] + " and on"),
    "invalid utf-8": lambda token: b'\xff\xfe{"t":"\x80 ' + token.encode() + b' \xc3"}',
    "no json": lambda token: token.encode(),
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_token_is_found_however_it_is_wrapped(wrapping: str) -> None:
    """What a person would read in the end decides, not how it is written down."""
    assert "github-token" in rules_hit(WRAPPINGS[wrapping](github_token()))


@pytest.mark.parametrize(
    "write",
    [
        lambda key: key,
        lambda key: key.replace("\n", "\\n"),
        lambda key: key.replace("\n", "\r\n"),
        lambda key: 'KEY="' + key.replace("\n", "\\n") + '"',
        lambda key: "".join(f"+{line}\n" for line in key.splitlines()),
        lambda key: "".join(f"  {n}\u2192{line}\n" for n, line in enumerate(key.splitlines(), 1)),
        lambda key: json.dumps({"private_key": key}),
        lambda key: json.dumps(key.splitlines()),
        lambda key: key[:150] + "\n... (output truncated)",
    ],
    ids=["plain", "escaped", "crlf", "shell", "diff", "gutter", "json", "list", "cut off"],
)
def test_a_private_key_is_found_however_it_is_written(write: Callable[[str], str]) -> None:
    """A PEM block counts with real or escaped line ends, in a diff, and cut before its end."""
    assert "private-key" in rules_hit(record(write(private_key())))


def test_nothing_in_a_transcript_switches_a_hit_off() -> None:
    """Allow markers of other tools, and the word example nearby, change nothing."""
    markers = "gitleaks:allow pragma: allowlist secret # nosec noqa kingfisher:ignore ggignore"
    text = f"# example, dummy, placeholder: see .env.example\n{github_token()} # {markers}"
    assert "github-token" in rules_hit(record(text))


# -- blocks ---------------------------------------------------------------------------------------


def test_a_cut_anywhere_in_a_token_hides_nothing() -> None:
    """Blocks may be cut at any byte; the hit is the same and stands in the same record."""
    filler = record("nothing to see") * 3
    data = filler + record(github_token()) + filler
    whole = scan(data)
    assert [hit.record for hit in whole] == [4]
    at = data.index(b"gh" + b"p_")
    for cut in range(at - 2, at + 44):
        scanner = REDACTOR.scanner()
        scanner.feed(data[:cut], 1)
        scanner.feed(data[cut:], 1 + data.count(b"\n", 0, cut))
        assert scanner.finish() == whole


@pytest.mark.parametrize("offset", [0, 8191, 8200, 16383, 24570, 262_100, 286_700, 1_048_560])
def test_the_scanner_s_own_steps_hide_nothing(offset: int) -> None:
    """In a line of two megabytes a credential is found wherever it stands, and once."""
    junk = b"var a=function(e,t){return e.k(t)};" * 60_000
    line = junk[:offset] + b" " + github_token().encode() + b" " + junk[offset:] + b"\n"
    hits = scan(record("first") + line, size=100_000)
    assert [(hit.rule, hit.record) for hit in hits] == [("github-token", 2)]


def test_long_base64_is_read_to_its_end() -> None:
    """A credential deep inside a megabyte of base64 text is found over the scanner's steps."""
    text = b"A=1234567\n" * 70_000 + github_token().encode() + b"\nB=2\n" + b"C=3456789\n" * 9_000
    assert "github-token" in rules_hit(record(base64.b64encode(text).decode()))


def test_small_blocks_are_as_good_as_one() -> None:
    """A feed for each line finds what one feed of everything finds."""
    for at in range(0, len(RULES), 30):
        data = b"".join(record(example(rule)) for rule in RULES[at : at + 30])
        scanner = REDACTOR.scanner()
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            scanner.feed(line, number)
        assert scanner.finish() == scan(data)


def test_records_are_counted_from_the_line_a_block_begins_in() -> None:
    """A scan that starts late in a file names the file's lines."""
    assert [hit.record for hit in scan(record(github_token()), first_line=70)] == [70]


def test_a_scanner_that_was_fed_nothing_finds_nothing() -> None:
    """An empty transcript is clean."""
    assert REDACTOR.scanner().finish() == ()


# -- hits -----------------------------------------------------------------------------------------


def test_a_hit_never_holds_the_value() -> None:
    """Rule, place and a keyed fingerprint: nothing of the credential."""
    token = github_token()
    (hit,) = scan(record(token))
    assert hit.severity is Severity.HIGH
    assert len(hit.fingerprint) == 16
    assert not any(token[at : at + 5] in repr(hit) for at in range(4, len(token) - 5))


def test_a_fingerprint_follows_the_value_and_the_key() -> None:
    """One value has one fingerprint however it is written; another key has another."""
    token = github_token()
    plain, nested = scan(record(token) + record(json.dumps({"a": json.dumps({"b": token})})))
    assert plain.fingerprint == nested.fingerprint
    other = Redactor(b"another key").scanner()
    other.feed(record(token), 1)
    assert other.finish()[0].fingerprint != plain.fingerprint


def test_a_wrong_checksum_is_documentation() -> None:
    """A token whose checksum fails is no hit."""
    token = github_token()
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    assert scan(record(f"token {wrong} in the docs")) == ()


@pytest.mark.parametrize(
    "text",
    [
        "password = form.password.data",
        "const apiKey = process.env.SERVICE_API_KEY;",
        "token: Optional[str] = None, max_tokens: 4096, next_page_token=abc",
        "export TOKEN=${GITHUB_TOKEN} PASSWORD=$(cat pw.txt)",
        "--- PASS: TestTokenRefreshReturnsNewKey (0.00s)",
        "postgres://user:password@localhost:5432/db redis://:${PASSWORD}@cache:6379",
        "git@github.com:acme/repo.git https://cdn.acme.io/npm/pkg@1.2.3/dist/a.js:12:40",
        "Authorization: Bearer $TOKEN, Authorization: Basic <redacted>",
        "grep -rl 'BEGIN RSA PRIVATE " + "KEY' ~/.ssh",
        "re.compile(r'-----BEGIN [A-Z ]*PRIVATE " + "KEY-----')",
        "sha512-" + sample("{B86}==", "integrity"),
        "commit " + sample("{h40}", "sha") + "\nchecksum = " + sample('"{h64}"', "sum"),
        '"key": "6b1d2c1e-8a44-4f0e-9c3e-0a4f0f6f7f10", "token_id": "none"',
        "signature " + sample("{B800}", "signature"),
        "data:image/png;base64,iVBORw0KGgo" + sample("{B1200}", "image"),
    ],
)
def test_ordinary_text_is_no_hit(text: str) -> None:
    """Code, references, hashes, images and other people's placeholders are no credentials."""
    assert scan(record(text)) == ()
    assert REDACTOR.is_clean([text])


def test_the_last_gate_sees_what_the_scanner_sees() -> None:
    """Texts are clean only where no shape of either severity stands in any of them."""
    assert REDACTOR.is_clean([])
    assert REDACTOR.is_clean(["hello", "world"])
    for rule in RULES:
        assert not REDACTOR.is_clean(["hello", example(rule), "world"]), rule.name


# -- failures -------------------------------------------------------------------------------------


def _slow_rule() -> Rule:
    return Rule(
        name="slow",
        severity=Severity.HIGH,
        anchors=("slow",),
        shape=r"slow(?P<value>(?:a|aa)+)b",
        proof=lambda found: True,
        is_not="",
        example="",
        counterexample="",
        source="",
    )


def test_a_confirmation_that_takes_too_long_is_a_failure() -> None:
    """A pattern that runs away is never taken for clean."""
    runaway = Detector([_slow_rule()], seconds=0.02)
    with pytest.raises(ScanFailed):
        list(runaway.find(b"slow" + b"a" * 400))


def test_an_engine_that_gives_up_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the pattern engine is never taken for clean."""
    broken = Detector([_slow_rule()])

    class Broken:
        def scan(self, data: bytes, match_event_handler: object) -> None:
            raise hyperscan.error("out of memory")

    monkeypatch.setattr(broken._anchors, "_database", Broken())
    with pytest.raises(ScanFailed):
        list(broken.find(b"anything"))


# -- notation, version, precision -----------------------------------------------------------------


@given(
    st.sampled_from(sorted(set("ABCDHKLUWXdhlu"))),
    st.integers(1, 40),
    st.text("abc-_.", max_size=5),
)
def test_a_sample_matches_the_pattern_of_its_template(letter: str, count: int, lead: str) -> None:
    """Pattern, anchor and example of one template describe the same tokens."""
    template = f"{lead}{{{letter}{count}}}"
    text = sample(template, "seed")
    assert re.fullmatch(pattern(template), text)
    assert re.match(opening(template, 4), text)


def test_the_rules_have_a_version() -> None:
    """The version changes when a rule does."""
    assert engine._version(RULES) == RULES_VERSION
    assert engine._version(RULES[1:]) != RULES_VERSION


def test_the_rules_hold_nothing_that_they_find() -> None:
    """No file of redaction or of its tests holds what looks like a credential."""
    here = Path(__file__).parent
    sources = [*Path(str(engine.__file__)).parent.glob("*.py"), *here.glob("*redaction*.py")]
    found = {
        path.name: {h.rule for h in scan(path.read_bytes()) if h.severity is Severity.HIGH}
        for path in sources
    }
    assert {name for name, rules in found.items() if rules} == set()


@pytest.mark.shared
def test_few_real_transcripts_are_left_out(shared: Path) -> None:
    """Of real transcripts at most a few are excluded or held."""
    files = [p for a in ("claude-code", "codex") for p in (shared / "corpus" / a).rglob("*.jsonl")]
    caught = [path.name for path in files if scan(path.read_bytes(), size=1 << 20)]
    assert files
    assert len(caught) <= len(files) // 50, caught


def test_a_word_that_chance_spells_in_a_token_hides_nothing() -> None:
    """A random token may hold the letters of "lorem"; a person writes such a word in one case."""
    token = "gh" + "p_mXIlOREm9jBozNorCXIFvAlzJSDtw7"
    body = token[4:].encode()
    assert rules_hit(record(token + base62_checksum(body).decode())) == {"github-token"}
    assert not is_placeholder(body)
    assert is_placeholder(b"Lorem9jBozNor") and is_placeholder(b"9jBoz-YOUR-key")


@pytest.mark.parametrize("deep", [1, 2, 3])
def test_an_underscore_that_markdown_escapes_hides_nothing(deep: int) -> None:
    """A token in prose may be written with a backslash, in JSON in JSON too."""
    text = f"it is {github_token()} here".replace("_", "\\_")
    for _ in range(deep - 1):
        text = json.dumps({"text": text})
    assert "github-token" in rules_hit(record(text))
