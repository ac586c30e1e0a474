"""Refuse, don't half-fix: a credential leaves nothing behind, also when it comes later."""

import base64
import hashlib
import math
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends.interface import Answer, Unreachable, Usage
from dreaming.backends.replay import Replay
from dreaming.jobs.archiving import Retention
from dreaming.models.report import Outcome, Verdict
from dreaming.stores.history import History
from dreaming.stores.state import opened
from tests.rules.redaction_samples import github_token

from .world import GOTCHAS, HOUR, KEY, NIGHT, World, recorded, report_text, session, touch

_BASE32 = str.maketrans("0189", "QRST")


def _private_key() -> str:
    """A private key nobody owns, made here so that none stands in the repository."""
    body = base64.b64encode(hashlib.sha512(b"invented").digest() * 12).decode()
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    label = "RSA PRIVATE" + " KEY"
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


class _Paid(Replay):
    free = False
    identity = "replay:paid"
    context_tokens = 60_000


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two clean sessions that share two gotchas, settled by a backend that costs something."""
    made = World(tmp_path)
    session(made.sessions, "alpha", ["watch", "push"])
    session(made.sessions, "beta", ["watch", "push"])
    made.backend = _Paid(recorded())
    return made


def _gain_a_key(world: World) -> None:
    leak = {"kind": "result", "speaker": "tool", "tool": "shell", "text": _private_key()}
    session(world.sessions, "beta", ["watch", "push"], extra=[leak], modified=NIGHT)
    world.now += 24 * HOUR


def _everything(world: World) -> bytes:
    folders = (world.place.root, world.place.state)
    return b"".join(
        one.read_bytes() for folder in folders for one in sorted(folder.rglob("*")) if one.is_file()
    )


def test_a_transcript_with_a_private_key_is_left_out(world: World) -> None:
    """It reaches no excerpt, no question, no queue; the reason is the rule's name."""
    _gain_a_key(world)
    report = world.night()
    assert report.verdicts == {Verdict.PROCESSED: 1, Verdict.EXCLUDED: 1}
    assert world.waiting() == {}
    body = _private_key().splitlines()[2].encode()
    assert body not in _everything(world)
    assert isinstance(world.backend, _Paid)
    assert all(body.decode() not in one.prompt for one in world.backend.asked)


def test_refusal_is_retroactive(world: World) -> None:
    """When a settled transcript gains a key, all that came from it is withdrawn, and said."""
    world.night()
    assert set(world.waiting()) == {"watch-gotcha", "push-gotcha"}
    assert len(list(world.place.answers.iterdir())) == 2
    _gain_a_key(world)
    report = world.night()
    assert report.verdicts == {Verdict.PROCESSED: 1, Verdict.EXCLUDED: 1}
    assert report.withdrawn.transcripts == 1
    assert report.withdrawn.excerpts >= 2
    assert report.withdrawn.findings == 2
    assert report.withdrawn.answers == 2
    assert report.queue.removed == 2
    assert world.waiting() == {}
    assert list(world.place.answers.iterdir()) == []


def test_other_sessions_of_a_withdrawn_answer_stand(world: World) -> None:
    """Only what rests on the refused transcript goes."""
    session(world.sessions, "gamma", ["watch"])
    world.night()
    assert world.waiting()["watch-gotcha"].sessions == 3
    _gain_a_key(world)
    world.night()
    assert world.waiting()["watch-gotcha"].sessions == 2
    assert "push-gotcha" not in world.waiting()


def test_a_refused_transcript_is_looked_at_again_when_it_changes(world: World) -> None:
    """A file that was cleaned up comes back in."""
    _gain_a_key(world)
    world.night()
    session(world.sessions, "beta", ["watch", "push"], modified=NIGHT + 60)
    world.now += 24 * HOUR
    report = world.night()
    assert report.verdicts == {Verdict.PROCESSED: 2}
    assert set(world.waiting()) == {"watch-gotcha", "push-gotcha"}


