from __future__ import annotations

import os
from pathlib import Path

import pytest

from dreaming.transcripts.claude_code import ClaudeCode
from dreaming.transcripts.codex import Codex
from dreaming.transcripts.interface import NotASession, Source, Transcript
from dreaming.transcripts.jsonl import Jsonl


def lay(folder: Path, *names: str) -> None:
    """Make small files of these names."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")


def listed(source: Source, folder: Path) -> dict[str, str]:
    """Return what a folder holds: the reason of each file, empty for a transcript."""
    return {
        os.fsencode(entry.path.relative_to(folder)).decode("utf-8", "replace"): (
            "" if isinstance(entry, Transcript) else entry.reason
        )
        for entry in source.list(folder)
    }


def test_every_file_of_a_claude_code_folder_is_a_transcript_or_has_a_reason(tmp_path: Path) -> None:
    """Nothing below the folder is passed over in silence."""
    lay(
        tmp_path,
        "-srv-shop/11.jsonl",
        "-srv-shop/11/subagents/agent-a1.jsonl",
        "-srv-shop/11/subagents/agent-a1.meta.json",
        "-srv-shop/11/subagents/agent-acompact-2.jsonl",
        "-srv-shop/11/subagents/agent-aprompt_suggestion-3.jsonl",
        "-srv-shop/11/subagents/workflows/w/agent-a4.jsonl",
        "-srv-shop/11/subagents/workflows/w/journal.jsonl",
        "-srv-shop/11/tool-results/b.txt",
        "-srv-shop/sessions-index.json",
        "-srv-shop/memory/MEMORY.md",
        "history.jsonl",
        "odd/places/recordings/transcript.jsonl",
        "notes.txt",
    )
    assert listed(ClaudeCode(), tmp_path) == {
        "-srv-shop/11.jsonl": "",
        "-srv-shop/11/subagents/agent-a1.jsonl": "",
        "-srv-shop/11/subagents/agent-a1.meta.json": "agent metadata",
        "-srv-shop/11/subagents/agent-acompact-2.jsonl": "",
        "-srv-shop/11/subagents/agent-aprompt_suggestion-3.jsonl": "machine-made helper agent",
        "-srv-shop/11/subagents/workflows/w/agent-a4.jsonl": "",
        "-srv-shop/11/subagents/workflows/w/journal.jsonl": "journal",
        "-srv-shop/11/tool-results/b.txt": "tool output",
        "-srv-shop/sessions-index.json": "index",
        "-srv-shop/memory/MEMORY.md": "memory",
        "history.jsonl": "prompt history",
        "odd/places/recordings/transcript.jsonl": "",
        "notes.txt": "not a transcript",
    }


def test_every_file_of_a_codex_folder_is_a_transcript_or_has_a_reason(tmp_path: Path) -> None:
    """Archived, compressed and very old threads are told apart."""
    lay(
        tmp_path,
        "sessions/2026/05/04/rollout-2026-05-04T10-00-00-1.jsonl",
        "sessions/2026/05/04/rollout-2026-05-04T10-00-00-2.jsonl.zst",
        "sessions/rollout-2025-01-01-3.json",
        "history.jsonl",
        "session_index.jsonl",
        "state_5.sqlite",
    )
    assert sorted(listed(Codex(), tmp_path).values()) == [
        "",
        "compressed",
        "index",
        "not a transcript",
        "prompt history",
        "rollout of an old form",
    ]


def test_the_listing_is_sorted_and_carries_what_the_system_says(tmp_path: Path) -> None:
    """The order is the same each night, whatever order the file system has."""
    lay(tmp_path, "b.jsonl", "a.jsonl", "c/d.jsonl")
    entries = list(Jsonl().list(tmp_path))
    assert [entry.path.name for entry in entries] == ["a.jsonl", "b.jsonl", "d.jsonl"]
    first = entries[0]
    assert isinstance(first, Transcript)
    status = first.path.stat()
    assert (first.inode, first.size, first.modified_ns) == (
        status.st_ino,
        3,
        status.st_mtime_ns,
    )


def test_links_that_lead_back_end_and_no_file_is_listed_twice(tmp_path: Path) -> None:
    """A folder or file with several names is read once; a loop ends with a reason."""
    lay(tmp_path, "real/a.jsonl")
    (tmp_path / "real" / "up").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "real")
    (tmp_path / "twin.jsonl").symlink_to(tmp_path / "real" / "a.jsonl")
    (tmp_path / "self.jsonl").symlink_to(tmp_path / "self.jsonl")
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    entries = list(Jsonl().list(tmp_path))
    assert sum(isinstance(entry, Transcript) for entry in entries) == 1
    reasons = {e.path.name: e.reason for e in entries if isinstance(e, NotASession)}
    assert reasons["up"] == "symbolic link loop"
    assert reasons["self.jsonl"] == "symbolic link loop"
    assert reasons["broken.jsonl"].startswith("cannot be read: ")


def test_names_that_are_no_text_are_listed(tmp_path: Path) -> None:
    """A file name may hold any bytes, a line end among them."""
    for name in (b"caf\xe9.jsonl", b"line\nend.jsonl"):
        try:
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("{}\n")
        except OSError:
            pytest.skip("this file system takes only text for names")
    assert len(list(Jsonl().list(tmp_path))) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_folder_that_may_not_be_read_is_said_so(tmp_path: Path) -> None:
    """What cannot be listed is yielded with the system's reason, and the rest is listed."""
    lay(tmp_path, "closed/a.jsonl", "open/b.jsonl")
    (tmp_path / "closed").chmod(0)
    try:
        assert listed(Jsonl(), tmp_path) == {
            "closed": "cannot be read: Permission denied",
            "open/b.jsonl": "",
        }
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_a_folder_that_is_none_is_an_error_of_the_system(tmp_path: Path) -> None:
    """A missing folder and a file in its place are told by the error's class."""
    with pytest.raises(FileNotFoundError):
        list(Jsonl().list(tmp_path / "missing"))
    lay(tmp_path, "file.jsonl")
    with pytest.raises(NotADirectoryError):
        list(Jsonl().list(tmp_path / "file.jsonl"))


def test_the_agents_own_settings_name_the_folders() -> None:
    """Default places follow the environment that the agent itself follows."""
    home = Path("/home/x")
    assert ClaudeCode().default_folders({}, home)[0] == home / ".claude" / "projects"
    moved = ClaudeCode().default_folders({"CLAUDE_CONFIG_DIR": "/c"}, home)
    assert moved == [Path("/c/projects")]
    assert Codex().default_folders({"CODEX_HOME": "/k"}, home) == [
        Path("/k/sessions"),
        Path("/k/archived_sessions"),
    ]
    assert Jsonl().default_folders({}, home) == []
