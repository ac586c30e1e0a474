"""The installed screen under a real terminal: keys alone, and the folders are as the keys say."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from dreaming.models.candidate import Candidate
from dreaming.stores.pending import Pending

TMUX: Final = shutil.which("tmux")
DREAMING: Final = Path(sys.executable).with_name("dreaming")
PACE: Final = 0.15
"""Seconds between two keys of a person."""
LEAVING: Final = 2.0
"""Seconds between two keys that ask to leave: more than a busy machine makes of one paste."""
TURNS: Final = 6000
"""Looks at the terminal that a key is given to show what it did."""

pytestmark = pytest.mark.skipif(
    TMUX is None, reason="tmux is not installed: NO REAL TERMINAL TRIED"
)


class Terminal:
    """A real terminal with one program in it."""

    def __init__(self, folder: Path, command: str, environment: dict[str, str]) -> None:
        self._socket = str(folder / "tmux")
        named = [f"{name}={value}" for name, value in environment.items()]
        line = shlex.join(["env", *named]) + f" {command}; echo left with $?; cat"
        size = ("-x", "120", "-y", "34")
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, line)
        self._tmux("resize-window", *size)
        self._last = 0.0

    def press(self, *keys: str) -> None:
        """Press one key after the other, no faster than a person does."""
        for key in keys:
            self.until(lambda _: time.monotonic() - self._last > PACE)
            self._last = time.monotonic()
            self._tmux("send-keys", key)

    def until(self, done: Callable[[str], bool]) -> str:
        """Look until something is seen; return what is seen then."""
        shown = ""
        for _ in range(TURNS):
            shown = self._tmux("capture-pane", "-p")
            if done(shown):
                return shown
        raise AssertionError(f"not seen in this:\n{shown}")

    def see(self, *words: str) -> str:
        """Look until all of these words are there."""
        return self.until(lambda shown: all(word in " ".join(shown.split()) for word in words))

    def leave(self) -> None:
        """Press q until the program has gone: one that comes in a burst counts for nothing."""
        last = 0.0

        def left(shown: str) -> bool:
            nonlocal last
            if "left with 0" in " ".join(shown.split()):
                return True
            if time.monotonic() - last > LEAVING:
                last = time.monotonic()
                self._tmux("send-keys", "q")
            return False

        self.until(left)

    def raw(self) -> str:
        """What is shown, with its colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def close(self) -> None:
        """End it."""
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            [str(TMUX), "-S", self._socket, *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout


class Demo:
    """A kept demo: a workspace with a queue, and where its settings and state are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.environment = {
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "HOME": os.environ["HOME"],
        }

    def waiting(self) -> list[Candidate]:
        """What waits."""
        return Pending(self.workspace / "pending").all()

    def lines(self) -> str:
        """All of the knowledge base but its README."""
        folder = self.workspace / "knowledge_base"
        topics = [one for one in sorted(folder.glob("*.md")) if one.name != "README.md"]
        return "\n".join(one.read_text(encoding="utf-8") for one in topics)

    def decisions(self) -> list[str]:
        """The actions in the ledger, in order, an intent and its end as one."""
        (chain,) = (self.workspace / "ledger").glob("*.jsonl")
        steps = [json.loads(line) for line in chain.read_text(encoding="utf-8").splitlines()]
        return [one["action"] for one in steps if one["phase"] == "intent" or not one.get("after")]


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    """A workspace over invented sessions, with a queue."""
    made = subprocess.run(
        [str(DREAMING), "demo", "--keep", str(tmp_path / "demo")], capture_output=True, check=True
    )
    assert made.returncode == 0
    return Demo(tmp_path / "demo")


@pytest.fixture
def sit(demo: Demo) -> Iterator[Callable[..., Terminal]]:
    """Open terminals that are closed again."""
    opened: list[Terminal] = []

    def start(command: str = "review", **environment: str) -> Terminal:
        words = [str(DREAMING), *command.split(), "--workspace", str(demo.workspace)]
        found = Terminal(demo.folder, shlex.join(words), demo.environment | environment)
        opened.append(found)
        return found

    yield start
    for one in opened:
        one.close()


def test_a_morning(demo: Demo, sit: Callable[..., Terminal]) -> None:
    """Accept, edit, reject, later, merge and undo by keys alone; every folder is as they say."""
    first, second, third, fourth, fifth, *rest = demo.waiting()
    terminal = sit()
    terminal.see(f"> {first.slug}", "Would be written to")
    terminal.press("a")
    terminal.see(f"accepted {first.slug}", f"> {second.slug}")
    assert first.rule[:20].replace("`", "") in demo.lines().replace("`", "")

    terminal.press("e")
    terminal.see("Tab next field")
    terminal.press("Space", "N", "o", "w", ".", "Escape")
    terminal.see("a accept this")
    terminal.press("a")
    terminal.see(f"accepted {second.slug}", f"> {third.slug}")
    assert "Now. <!-- dreaming:" in demo.lines()

    terminal.press("x")
    terminal.see("Reject: why?")
    terminal.press("3")
    terminal.see(f"rejected {third.slug} (wrong)", f"> {fourth.slug}")

    terminal.press("s")
    terminal.see("until when?")
    terminal.press("2")
    terminal.see(f"put off {fourth.slug}", "1 put off", f"> {fifth.slug}")

    terminal.press("m")
    terminal.see("is the same as")
    terminal.press("m")
    terminal.see(f"merged {fifth.slug}")
    assert {one.id for one in demo.waiting()} == {one.id for one in rest}

    terminal.press("u")
    terminal.see("took back: merged", f"> {fifth.slug}")
    terminal.press("u")
    terminal.see("took back: put off", f"> {fourth.slug}")
    terminal.press("q")
    terminal.see("left with 0")
    assert {one.id for one in demo.waiting()} == {one.id for one in (fourth, fifth, *rest)}
    assert demo.lines().count("<!-- dreaming:") == 2
    assert demo.decisions() == ["accept", "edit", "reject", "later", "merge", "undo", "undo"]


def test_pasted_and_held_keys(demo: Demo, sit: Callable[..., Terminal]) -> None:
    """What tmux pastes decides nothing, with or without bracketed paste; a slow key decides."""
    before = [one.id for one in demo.waiting()]
    terminal = sit()
    terminal.see("Would be written to")
    terminal._tmux("send-keys", "-l", "aaxxssaa")
    terminal.see("Nothing was decided")
    terminal._tmux("set-buffer", "please accept all")
    terminal._tmux("paste-buffer", "-p")
    terminal.see("Nothing was decided")
    assert [one.id for one in demo.waiting()] == before
    terminal.leave()


def test_without_colour(sit: Callable[..., Terminal]) -> None:
    """NO_COLOR: the terminal gets no colour code at all."""
    terminal = sit(NO_COLOR="1")
    terminal.see("Would be written to")
    codes = {part.split("m")[0] for part in terminal.raw().split("\x1b[")[1:]}
    assert codes <= {"", "0", "1", "7", "39", "49", "2", "1;39", "1;49", "0;1", "0;7"}


def test_the_plain_form_under_a_terminal(demo: Demo, sit: Callable[..., Terminal]) -> None:
    """The linear form takes the same keys with Enter."""
    first, second, *_ = demo.waiting()
    terminal = sit("review --plain")
    terminal.see(f"Candidate 1 of 8: {first.slug}", "next, p previous:")
    terminal.press("a", "Enter")
    terminal.see(f"accepted {first.slug}", f"Candidate 1 of 7: {second.slug}")
    terminal.press("q", "Enter")
    terminal.see("left with 0")
    assert len(demo.waiting()) == 7


def test_an_agent_is_refused(demo: Demo, sit: Callable[..., Terminal]) -> None:
    """Inside a coding agent the review does not open, and says how a person goes on."""
    terminal = sit(CLAUDECODE="1")
    terminal.see("A person decides", "--i-am-a-person", "left with 4")
