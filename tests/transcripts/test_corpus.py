from __future__ import annotations

from pathlib import Path

import pytest

from dreaming.models.session import Speaker, TurnKind
from dreaming.transcripts.claude_code import ClaudeCode
from dreaming.transcripts.codex import Codex
from dreaming.transcripts.interface import Source, Transcript
from dreaming.transcripts.reading import blocks


@pytest.mark.shared
@pytest.mark.parametrize("source", [ClaudeCode(), Codex()], ids=["claude-code", "codex"])
def test_real_transcripts_give_turns(source: Source, shared: Path) -> None:
    """Nearly every real file is a session, with little in it that nobody taught us."""
    files = sessions = lines = unknown = unreadable = 0
    for entry in source.list(shared / "corpus" / source.agent):
        if isinstance(entry, Transcript):
            parser = source.parser(entry)
            for block in blocks(entry.path):
                parser.feed(block)
            found = parser.finish()
            files, sessions = files + 1, sessions + bool(found.turns)
            lines, unreadable = lines + found.lines, unreadable + found.unreadable_lines
            unknown += sum(found.unknown_records.values())
            for turn in found.turns:
                by_people = turn.speaker is Speaker.HUMAN
                assert not by_people or turn.kind in (TurnKind.USER, TurnKind.INTERRUPTION)
    assert sessions >= 0.9 * files > 0
    assert unreadable <= lines / 1000
    assert unknown <= lines / 200
