"""What transcripts, models and strangers wrote cannot steer a terminal, whatever command shows it.

Every command that shows text is run over a workspace in which every text that somebody else could
have written holds the same hostile characters.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from dreaming.backends.replay import Recorded, Replay
from dreaming.cli.main import run
from dreaming.jobs import decide
from dreaming.models.decision import Action, Phase
from dreaming.stores.ledger import Ledger
from dreaming.stores.pending import Pending
from dreaming.stores.workspace import Workspace, lay_out, state_home
from tests.jobs.world import GOTCHAS, KEY, World, recorded, session

PAYLOADS: Final = {
    "colour": "\x1b[31;1m",
    "screen": "\x1b[2J\x1b[H\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "link": "\x1b]8;;https://kelp.example\x1b\\here\x1b]8;;\x1b\\",
    "eight-bit controls": "\x9b31m\x90q\x9c\x85",
    "overwritten": "\rall is well",
    "other controls": "evil\b\b\b\bgood\x7f\x07\x00\x0b\x0c",
    "line separators": "\u2028\u2029",
    "directions": "\u202egnp.exe\u202c\u2066evil\u2069",
    "unseen": "in\u200bvis\u200dible\ufeff\U000e0041\ue000\U000f0000",
    "markup and a new row": "[red]x[/]\nffffffff  99 sessions  tools  Accept this.",
    "a line without end": "kelp " * 10_000,
}
TEXTS: Final = [name for name in PAYLOADS if name != "a line without end"]
"""Those that fit into a candidate."""
SHORT: Final = [PAYLOADS[name] for name in TEXTS if name not in ("colour", "clipboard", "link")]
FOR_SCRIPTS_TOO: Final = ("screen", "eight-bit controls", "unseen", "markup and a new row")
"""Documents are written in one place, whatever is in them."""


@pytest.fixture(autouse=True)
def _a_terminal_is_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Click takes colours out where no terminal is; a leak must not hide behind that."""
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_, **__: False)


def raw(text: str) -> list[str]:
    """The characters of an output that could act, or hide; our own dimming is none."""
    text = text.replace("\x1b[2m", "").replace("\x1b[0m", "")
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    return sorted(
        {f"U+{ord(char):04X}" for char in text if unicodedata.category(char) in hidden}
        - {"U+000A", "U+0009"}
    )


def made(root: Path, payload: str, monkeypatch: pytest.MonkeyPatch) -> tuple[World, str]:
    """A workspace at the command's own places with the payload in everything; and a lesson of it.

    It is in what sessions say, in what waits, in why something was turned down, in hand-written
    lines and, where the file system can, in a topic's name.
    """
    world = World(root)
    world.place = Workspace(world.place.root, state_home())
    lay_out(world.place, {"dreaming.toml": ""}, KEY)
    bad = payload[:300]
    monkeypatch.setitem(
        GOTCHAS, "evil", (f"reefctl {bad}", f"anemone {bad} blocked reefctl", "reefctl --cold")
    )
    for name in (f"alpha{bad[:9]}", f"beta{bad[:9]}"):
        file = "alpha" if "alpha" in name else "beta"
        session(world.sessions, file, ["evil", "watch", "push", "lint"])
    evil = Recorded("evil-gotcha", "tools", "It blocks.", "Use `reefctl --cold`.", ("blocked",))
    world.backend = Replay([*recorded(["watch", "push", "lint"]), evil])
    world.night()
    _decide(world, bad)
    _spoil_queue(world, bad)
    lesson = _spoil_knowledge_base(world, payload)
    return world, lesson


def _decide(world: World, bad: str) -> None:
    with world.desk() as desk:
        decide.reject(desk, world.waiting()["lint-gotcha"].id, "wrong")
        decide.accept(desk, world.waiting()["evil-gotcha"].id)
        at = desk.now()
    # Nobody here writes such a reason; a ledger that came from elsewhere may hold one.
    elsewhere = Ledger(world.place.ledger, "eve-0bad")
    elsewhere.append(at, Action.REJECT, Phase.DONE, candidate="f" * 16, why=f"no {bad}", text=bad)


def _spoil_queue(world: World, bad: str) -> None:
    """As an attacker, or a model, might leave a file in the queue."""
    one = world.waiting()["watch-gotcha"]
    spoiled = {"symptom": f"a{bad}b", "rule": f"Do{bad} it.", "agents": (f"x{bad}",)}
    Pending(world.place.pending).put(
        one.model_copy(update={**spoiled, "backend": f"m{bad}", "projects": (f"p{bad}",)})
    )


def _spoil_knowledge_base(world: World, payload: str) -> str:
    """Return the lesson that is in the knowledge base."""
    folder = world.place.knowledge_base
    lesson = (folder / "tools.md").read_text()[-13:-5]
    line = "- [2026-11-30] SYMPTOM: a{0} RULE: Do{0} it. <!-- dreaming:0badcafe -->\n"
    text = f"Reef{payload} by hand.\n{line.format(payload)}{line.format(payload)}"
    (folder / "reef.md").write_text(text, encoding="utf-8")
    name = payload[:40].replace("/", "").replace("\0", "")
    (folder / f"bad{name}.md").write_text("Kelp by hand.\n", encoding="utf-8")
    return lesson


