"""What agents delete by themselves is told before it is gone."""

import time
from pathlib import Path

import pytest
from freezegun import freeze_time

from dreaming.jobs.listing import Waits, look, preview
from dreaming.stores.state import opened
from dreaming.transcripts.claude_code import ClaudeCode
from dreaming.transcripts.codex import Codex

from .world import KEY, touch

DAY = 24 * 3600.0


@pytest.mark.parametrize(
    ("text", "days"),
    [
        (None, 30),
        ("{}", 30),
        ('{"cleanupPeriodDays": 365, "model": "x"}', 365),
        ('{"cleanupPeriodDays": 0}', 30),
        ('{"cleanupPeriodDays": "soon"}', 30),
        ("not json", 30),
        ("[" * 100_000, 30),
    ],
)
def test_claude_code_keeps_what_its_settings_say(
    tmp_path: Path, text: str | None, days: int
) -> None:
    """Thirty days where its settings name no number that it takes."""
    if text is not None:
        (tmp_path / "settings.json").write_text(text)
    assert ClaudeCode().keeps_days(tmp_path / "projects") == days


def test_copies_and_other_agents_transcripts_stay(tmp_path: Path) -> None:
    """Nobody cleans up a copy, and Codex deletes nothing."""
    assert ClaudeCode().keeps_days(tmp_path / "copies") is None
    assert Codex().keeps_days(tmp_path / "projects") is None


@freeze_time("2026-11-30 03:15:00")
def test_a_preview_says_what_goes_and_when(tmp_path: Path) -> None:
    """By agent: how many go within a week, how large they are, and when the next one goes."""
    folder = tmp_path / "projects"
    folder.mkdir()
    now = time.time()
    for name, age in (("a", 29.0), ("b", 25.0), ("c", 3.0)):
        (folder / f"{name}.jsonl").write_text("{}\n")
        touch(folder / f"{name}.jsonl", now - age * DAY)
    with opened(":memory:", key=KEY) as state:
        listing = look([(ClaudeCode(), folder)], state, Waits("r", 0.0, 14 * DAY), now)
        (loss,) = preview(listing, now).losses.values()
    assert (loss.days, loss.transcripts, loss.bytes, loss.unread) == (30, 2, 6, 2)
    assert loss.next == pytest.approx(now + DAY)
