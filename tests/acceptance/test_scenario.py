"""One person, three nights: what is found, refused, decided, and never proposed again."""

from __future__ import annotations

import hashlib
import json
import random
import string
from pathlib import Path
from typing import Any

import pytest

from dreaming.redaction.proofs import seal_github
from tests.acceptance import first_night
from tests.acceptance.installed import Dreaming, Here, copy_sample, folder_hash, make_sample, tell


def secrets() -> dict[str, dict[str, str]]:
    """Invented credentials of the right shape, made when the test runs: none stands in a file."""
    some = random.Random(2026)
    letters = string.ascii_letters + string.digits
    lines = ["".join(some.choices(letters + "+/", k=64)) for _ in range(12)]
    key = "\n".join(["-----BEGIN PRIVATE" + " KEY-----", *lines, "-----END PRIVATE" + " KEY-----"])
    token = seal_github("gh" + "p_" + "".join(some.choices(letters, k=36)))
    return {
        "planted-key": {"PRIVATE_KEY_AS_JSON": json.dumps(key)},
        "planted-token": {"HUB_TOKEN": token},
        "planted-password": {"PASSWORD": "".join(some.choices(letters, k=9)) + "7q4Z"},
    }


@pytest.fixture
def dreaming(home: Path, tmp_path: Path) -> Dreaming:
    """A home with the invented sessions, three of them with a credential, and a workspace."""
    copy_sample(home)
    for story, values in secrets().items():
        tell(home, story, values, tmp_path)
    found = Dreaming(home)
    assert found.run("init").code == 0
    (found.workspace / "knowledge_base" / "git.md").write_text("# Git\n\n- Sign commits.\n")
    return found


def test_three_nights(dreaming: Dreaming, tmp_path: Path) -> None:
    """Lessons come out, credentials stay out, a person decides, and a night adds what is new."""
    report = night(dreaming)
    revealed = dreaming.revealed()
    first_night.check(report, revealed)
    assert_nowhere(dreaming, secrets())
    lessons = first_night.named(revealed)
    accepted, rejected = decide(dreaming, *list(lessons.values())[:2])
    waiting = dreaming.pending()
    assert set(waiting) == {one["id"] for one in revealed} - {accepted, rejected}
    assert_quiet(dreaming, waiting)
    tell(dreaming.home, "later-preview", {}, tmp_path)
    assert_one_more(dreaming, waiting)


def night(dreaming: Dreaming) -> Any:
    """A night, which leaves the knowledge base as it was."""
    before = folder_hash(dreaming.workspace / "knowledge_base")
    report = dreaming.night()
    assert folder_hash(dreaming.workspace / "knowledge_base") == before
    return report


def decide(dreaming: Dreaming, accepted: str, rejected: str) -> tuple[str, str]:
    """Accept one and reject one: a line more in the knowledge base, three in the ledger."""
    before = knowledge(dreaming)
    line = dreaming.run("accept", accepted[:8], "--json").document()["line"]
    gone = dreaming.run("reject", rejected, "--why", "we know this").code
    assert gone == 0
    after = knowledge(dreaming)
    assert [one for one in after if one not in before] == [line]
    assert [one for one in after if one in before] == before
    assert line.startswith("- [20") and "SYMPTOM: " in line and " RULE: " in line
    (ledger,) = dreaming.workspace.glob("ledger/reviewed-*.jsonl")
    steps = [json.loads(one) for one in ledger.read_bytes().splitlines()]
    assert [(one["action"], one["phase"], one["candidate"]) for one in steps] == [
        ("accept", "intent", accepted),
        ("accept", "done", accepted),
        ("reject", "done", rejected),
    ]
    assert steps[0]["text"] == line and steps[2]["why"] == "we know this"
    assert_chained(ledger)
    return accepted, rejected


def knowledge(dreaming: Dreaming) -> list[str]:
    """Every lesson-like line of the knowledge base."""
    files = sorted(dreaming.workspace.glob("knowledge_base/*.md"))
    texts = [path.read_text("utf-8") for path in files if path.name != "README.md"]
    return [line for text in texts for line in text.splitlines() if line.startswith("- ")]


