"""Every rule in every wrapping: one scan for many rules, so that trying all of them is cheap."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

import pytest

from dreaming.redaction.detector import RULES
from dreaming.redaction.rules import Rule, Severity
from dreaming.redaction.shapes import sample
from dreaming.redaction.vendor_rules import NAMED
from tests.rules.redaction_samples import counterexample, example, record, rules_hit, scan

_TOGETHER = 30
_ALL = tuple(RULES)
_TOKENS = tuple(rule for rule in RULES if rule.prefixes)
_ONE_LINE = tuple(rule for rule in RULES if not rule.many_lines)


def missed(rules: Iterable[Rule], write: Callable[[Rule], bytes]) -> list[str]:
    """Return the rules that do not find what is written for them, each in its own records."""
    out = []
    todo = list(rules)
    for at in range(0, len(todo), _TOGETHER):
        data, places = b"", []
        for rule in todo[at : at + _TOGETHER]:
            written = write(rule) + record("and nothing more " * 120)
            first = data.count(b"\n") + 1
            places.append((rule, range(first, first + written.count(b"\n"))))
            data += written
        hits = {(hit.rule, hit.record, hit.severity) for hit in scan(data)}
        for rule, records in places:
            if not any((rule.name, n, rule.severity) in hits for n in records):
                out.append(rule.name)
    return out


def nested(text: str, depth: int) -> str:
    """The text as a JSON string in a JSON string."""
    for _ in range(depth):
        text = json.dumps({"body": text})
    return text


def with_value(rule: Rule, change: Callable[[str], str]) -> str:
    """The rule's example with its secret changed."""
    text = example(rule)
    found = re.search(rule.shape, text)
    assert found
    return text[: found.start("value")] + change(found["value"]) + text[found.end("value") :]


def encoded(text: str, times: int = 1) -> str:
    """The text in base64."""
    data = f"A=1\n{text}\n".encode()
    for _ in range(times):
        data = base64.b64encode(data)
    return data.decode()


def gutter(text: str) -> str:
    """The text as agents print files, with line numbers."""
    return "".join(f"{n:6}\u2192{line}\n" for n, line in enumerate(text.split("\n"), 1))


def broken(value: str) -> str:
    """The value over two lines, the second not beginning like a line of a diff."""
    at = next(at for at in range(len(value) - 4, 0, -1) if value[at].isalnum())
    return f"{value[:at]}\n{value[at:]}"


WRAPPINGS: dict[str, tuple[tuple[Rule, ...], Callable[[Rule], str]]] = {
    "json, 2 deep": (_ALL, lambda rule: nested(example(rule), 1)),
    "json, 3 deep": (_ALL, lambda rule: nested(example(rule), 2)),
    "json, 4 deep": (_ALL, lambda rule: nested(example(rule), 3)),
    "base64": (_ALL, lambda rule: encoded(example(rule))),
    "base64 in base64": (_ALL, lambda rule: encoded(example(rule), 2)),
    "base64, wrapped": (_ALL, lambda rule: base64.encodebytes(example(rule).encode()).decode()),
    "percent": (_ALL, lambda rule: "https://acme.io/?q=" + quote(example(rule), safe="")),
    "line numbers": (_ONE_LINE, lambda rule: gutter("A=1\n" + example(rule) + "\nB=2")),
    "diff": (_ALL, lambda rule: "@@ -0,0 +1 @@\n+" + example(rule).replace("\n", "\n+")),
    "crlf": (_ALL, lambda rule: example(rule).replace("\n", "\r\n") + "\r\n"),
    "colour around": (
        _TOKENS,
        lambda rule: with_value(rule, lambda value: f"\x1b[33m{value}\x1b[0m"),
    ),
    "colour inside": (
        _TOKENS,
        lambda rule: with_value(
            rule, lambda value: f"\x1b[01;31m\x1b[K{value[:-9]}\x1b[m\x1b[K{value[-9:]}"
        ),
    ),
    "unseen character": (
        _TOKENS,
        lambda rule: with_value(rule, lambda value: f"{value[:-9]}\u200b{value[-9:]}"),
    ),
    "wrapped line": (
        _TOKENS,
        lambda rule: with_value(rule, broken) + "\nB=2",
    ),
    "added strings": (
        _TOKENS,
        lambda rule: with_value(rule, lambda value: f"{value[:-9]}' + '{value[-9:]}"),
    ),
    "allow markers": (
        _ALL,
        lambda rule: (
            example(rule) + "\n# example gitleaks:allow betterleaks:allow kingfisher:ignore"
            " pragma: allowlist secret nosec"
        ),
    ),
}