def test_what_identifies_never_reaches_state_or_queue(world: World) -> None:
    """Addresses and home folders are replaced before anything is kept."""
    words = "No: write to robin.field@tidepool.dev and look in /home/robinfield/keys instead."
    extra = [
        {"kind": "call", "speaker": "model", "tool": "shell", "action": GOTCHAS["push"][0]},
        {"kind": "result", "speaker": "tool", "tool": "shell", "text": "x", "status": "error"},
        {"kind": "user", "speaker": "human", "text": words},
        {
            "kind": "call",
            "speaker": "model",
            "tool": "shell",
            "action": "git push /home/robinfield/x",
        },
    ]
    for name in ("gamma", "delta"):
        session(world.sessions, name, ["watch"], extra=extra)
    world.night()
    kept = _everything(world)
    assert b"robinfield" not in kept
    assert b"robin.field@tidepool" not in kept


def test_a_refusal_waits_for_no_backend(world: World) -> None:
    """When nobody answers tonight, what a credential stands in is withdrawn all the same."""
    world.night()
    _gain_a_key(world)
    session(world.sessions, "gamma", ["seed"], modified=NIGHT)
    world.backend = Replay(texts=[Unreachable("no route")])
    report = world.night()
    assert report.outcome is Outcome.FAILED
    assert report.verdicts[Verdict.EXCLUDED] == 1
    assert sum(report.verdicts.values()) == report.found == 3
    assert report.withdrawn.findings == 2
    assert world.waiting() == {}


def test_what_a_refused_transcript_calls_things_is_its_text_too(world: World) -> None:
    """Names of records and versions and ids of sessions reach neither the report nor the state."""
    secret = f"AK{'IA'}{hashlib.sha256(b'invented').hexdigest()[:16].upper().translate(_BASE32)}"
    odd = [{"kind": secret}, {"kind": f"{secret} x"}]
    path = session(world.sessions, "gamma", ["watch"], extra=odd)
    text = path.read_text("utf-8").replace('"session": "gamma"', f'"session": "{secret}"', 1)
    path.write_text(text.replace('"version": 1', f'"version": 1, "agent_version": "{secret}"', 1))
    touch(path, NIGHT - 24 * HOUR)
    report = world.night()
    assert report.reasons["excluded: aws-access-key-id"] == 1
    assert report.unknown_records == {"(in refused transcripts)": 2}
    assert secret not in report_text(report)
    assert secret.encode() not in _everything(world)


def test_a_refusal_reaches_the_copy_that_was_moved(world: World) -> None:
    """An archived transcript that gains a key takes what was read at its old place with it."""
    world.night()
    archived = world.sessions / "archived"
    archived.mkdir()
    (world.sessions / "beta.jsonl").rename(archived / "beta.jsonl")
    world.now += 24 * HOUR
    world.night()
    assert set(world.waiting()) == {"watch-gotcha", "push-gotcha"}
    (archived / "beta.jsonl").unlink()
    _gain_a_key(world)
    (world.sessions / "beta.jsonl").rename(archived / "beta.jsonl")
    report = world.night()
    assert report.verdicts[Verdict.EXCLUDED] == 1
    assert (report.withdrawn.answers, world.waiting()) == (2, {})
    assert list(world.place.answers.iterdir()) == []
    with opened(world.place.database, key=KEY) as state:
        history = History(state)
        assert len({one.session_id for one in history.excerpts()}) == 1
        assert len({one.session_id for one in history.findings()}) == 1


