"""Makes labelled transcripts: ``python -m benchmarks.redaction.generate FOLDER [--seed N]``.

Credentials of two kinds are planted, one a transcript: an example of each of our own rules, and
shapes written down without looking at them. Each is written in many ways. Look-alikes are planted
the same way. Everything is invented when it is needed; no file here holds a credential.

``FOLDER/planted/*.jsonl`` hold one, ``FOLDER/clean/*.jsonl`` none; ``FOLDER/labels.jsonl`` says of
each what it is and which records hold it.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from dreaming.redaction.detector import RULES
from dreaming.redaction.proofs import base62_checksum
from dreaming.redaction.rules import Rule
from dreaming.redaction.shapes import sample


class Planted(NamedTuple):
    """A text with a credential or a look-alike in it."""

    kind: str
    """``rule`` (an example of ours), ``token`` or ``context`` (not ours), ``clean``."""
    family: str
    text: str


_PEM: Final = "-----{0} RSA PRIVATE" + " KEY-----"
TOKENS: Final = {
    "aws": "AWS_ACCESS_KEY_ID=AKIA{C16}",
    "aws-secret": 'aws_secret_access_key = "{B40}"',
    "gitlab": "GITLAB_TOKEN=glpat-{U20}",
    "slack": 'slack = WebClient("xoxb-{d12}-{d13}-{A24}")',
    "stripe": "STRIPE_KEY=sk_live_{A24}",
    "openai": "OPENAI_API_KEY=sk-proj-{U74}T3Blbk" + "FJ{U74}",
    "anthropic": "ANTHROPIC_API_KEY=sk-ant-api03-{U93}AA",
    "google": '"key": "AIza{U35}"',
    "huggingface": "HF_TOKEN=hf_{L34}",
    "sendgrid": "SENDGRID_API_KEY=SG.{U22}.{U43}",
    "telegram": "https://api.telegram.org/bot{d10}:AA{U33}/getMe",
    "digitalocean": "doctl auth init -t dop_v1_{h64}",
    "npmrc": "//registry.acme.io/:_authToken=glpat-{U20}",
    "postgres": "DATABASE_URL=postgres://app:{A18}@db-{h4}.acme.io:5432/app",
    "amqp": 'url: "amqps://svc:{A16}@mq-{h4}.acme.io/prod"',
    "git-remote": "git clone https://ci:{A24}@git.acme.io/team/app.git",
}
"""Shapes that speak for themselves, as their vendors describe them."""

CONTEXTS: Final = {
    "datadog": "DD_API_KEY={h32}",
    "heroku": "HEROKU_API_KEY={h8}-{h4}-4{h3}-a{h3}-{h12}",
    "okta": 'okta_api_token: "00{U40}"',
    "algolia": '"algoliaAdminKey": "{h32}"',
    "fastly": 'curl -H "Fastly-Key: {A32}" https://api.fastly.com/service',
    "password": 'DB_PASSWORD="{A9}7{A5}"',
    "secret": "session_secret: {B43}=",
    "connection": "Server=tcp:db.acme.io;User ID=app;Password={A9}7{A5};Encrypt=True",
    "netrc": "machine db.acme.io login app password {A9}7{A5}",
    "mysql": "mysql -h db.acme.io -u app -p{A9}7{A5} -e 'select 1'",
    "curl": "curl -su deploy:{A9}7{A5} https://db.acme.io/status",
    "bearer": 'curl -H "Authorization: Bearer {A38}7" https://db.acme.io/me',
    "spoken": "the admin password is {A9}7{A5} , use it for staging",
}
"""What only its surroundings give away."""

LOOK_ALIKES: Final = {
    "commit": "commit {h40}\nmerge {h7} {h7}",
    "checksum": 'name = "sentry"\nversion = "1.2"\nchecksum = "{h64}"',
    "integrity": '"integrity": "sha512-{B86}=="',
    "uuid": "session {h8}-{h4}-4{h3}-a{h3}-{h12} key_id {h8}-{h4}-4{h3}-a{h3}-{h12}",
    "ids": "toolu_01{A22} msg_01{A22} chatcmpl-{A29} req_{A24}",
    "image": "data:image/png;base64,iVBORw0KGgo{B600}",
    "signature": '"signature": "{B400}"',
    "ssh-public": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{B43} dev@laptop",
    "certificate": "-----BEGIN CERTIFICATE-----\n{B64}\n{B64}\n{B64}\n-----END CERTIFICATE-----",
    "etag": 'ETag: "{h32}"\nx-request-id: {h32}\nnonce-{U22}',
    "publishable": "STRIPE_PUBLISHABLE=pk_live_{A24}\nTWILIO_ACCOUNT_SID=AC{h32}",
    "arn": "arn:aws:iam::{d12}:role/deploy AROA{C17} ami-{h17}",
    "cache-key": "cache key {h64}, primary_key={d9}, idempotency_key: {A24}",
    "wrong-checksum": "the documentation writes gh" + "p_{A36} for a token",
    "placeholder": "OPENAI_API_KEY=sk-your-key-here\nGITHUB_TOKEN=gh" + "p_" + "x" * 36,
    "documentation": "aws_access_key_id = AKIA{C9}EXAMPLE",
    "variable": 'password = "${DB_PASSWORD}"\ntoken = os.environ["API_TOKEN"]\nkey=self.api_key',
    "default": "postgres://postgres:postgres@localhost:5432/test redis://:${PASS}@redis:6379",
    "code": "def login(user: str, password: str, token: Token | None = None) -> Session:\n    ...",
    "scanner": "re.compile(r'-----BEGIN [A-Z ]*PRIVATE "
    + "KEY-----'), re.compile(r'AKIA[0-9A-Z]{16}')",
    "minified": "!function(e,t){var n=e.token,r=t.key;return n&&r?e.auth(n,r):null}(a,b);" * 20,
    "tests": "ok 7 - test_secret_key_with_api_token_12\n--- PASS: TestTokenRefreshesKey (0.0s)",
    "text": "payload: {text}",
}

_WORDS: Final = """the build fails because test expects sorted keys parser returns order so change
helper rerun suite check coverage report module cache index writer reader config session""".split()


def _record(text: str, role: str = "user") -> str:
    content = [{"type": "tool_result" if role == "user" else "text", "content": text}]
    return json.dumps({"type": role, "message": {"role": role, "content": content}})


def _nested(text: str, depth: int) -> str:
    for _ in range(depth):
        text = json.dumps({"body": text})
    return text


def _numbered(text: str) -> str:
    return "".join(f"{n:6}\u2192{line}\n" for n, line in enumerate(text.split("\n"), 1))


def _value(text: str) -> tuple[int, int]:
    """Return where the longest run that could be a token stands."""
    return max((m.span() for m in re.finditer(r"[\w.~+/-]{8,}", text)), key=lambda s: s[1] - s[0])


def _inside(text: str, what: str) -> str:
    start, stop = _value(text)
    at = start + (stop - start) * 2 // 3
    return text[:at] + what + text[at:]


def _around(text: str) -> str:
    start, stop = _value(text)
    return f"{text[:start]}\x1b[33m{text[start:stop]}\x1b[0m{text[stop:]}"


def _two(text: str) -> list[str]:
    start, stop = _value(text)
    at = start + (stop - start) * 2 // 3
    return [_record(text[:at], "assistant"), _record(text[at:] + "\nand on", "assistant")]


_JUNK: Final = "var a=function(e,t){return e.k(t)};"
WRITTEN: Final[dict[str, tuple[str, Callable[[str], list[str]]]]] = {
    "plain": ("core", lambda text: [_record(text)]),
    "shell": ("core", lambda text: [_record(json.dumps({"command": f"cat <<X\n{text}\nX"}))]),
    "json in json": ("core", lambda text: [_record(_nested(text, 1))]),
    "line numbers": ("core", lambda text: [_record(_numbered("A=1\n" + text + "\nB=2"))]),
    "diff": ("core", lambda text: [_record("@@ -0,0 +1 @@\n+" + text.replace("\n", "\n+"))]),
    "crlf": ("core", lambda text: [_record(text.replace("\n", "\r\n") + "\r\n")]),
    "four deep": ("nested", lambda text: [_record(_nested(text, 3))]),
    "base64": (
        "encoded",
        lambda text: [_record(base64.b64encode(f"A=1\n{text}\n".encode()).decode())],
    ),
    "base64, wrapped": (
        "encoded",
        lambda text: [_record(base64.encodebytes(f"A=1\n{text}\n".encode()).decode())],
    ),
    "percent": ("encoded", lambda text: [_record("https://acme.io/?q=" + quote(text, safe=""))]),
    "escaped": (
        "encoded",
        lambda text: ['{"text":"' + "".join(f"\\u{ord(c):04x}" for c in text) + '"}'],
    ),
    "colour around": ("split", lambda text: [_record(_around(text))]),
    "colour inside": ("split", lambda text: [_record(_inside(text, "\x1b[m\x1b[K"))]),
    "wrapped line": ("split", lambda text: [_record(_inside(text, "\n"))]),
    "two records": ("split", _two),
    "unseen character": ("adversarial", lambda text: [_record(_inside(text, "\u200b"))]),
    "allow markers": (
        "adversarial",
        lambda text: [
            _record(f"# example\n{text} # gitleaks:allow betterleaks:allow kingfisher:ignore")
        ],
    ),
    "long line": ("position", lambda text: [_record(_JUNK * 6000 + f"\n{text}\n" + _JUNK * 900)]),
}
"""The group and the way of writing: the records that hold the text."""
_CONTEXT_WAYS: Final = ("plain", "shell", "json in json", "base64", "allow markers")


def _of_rule(rule: Rule, seed: str) -> str:
    text = sample(rule.example, f"{rule.name}/{seed}")
    found = re.search(rule.shape, text) if rule.seal else None
    if not (found and rule.seal):
        return text
    return text[: found.start("value")] + rule.seal(found["value"]) + text[found.end("value") :]


def planted(seed: str) -> Iterator[Planted]:
    """Yield everything that must be found."""
    for rule in RULES:
        yield Planted("rule", rule.name, _of_rule(rule, seed))
    for family, template in TOKENS.items():
        yield Planted("token", family, sample(template, f"{family}/{seed}"))
    body = sample("{A30}", f"code host/{seed}")
    check = base62_checksum(body.encode()).decode()
    yield Planted("token", "code-host", "GH_TOKEN=gh" + f"p_{body}{check}")
    body = sample("{A32}", f"grafana/{seed}")
    yield Planted("token", "grafana", f"GRAFANA=glsa_{body}_{zlib.crc32(body.encode()):08x}")
    lines = "\n".join(sample("{B64}", f"pem/{seed}/{n}") for n in range(12))
    yield Planted("token", "pem", f"{_PEM.format('BEGIN')}\nMII{lines[3:]}\n{_PEM.format('END')}")
    for family, template in CONTEXTS.items():
        yield Planted("context", family, sample(template, f"{family}/{seed}"))


def look_alikes(seed: str) -> Iterator[Planted]:
    """Yield what must not be found."""
    for family, template in LOOK_ALIKES.items():
        text = sample(template, f"{family}/{seed}") if family != "scanner" else template
        words = " ".join(random.Random(seed + family).choices(_WORDS, k=60))
        text = text.replace("{text}", base64.b64encode(words.encode()).decode())
        yield Planted("clean", family, text)


def _session(records: list[str], rng: random.Random) -> tuple[str, list[int]]:
    """Return a transcript around the records, and their lines."""

    def chat(count: int) -> list[str]:
        return [
            _record(" ".join(rng.choices(_WORDS, k=30)), rng.choice(["user", "assistant"]))
            for _ in range(count)
        ]

    before, after = chat(rng.randint(2, 4)), chat(rng.randint(1, 3))
    lines = list(range(len(before) + 1, len(before) + len(records) + 1))
    return "\n".join([*before, *records, *after]) + "\n", lines


def generate(folder: Path, seed: int, clean: int) -> int:
    """Write the set, with ``clean`` transcripts of each look-alike; return how many in all."""
    rng = random.Random(seed)
    labels: list[dict[str, object]] = []

    def write(one: Planted, way: str) -> None:
        group, records = WRITTEN[way][0], WRITTEN[way][1](one.text)
        text, lines = _session(records, rng)
        name = f"{'clean' if one.kind == 'clean' else 'planted'}/{len(labels):05}.jsonl"
        (folder / name).write_text(text, encoding="utf-8")
        labels.append({"file": name, "group": group, "way": way, "lines": lines} | one._asdict())
        labels[-1].pop("text")

    for kind in ("planted", "clean"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for one in planted(str(seed)):
        ways = list(WRITTEN) if one.kind == "token" else list(_CONTEXT_WAYS)
        for way in ways if "\n" not in one.text or one.kind != "token" else ways[:11]:
            write(one, way)
    for number in range(clean):
        for one in look_alikes(f"{seed}/{number}"):
            write(one, rng.choice(["plain", "shell", "json in json", "line numbers"]))
    lines = "".join(json.dumps(label) + "\n" for label in labels)
    (folder / "labels.jsonl").write_text(lines, encoding="utf-8")
    return len(labels)


def main() -> None:
    """Write a set into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clean", type=int, default=10, help="transcripts of each look-alike")
    asked = parser.parse_args()
    print(generate(asked.folder, asked.seed, asked.clean), "transcripts")


if __name__ == "__main__":
    main()