def test_rule_names_are_unique() -> None:
    """A reason names one rule."""
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_every_rule_is_whole() -> None:
    """Each says what it is not and where its shape comes from, and has an anchor."""
    assert [r.name for r in RULES if not (r.anchors and r.is_not and r.source and r.example)] == []


@pytest.mark.parametrize("seed", ["1", "2", "3", "4"])
def test_an_example_is_found_by_its_rule(seed: str) -> None:
    """Each rule finds its example in a record, and the hit has the rule's severity."""
    assert missed(RULES, lambda rule: record(f"before\n{example(rule, seed)}\nafter")) == []


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_counterexample_is_not_found(seed: str) -> None:
    """What looks alike is no hit of the rule."""
    wrong = missed(RULES, lambda rule: record(counterexample(rule, seed)))
    assert [rule.name for rule in RULES if rule.name not in wrong] == []


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_an_example_is_found_however_it_is_wrapped(wrapping: str) -> None:
    """What a person would read in the end decides, not how it is written down."""
    rules, write = WRAPPINGS[wrapping]
    assert missed(rules, lambda rule: record(write(rule))) == []


# -- the vendors of one rule ----------------------------------------------------------------------


def _word(words: str) -> str:
    """The first word of an expression, spelt out."""
    first = re.split(r"\||\(\?:", words.removeprefix("(?:"))[0]
    return (
        re.sub(r"\[_\.-\]\??|\[\.-\]\??", "_", first)
        .replace("_?", "")
        .replace("[_-]?", "")
        .replace("\\", "")
        .strip("_)")
    )


def _vendor_texts() -> Iterator[tuple[str, str]]:
    for row in NAMED:
        value = sample(row.template, row.words + "/3")
        yield row.words, f'{_word(row.words).upper()}_API_KEY="{value}"'


def test_each_vendor_s_key_is_known() -> None:
    """The name of a vendor with a value of its shape is a hit."""
    rows = list(_vendor_texts())
    found: set[int] = set()
    for at in range(0, len(rows), _TOGETHER):
        data = b"".join(record(text) for _, text in rows[at : at + _TOGETHER])
        found |= {at + hit.record - 1 for hit in scan(data)}
    assert [rows[n][0] for n in range(len(rows)) if n not in found] == []


def _client_ids() -> Iterator[str]:
    for row in NAMED:
        if row.ids and not row.words.startswith(("discord", "mux")):
            value = next(
                s for s in (sample(t, "7") for t in _ID_SHAPES) if re.fullmatch(row.ids, s)
            )
            yield f'{_word(row.words).upper()}_CLIENT_ID="{value}"'


_ID_SHAPES = tuple(
    """{h32} {d16} {l32} {l14} {l20} {l64} {l30} {A32} cli_{A16} MA{K18} rzp_live_{A14} su{A12}
    {h8}-{h4}-{h4}-{h4}-{h12}""".split()
)


@pytest.mark.parametrize("text", [*_client_ids()])
def test_a_client_s_id_of_a_vendor_holds(text: str) -> None:
    """Half of a credential: a person decides; the same value for any other id is nothing."""
    assert {(hit.rule, hit.severity) for hit in scan(record(text))} == {
        ("vendor-key", Severity.MEDIUM)
    }
    assert scan(record(text.replace("_CLIENT_ID", "_REQUEST_ID"))) == ()