def assert_chained(ledger: Path) -> None:
    """Each line of the ledger names the hash of the line before it."""
    last = "0" * 64
    for number, line in enumerate(ledger.read_bytes().splitlines(), start=1):
        step = json.loads(line)
        assert (step["seq"], step["prev"]) == (number, last)
        last = hashlib.sha256(line).hexdigest()


def assert_nowhere(dreaming: Dreaming, planted: dict[str, dict[str, str]]) -> None:
    """No credential stands in anything that was written, the database and its log included."""
    values = [value for one in planted.values() for value in one.values()]
    pieces = [value[10:30].encode() if len(value) > 40 else value.encode() for value in values]
    pieces += [value[60:90].encode() for value in values if len(value) > 100]
    mine = {dreaming.home / ".claude", dreaming.home / ".codex"}
    for path in dreaming.home.rglob("*"):
        if path.is_file() and not mine & set(path.parents):
            written = path.read_bytes()
            assert not [piece for piece in pieces if piece in written], path


def assert_quiet(dreaming: Dreaming, waiting: dict[str, bytes]) -> None:
    """A night without anything new reads nothing and proposes nothing.

    What was accepted is known now and may be flagged as near to what still waits; once that is
    done, a further night leaves the queue byte for byte.
    """
    report = night(dreaming)
    first_night.check_account(report)
    assert (report["read"], report["new_bytes"]) == (0, 0)
    assert (report["queue"]["new"], report["queue"]["removed"]) == (0, 0)
    assert report["outcome"] == "advanced"
    settled = dreaming.pending()
    assert settled.keys() == waiting.keys()
    night(dreaming)
    assert dreaming.pending() == settled


def assert_one_more(dreaming: Dreaming, waiting: dict[str, bytes]) -> None:
    """A second session with what one session had makes exactly one candidate more."""
    report = night(dreaming)
    assert report["read"] == 1 and report["queue"]["new"] == 1
    after = dreaming.pending()
    assert waiting.keys() < after.keys() and len(after) == len(waiting) + 1
    (new,) = after.keys() - waiting.keys()
    (one,) = [each for each in dreaming.revealed() if each["id"] == new]
    assert "--alias" in one["rule"]
    first_night.assert_readable(one)


def nothing(home: Path) -> None:
    """No agent was ever here."""


def empty_folders(home: Path) -> None:
    """The agents' places, empty."""
    (home / ".claude" / "projects" / "-home-robin-code-tidepool-api").mkdir(parents=True)
    (home / ".codex" / "sessions" / "2026").mkdir(parents=True)


def empty_files(home: Path) -> None:
    """As many transcripts as in the sample, each without a byte."""
    copy_sample(home)
    for path in home.rglob("*.jsonl"):
        path.write_bytes(b"")


def no_sessions(home: Path) -> None:
    """Transcripts in which nobody says anything."""
    copy_sample(home)
    for path in home.rglob("*.jsonl"):
        path.write_text('{"type":"permission-mode","permissionMode":"default"}\n')


def unreadable_lines(home: Path) -> None:
    """Transcripts of which every line is cut."""
    copy_sample(home)
    for path in home.rglob("*.jsonl"):
        path.write_bytes(b"".join(line[:40] + b"\n" for line in path.read_bytes().split(b"\n")))


def one_session(home: Path) -> None:
    """One session alone: everything in it was seen once."""
    copy_sample(home)
    keep, *others = sorted(home.glob(".codex/**/*.jsonl"))
    for path in (*others, *home.glob(".claude/**/*.jsonl")):
        path.unlink()
    assert keep.stat().st_size


@pytest.mark.parametrize(
    "lay_out",
    [nothing, empty_folders, empty_files, no_sessions, unreadable_lines, one_session],
)
def test_the_scenario_fails_on_emptiness(home: Path, lay_out: Any) -> None:
    """Where there is nothing to find the night ends well, and the check above says no."""
    lay_out(home)
    dreaming = Here(home)
    report = dreaming.night("--workspace", dreaming.workspace)
    first_night.check_account(report)
    assert dreaming.pending() == {}
    with pytest.raises(AssertionError):
        first_night.check(report, [])


def test_the_sample_is_what_its_stories_say(tmp_path: Path) -> None:
    """Making the bundled sample again gives the same files, byte for byte."""
    copy_sample(tmp_path / "bundled")
    make_sample(tmp_path / "made")
    assert folder_hash(tmp_path / "made") == folder_hash(tmp_path / "bundled")
