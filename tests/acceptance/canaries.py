"""Sixty credentials and a few people, planted where a night would carry them, and looked for after.

Every transcript that holds a credential also holds a gotcha that recurs, with the credential in the
very words that would become an excerpt: what is not refused is mined, stored and sent.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec
import regex

from dreaming.redaction.detector import RULES
from dreaming.redaction.rules import Rule, Severity
from tests.rules.redaction_samples import example, github_token
from tests.transcripts.transcript_samples import answer, call, codex, head, result, said, user

FAMILIES: Final = 60
IN_PIECES: Final = "in pieces"
WINDOW: Final = 14
"""So many characters of a planted value, in a row, are a leak."""
WHEN: Final = 1_790_000_000
"""Transcripts are this old: quiet, and long before any night."""

PEOPLE: Final = (
    "marisol.quayle@kelpworks.io",
    "tobias+ci@reefandtide.dev",
    "/home/quillonbarnaby/",
    "/Users/perpetuaswain/",
    "C:\\Users\\ottolinefairweather\\",
)
"""Addresses and home folders of invented people; their names are in them."""
NAMES: Final = ("marisol.quayle", "tobias+ci", "quillonbarnaby", "perpetuaswain", "ottolinefairwea")

CLEAN: Final = (
    ("make tide-table", "tidetable needs the harbourfile first", "make harbourfile tide-table"),
    ("npm run kelp", "kelpscript is called kelpforest here", "npm run kelpforest"),
)
"""Gotchas of transcripts without a credential: what is tried, what comes back, what works."""


class Planted(msgspec.Struct, frozen=True):
    """What was planted, by the name of its family."""

    values: dict[str, str]
    """Each is looked for in what the night leaves."""


def plant(home: Path) -> Planted:
    """Write transcripts of two agents into their own places under ``home``."""
    values: dict[str, str] = {}
    chosen = _families()
    for number, rule in enumerate(chosen):
        text = example(rule, "canary")
        values[rule.name] = _value(rule, text)
        gotcha = ("make reef", f"reefbuild stops at {text}", "make reef SAFE=1")
        # Nobody reads what kind of record or which version this is, but it is counted.
        strange = {"type": values[rule.name], "uuid": f"x{number}"} if number % 7 == 0 else None
        version = values[rule.name] if number % 11 == 0 else "2.1.99"
        if number % 2:
            _codex(home, f"canary-{number}", gotcha)
        else:
            _claude(home, f"canary-{number}", gotcha, version=version, strange=strange)
    values[IN_PIECES] = _in_pieces(home)
    for number in range(2):
        for at, (tried, came, works) in enumerate(CLEAN):
            told = (
                f"{came} ask {PEOPLE[0]} or {PEOPLE[1]}, see {PEOPLE[2 + at]}notes and {PEOPLE[4]}x"
            )
            (_codex if at else _claude)(home, f"clean-{at}-{number}", (tried, told, works))
    return Planted(values)


def _in_pieces(home: Path) -> str:
    """A token that becomes whole only where the parts of a result are put together."""
    token = github_token("canary")
    far = {"note": "nothing " * 80}  # too far apart to be seen as one in the bytes
    parts = [
        {"type": "text", "text": f"error: no {token[:20]}", **far},
        {"type": "text", "text": token[20:]},
    ]
    failed = result(parts, error=True)
    works = user("No, that token is void. Use the deploy script instead.", 2)
    records = [user("Publish it.", 1), answer(call(command="make publish")), failed, works]
    _write_claude(home, "in-pieces", records)
    return token


def _families() -> list[Rule]:
    """Sixty rules, high and medium, spread over the whole table."""
    high = [rule for rule in RULES if rule.severity is Severity.HIGH]
    medium = [rule for rule in RULES if rule.severity is Severity.MEDIUM]
    return [*_spread(high, FAMILIES - 10), *_spread(medium, 10)]


def _spread(rules: list[Rule], number: int) -> list[Rule]:
    return [rules[at * len(rules) // number] for at in range(number)]


def _value(rule: Rule, text: str) -> str:
    """The secret in an example, as it stands there."""
    found = regex.search(rule.shape.encode("latin-1"), text.encode())
    assert found, rule.name
    return bytes(found["value"]).decode()


def _claude(
    home: Path,
    name: str,
    gotcha: tuple[str, str, str],
    *,
    version: str = "2.1.99",
    strange: dict[str, Any] | None = None,
) -> None:
    tried, came, works = gotcha
    records = [
        user("Please bring the tables up to date.", 1),
        answer(call(command=tried)),
        result(f"Exit code 1\nerror: {came}", error=True),
        user(f"No, not like that: {came}. Use {works} instead.", 2),
        answer(call(number=2, command=works), number=2),
        result("done", 2, error=False),
    ]
    _write_claude(home, name, [*records, strange] if strange else records, version)


def _write_claude(
    home: Path, name: str, records: list[dict[str, Any]], version: str = "2.1.99"
) -> None:
    for at, record in enumerate(records):
        record["sessionId"], record["version"] = name, version
        record["uuid"] = f"{name}-{at}"
        record["timestamp"] = f"2026-09-21T10:{at:02}:00.000Z"
    _write(home / ".claude/projects/-srv-shop" / f"{name}.jsonl", records)


def _codex(home: Path, name: str, gotcha: tuple[str, str, str]) -> None:
    tried, came, works = gotcha
    failed = json.dumps({"output": f"error: {came}", "metadata": {"exit_code": 1}})
    fine = json.dumps({"output": "done", "metadata": {"exit_code": 0}})
    records = [
        head(name),
        said("Please bring the tables up to date."),
        codex("event_msg", type="user_message", message="Please bring the tables up to date."),
        _shell("c1", tried),
        codex("response_item", type="function_call_output", call_id="c1", output=failed),
        said(f"No, not like that: {came}. Use {works} instead."),
        codex("event_msg", type="user_message", message=f"No, not like that: {came}. Use {works}."),
        _shell("c2", works),
        codex("response_item", type="function_call_output", call_id="c2", output=fine),
    ]
    for at, record in enumerate(records):
        record["timestamp"] = f"2026-09-22T10:{at:02}:00.000Z"
    _write(
        home / ".codex/sessions/2026/09/22" / f"rollout-2026-09-22T10-00-00-{name}.jsonl", records
    )


def _shell(identity: str, command: str) -> dict[str, Any]:
    arguments = json.dumps({"command": ["bash", "-lc", command]})
    return codex(
        "response_item", type="function_call", name="shell", call_id=identity, arguments=arguments
    )


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    os.utime(path, (WHEN, WHEN))


# -- looking for it -------------------------------------------------------------------------------


def leaks(planted: Planted, home: Path, said: str) -> set[str]:
    """Return the families and people of which something stands where a night leaves things.

    Looked at are all files under ``home`` but the transcripts, what is compressed and what stands
    in a database too, and what was ``said`` or sent.
    """
    everything = [*_left(home), said.encode("utf-8", "surrogatepass")]
    found = set()
    for name, value in [*planted.values.items(), *((one, one) for one in NAMES)]:
        needles = _needles(value)
        if any(needle in data for data in everything for needle in needles):
            found.add(name)
    return found


def _needles(value: str) -> set[bytes]:
    """What tells that some of a value is there: stretches of it, in any of its usual spellings."""
    stretches = [value[at : at + WINDOW] for at in range(0, max(1, len(value) - WINDOW + 1), 4)]
    forms: set[bytes] = set()
    for stretch in stretches:
        raw = stretch.encode()
        forms |= {raw, json.dumps(stretch)[1:-1].encode(), quote(stretch, safe="").encode()}
        forms.add(raw.hex().encode())
    whole = value.encode()
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + whole).rstrip(b"=")
        forms.add(coded[4:-2] if len(coded) > 16 else coded)
    return forms


def _left(home: Path) -> Iterator[bytes]:
    """Everything a night left under a home, opened where it is packed."""
    for path in sorted(home.rglob("*")):
        if not path.is_file() or path.is_relative_to(home / ".claude"):
            continue
        if path.is_relative_to(home / ".codex") or path.parent.name == "rules":
            continue  # compiled rules: they hold what credentials of a family have in common
        data = path.read_bytes()
        yield from _opened(data)
        yield os.fsencode(path.name)
        if data.startswith(b"SQLite format 3"):
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
                yield from _cells(connection)


def _cells(connection: sqlite3.Connection) -> Iterator[bytes]:
    for (table,) in connection.execute("select name from sqlite_master where type = 'table'"):
        for row in connection.execute(f'select * from "{table}"'):
            for cell in row:
                if isinstance(cell, str):
                    yield cell.encode()
                elif isinstance(cell, bytes):
                    yield from _opened(cell)


def _opened(data: bytes) -> Iterator[bytes]:
    yield data
    with suppress(zlib.error):
        yield zlib.decompress(data)
