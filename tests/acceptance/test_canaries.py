"""Sixty credentials go in and none comes out; nor does anybody's name. Each stage is needed.

Seen from outside: whatever lies in the home after two nights, whatever was said, whatever was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from dreaming.jobs import reading, unattended
from dreaming.jobs.reading import Reader
from dreaming.redaction.engine import Scanner
from tests.acceptance.canaries import FAMILIES, leaks, plant
from tests.acceptance.installed import Here

NIGHT: Final = ("nightly", "--since", "all", "--settle", "0")


def _nights(home: Path, *more: str) -> str:
    """Two nights, and everything that can be asked for after them; return all that was said."""
    here = Here(home)
    told = [here.run("init")]
    (here.workspace / "dreaming.toml").write_text('[retention]\nsessions = "forever"\n', "utf-8")
    told += [here.run(*NIGHT, *more), here.run(*NIGHT, *more, "--json")]
    told += [here.run(*one) for one in (("status",), ("reveal", "--all", "--json"))]
    return "".join(one.said for one in told)


def test_no_canary_is_left(home: Path) -> None:
    """Without a model nothing of any planted value is left anywhere."""
    planted = plant(home)
    assert len(planted.values) == FAMILIES + 1
    said = _nights(home)
    assert leaks(planted, home, said) == set()


def _crashing(patch: pytest.MonkeyPatch) -> None:
    """Let something unexpected happen, whose message quotes what was being read."""

    def broken(self: Scanner, data: bytes, first_line: int) -> None:
        raise ValueError(data.decode())

    patch.setattr(Scanner, "feed", broken)


def test_a_crash_tells_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said and kept of an unexpected end holds no word of what was being read."""
    planted = plant(home)
    _crashing(monkeypatch)
    said = _nights(home)
    assert "crash-" in said
    assert leaks(planted, home, said) == set()


Patch = Callable[[pytest.MonkeyPatch], None]


def _unscanned(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Scanner, "finish", lambda self: ())


def _unrefused(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reading, "_refusal", lambda hits: None)


def _unredacted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reader, "redact", lambda self, session: session)


def _ungated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reader, "_scanned", lambda self, session: ())


def _counted(patch: pytest.MonkeyPatch) -> None:
    plain = reading._unknown
    patch.setattr(reading, "_unknown", lambda session, refused: plain(session, refused=False))


def _talkative(patch: pytest.MonkeyPatch) -> None:
    _crashing(patch)
    patch.setattr(unattended, "frames", lambda wrong: [str(wrong)])


MUTANTS: Final[dict[str, Patch]] = {
    "transcripts are not scanned": _unscanned,
    "a refusal is not heeded": _unrefused,
    "turns are not redacted": _unredacted,
    "what was put together is not scanned again": _ungated,
    "unknown records of a refused transcript are named": _counted,
    "a report of a crash quotes its message": _talkative,
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_stage_is_needed(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With any one stage skipped a canary is found: so the test above can fail."""
    planted = plant(home)
    MUTANTS[name](monkeypatch)
    found = leaks(planted, home, _nights(home))
    assert found