def test_an_answer_nobody_settled_is_withdrawn_too(world: World) -> None:
    """What was paid for before the backend went away goes with the transcript it is about."""
    big = [{"kind": "user", "speaker": "human", "text": "word " * 3000} for _ in range(3)]
    session(world.sessions, "beta", ["watch", "push"], extra=big)
    answer = Answer('{"findings": []}', Usage(10, 5, 0.5))
    world.backend = backend = _Paid(texts=[answer, Unreachable("no route")])
    backend.context_tokens = 300
    world.night()
    assert len(list(world.place.answers.iterdir())) == 1
    for name in ("alpha", "beta"):
        leak = {"kind": "result", "speaker": "tool", "tool": "shell", "text": _private_key()}
        session(world.sessions, name, ["watch", "push"], extra=[leak], modified=NIGHT)
    world.now += 24 * HOUR
    report = world.night()
    assert report.verdicts == {Verdict.EXCLUDED: 2}
    assert list(world.place.answers.iterdir()) == []


def test_a_session_that_got_another_id_takes_its_findings_along(world: World) -> None:
    """A transcript rewritten under another id and refused leaves nothing under the old one."""
    world.night()
    path = world.sessions / "beta.jsonl"
    leak = {"kind": "result", "speaker": "tool", "tool": "shell", "text": _private_key()}
    session(world.sessions, "other", ["watch", "push"], extra=[leak])
    (world.sessions / "other.jsonl").rename(path)
    touch(path, NIGHT)
    world.now += 24 * HOUR
    report = world.night()
    assert report.withdrawn.findings == 2
    assert (report.withdrawn.answers, world.waiting()) == (2, {})


def test_names_of_tools_records_and_versions_are_text_too(world: World) -> None:
    """Who stands in what a tool, a call, a record or a version is called is replaced as in text."""
    who = "marisol.quayle@kelpworks.io"
    strange: list[dict[str, Any]] = [
        {"kind": "call", "tool_name": f"mcp {who}", "call": f"c {who}", "record": f"r {who}"},
        {"format": who, "version": 1},
    ]
    path = session(world.sessions, "gamma", ["watch"], extra=strange)
    text = path.read_text("utf-8").replace(
        '"version": 1',
        f'"agent_version": "{who}", "repository": "https://x.io/a?marisol", "version": 1',
    )
    path.write_text(text.replace('"kind": "user"', f'"record": "u {who}", "kind": "user"'), "utf-8")
    touch(path, NIGHT - 24 * HOUR)
    world.retention = Retention(sessions=math.inf)
    report = world.night()
    assert report.verdicts == {Verdict.PROCESSED: 3}
    (unknown,) = report.unknown_records
    assert re.fullmatch(r"codex (<email:\w{4}>): \1 1", unknown)
    kept = [zlib.decompress(one.read_bytes()) for one in world.place.archive.glob("*.z")]
    left = b"".join((*kept, _everything(world), report_text(report).encode()))
    assert b"mcp <email:" in left
    assert b"marisol" not in left


def test_a_name_that_is_a_token_refuses_the_transcript(world: World) -> None:
    """The session id would be made of it."""
    token = github_token("name")
    path = session(world.sessions / token, "gamma", ["watch"])
    path.write_text(
        path.read_text("utf-8").replace('"session": "gamma"', '"session": null'), "utf-8"
    )
    touch(path, NIGHT - 24 * HOUR)
    report = world.night()
    assert report.verdicts == {Verdict.PROCESSED: 2, Verdict.EXCLUDED: 1}
    with opened(world.place.database, key=KEY) as state:
        assert all(token not in one for one in History(state, world.belongs).native_ids().values())


def test_what_is_known_is_sent_like_all_else(world: World) -> None:
    """A lesson with a token in it is not sent, and of one that names a person not the name."""
    token = github_token("known")
    (world.place.knowledge_base / "reef.md").write_text(
        f"# Reef\n\n- Log in with {token}.\n- Ask marisol.quayle@kelpworks.io first.\n", "utf-8"
    )
    world.night()
    assert isinstance(world.backend, _Paid)
    sent = "".join(one.prompt for one in world.backend.asked)
    assert "- Ask <email:" in sent
    assert token not in sent
    assert "marisol" not in sent