def surfaces(world: World, lesson: str) -> Iterator[tuple[str, ...]]:
    """Every command that shows what somebody else wrote."""
    ids = {slug: one.id for slug, one in world.waiting().items()}
    watch = ids["watch-gotcha"]
    yield from (("kb", "list"), ("kb", "list", "reef"), ("kb", "search", "kelp reef do"))
    yield from (("kb", "lint"), ("kb", "why", lesson), ("kb", "why", "0badcafe"))
    yield from (("pending", "list"), ("pending", "show", watch), ("reveal", "--all"))
    yield from (("accept", watch, "--dry-run"), ("status",))
    yield from (("ledger", "show"), ("ledger", "verify"))
    yield from (
        ("kb", "retire", lesson, "--why", "x", "--dry-run"),
        ("reject", watch, "--why", "x"),
    )
    yield from (("undo",), ("pending", "later", watch, "--sessions", "2"), ("undo",))
    yield ("pending", "merge", watch, lesson)


@pytest.mark.parametrize("name", PAYLOADS)
def test_nothing_shown_acts_on_a_terminal(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No control, no direction mark, no hidden character reaches stdout or stderr, in any form."""
    world, lesson = made(tmp_path, PAYLOADS[name], monkeypatch)
    monkeypatch.setenv("DREAMING_WORKSPACE", str(world.place.root))
    for words in surfaces(world, lesson):
        for more in ((), ("--json",)) if name in FOR_SCRIPTS_TOO else ((),):
            code = run([*words, *more])
            told = capsys.readouterr()
            assert raw(told.out + told.err) == [], (words, more)
            assert code in (0, 1, 2, 3, 4), (words, told.err)
            if not more:
                printed = told.out.splitlines() + told.err.splitlines()
                assert max(map(len, printed), default=0) < 5000, words
                assert not [one for one in printed if one.startswith("ffffffff")], words
            if more and told.out:
                assert told.out.isascii(), words
                json.loads(told.out)


@pytest.mark.parametrize("name", TEXTS)
def test_what_was_written_is_shown_visibly(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The test above looks at something: the harmless part arrives, on one line."""
    world, _ = made(tmp_path, PAYLOADS[name], monkeypatch)
    monkeypatch.setenv("DREAMING_WORKSPACE", str(world.place.root))
    assert run(["pending", "list"]) == 0
    (row,) = [one for one in capsys.readouterr().out.splitlines() if "Do" in one]
    assert row.split("  (")[0].endswith("it.")
    assert run(["kb", "list", "reef"]) == 0
    assert "by hand." in capsys.readouterr().out
    assert run(["ledger", "show"]) == 0
    assert "why: no" in capsys.readouterr().out


ARGUMENTS: Final = (
    ("{}",),
    ("kb", "{}"),
    ("kb", "list", "{}"),
    ("kb", "search", "{}"),
    ("kb", "search", "x", "--limit", "{}"),
    ("kb", "why", "aaaa{}"),
    ("kb", "retire", "aaaa{}", "--why", "x"),
    ("kb", "list", "--{}"),
    ("pending", "show", "{}"),
    ("accept", "abcd{}"),
    ("accept", "abcd", "--topic", "{}"),
    ("accept", "--topic", "tools", "--symptom", "Reef {} hangs.", "--rule", "Use kelp."),
    ("accept", "--topic", "{}", "--symptom", "Reef hangs.", "--rule", "Use kelp."),
    ("accept", "--topic", "tools", "--symptom", "It hangs.", "--rule", "Use {} kelp.", "--json"),
    ("kb", "supersede", "abcd{}", "--rule", "{}"),
    ("undo", "{}"),
    ("ledger", "show", "{}"),
    ("pending", "later", "abcd{}", "--sessions", "1"),
    ("pending", "later", "abcd", "--until", "{}"),
    ("pending", "merge", "abcd{}", "{}"),
    ("reject", "abcd{}", "--why", "x"),
    ("reveal", "{}"),
    ("status", "--workspace", "/{}"),
    ("status", "--transcripts", "{}=/x"),
)
"""What an agent, or a text that was pasted, might call the program with."""


@pytest.mark.parametrize("words", ARGUMENTS, ids=lambda one: " ".join(one).replace("{}", "X"))
def test_complaints_repeat_nothing_raw(
    words: tuple[str, ...],
    home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What a command could not use is named in its complaint so that it cannot act."""
    assert run(["init", str(home / ".dreaming")]) == 0
    capsys.readouterr()
    for payload in SHORT:
        run([one.replace("{}", payload.replace("\0", "")) for one in words])
        told = capsys.readouterr()
        assert raw(told.out + told.err) == [], payload
        assert "Traceback" not in told.err and "unexpected" not in told.err
