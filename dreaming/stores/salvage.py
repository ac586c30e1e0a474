"""What a new state takes over from one that is to be made anew, as far as that can be read.

Only what nothing else tells: decisions' evidence, what waited and when, runs, what requests cost,
and everything of transcripts that are gone or lie where nobody looks now. What transcripts still
tell is read from them again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from pathlib import Path
from typing import Final

import msgspec

from dreaming.due import Standing
from dreaming.stores.state import State

_WHOLE: Final = ("projects", "published", "kept", "runs")
_OF_TRANSCRIPTS: Final = ("cursors", "excerpts", "vocabulary", "hits")
_NOT_MEANT: Final = ("key", "watermark", "evidence", "queue made", "running")
"""Remembered values that hold for the old state only."""
_CHUNK: Final = 500


class Salvaged(msgspec.Struct):
    """What was taken over."""

    older: set[tuple[str, bytes]] = msgspec.field(default_factory=set)
    """Transcripts that waited, older than the first night."""
    gone: int = 0
    """Transcripts that are gone, or not where is looked, and whose evidence was taken over."""
    unreadable: list[str] = msgspec.field(default_factory=list)
    """Tables of the old state of which something could not be read."""


def salvage(old: Path, new: State, there: Collection[tuple[str, bytes]]) -> Salvaged:
    """Take over what only the old state tells; the new one must be empty.

    ``there`` are the transcripts, by agent and path, that can be read again. Never raises for what
    the old state is like.
    """
    result = Salvaged()
    source = sqlite3.connect(f"{old.as_uri()}?mode=ro", uri=True)
    try:
        for table in _WHOLE:
            _copy(source, new, table, "", (), result)
        marks = ", ".join("?" * len(_NOT_MEANT))
        _copy(source, new, "meta", f"where key not in ({marks})", _NOT_MEANT, result)
        _copy(source, new, "requests", "where outcome != 'withdrawn'", (), result)
        gone = _gone(source, there, result)
        for at in range(0, len(gone), _CHUNK):
            some = gone[at : at + _CHUNK]
            among = f"in ({', '.join('?' * len(some))})"
            rows = [row for row, _ in some]
            if not _copy(source, new, "transcripts", f"where id {among}", rows, result):
                continue
            for table in _OF_TRANSCRIPTS:
                _copy(source, new, table, f"where transcript {among}", rows, result)
            sessions = [session for _, session in some]
            _copy(source, new, "findings", f"where session_id {among}", sessions, result)
            result.gone += len(some)
        new.count_all_terms()
        result.older = _older(source)
    finally:
        source.close()
    return result


def _gone(
    source: sqlite3.Connection, there: Collection[tuple[str, bytes]], result: Salvaged
) -> list[tuple[int, str]]:
    """The rows and sessions of the transcripts that are no longer there."""
    try:
        rows = source.execute(
            "select id, session_id, agent, path from transcripts where session_id != ''"
        ).fetchall()
    except sqlite3.DatabaseError:
        result.unreadable.append("transcripts")
        return []
    return [(row, session) for row, session, *one in rows if tuple(one) not in there]


def _older(source: sqlite3.Connection) -> set[tuple[str, bytes]]:
    try:
        rows = source.execute(
            "select agent, path from transcripts join cursors on id = transcript where reason = ?",
            [Standing.OLDER.value],
        )
        return set(rows)
    except sqlite3.DatabaseError:
        return set()


def _copy(
    source: sqlite3.Connection,
    new: State,
    table: str,
    where: str,
    values: tuple[str, ...] | list[int] | list[str],
    result: Salvaged,
) -> bool:
    """Copy the rows of a table that can be read; say where that ended too early."""
    try:
        rows = source.execute(f"select * from {table} {where}", values).fetchall()
    except sqlite3.DatabaseError as wrong:
        missing = str(wrong) == f"no such table: {table}"  # an earlier schema
        if table not in result.unreadable and not missing:
            result.unreadable.append(table)
        return False
    new.take_over(table, rows)
    return True