@pytest.mark.parametrize(
    "text",
    [
        "TWILIO_ACCOUNT_SID=AC" + sample("{h32}", "account"),
        "discord_channel_id: " + sample("{d18}", "channel"),
        "asana_id: " + sample("{d16}", "task"),
        "sendbird_user_id=" + sample("{h8}-{h4}-4{h3}-a{h3}-{h12}", "user"),
        "sourcegraph commit " + sample("{h40}", "commit"),
        "sentry-cli 2.1.0 sha256: " + sample("{h64}", "release"),
        'name = "datadog"\nversion = "0.1"\nchecksum = "' + sample("{h64}", "lock") + '"',
        "HEROKU_APP_ID=" + sample("{h8}-{h4}-4{h3}-a{h3}-{h12}", "app"),
        "snyk_org_id: " + sample("{h8}-{h4}-4{h3}-a{h3}-{h12}", "org"),
        "github.com/acme/app/commit/" + sample("{h40}", "page"),
        "ref: github_token_policy = GitHubActionsTokenPolicyRule2",
        "linear: issue ENG-" + sample("{d4}", "issue") + " and twitter.com/acme/status/" + "1" * 19,
        'cache_key = "'
        + sample("{h64}", "cache")
        + '", "row_key": "'
        + sample("{l26}", "row")
        + '"',
        "datadog_api_key = os.environ['DATADOG_API_KEY_FOR_STAGING_2']",
        'DATADOG_API_KEY="' + "0" * 32 + '" FASTLY_API_TOKEN="${FASTLY_API_TOKEN_2}"',
    ],
)
def test_hashes_and_ids_beside_a_vendor_are_no_keys(text: str) -> None:
    """A commit, a checksum, an id, a variable: what other scanners stumble over."""
    assert rules_hit(record(text)) == set()


@pytest.mark.parametrize(
    "payload", ["{d53}", "W1tb{A40}", "W1tb" * 400, "{U41}", "bnVsbA"], ids=range(5)
)
def test_a_token_of_broken_parts_is_no_failure(payload: str) -> None:
    """Three parts that are no JSON, or JSON without an end, are judged like anything else."""
    head = base64.urlsafe_b64encode(b'{"alg":"HS256"}').decode().rstrip("=")
    text = f"{head}.eyJ" + sample(payload, "payload") + "." + sample("{U43}", "signature")
    assert rules_hit(record(text)) == set()


def test_a_header_over_two_lines_of_a_command_is_read() -> None:
    """A shell's line ends behind a backslash are none, and schemes are of many names."""
    value = sample("{A8}5{A5}", "svc")
    assert "curl-user" in rules_hit(record(f"curl -X POST \\\n  -u svc:{value} https://acme.io"))
    for scheme in ("Token", "GenieKey", "SSWS", "Token token="):
        text = f"curl -H 'Authorization: {scheme} {sample('{h40}', scheme)}'".replace("= ", "=")
        assert "authorization-token" in rules_hit(record(text)), scheme


def test_a_login_with_a_word_is_no_line_of_netrc() -> None:
    """Prose about a login is not the file that holds logins."""
    value = sample("{A8}5{A5}", "login")
    assert "netrc" not in rules_hit(record(f"they login with password {value} there"))
    assert "netrc" in rules_hit(record(f"machine acme.io\nlogin app\npassword {value}"))


def test_what_only_tests_or_lends_is_held() -> None:
    """Test keys, ids in signed addresses and whatever only a name gives away never exclude."""
    for name in ("stripe-test", "signed-address", "vendor-key", "named-key", "duffel-test"):
        assert next(rule for rule in RULES if rule.name == name).severity is Severity.MEDIUM
