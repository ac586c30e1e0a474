"""Taking back what rests on a transcript: refusal is retroactive, and reaches every copy.

What was derived from a session stands in several places: excerpts of moved copies, findings, raw
answers. All of it goes when a credential is found, in the transaction that notes the verdict.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from dreaming.models.report import Verdict
from dreaming.models.session import SessionKind

MOVED: Final = "moved; its copy is refused"


def moved_copies(connection: sqlite3.Connection, row: int, sessions: Iterable[str]) -> list[int]:
    """Return the other transcripts of these sessions that are gone from where they were read.

    A refused transcript that was moved (archived) left one of them behind. A subagent's transcript
    is a copy only where the name is the same.
    """
    found = []
    (own,) = connection.execute("select path from transcripts where id = ?", [row]).fetchone()
    for session in sorted(sessions):
        for other, path, kind in connection.execute(
            "select id, path, kind from transcripts where session_id = ? and id != ?",
            [session, row],
        ):
            same_name = os.path.basename(path) == os.path.basename(own)  # noqa: PTH119 -- bytes
            if (same_name or kind != SessionKind.SUBAGENT) and not Path(os.fsdecode(path)).exists():
                found.append(other)
    return found


def forget_excerpts(connection: sqlite3.Connection, transcript: int, verdict: Verdict) -> list[str]:
    """Delete the excerpts of a transcript that is gone and mark it; return their ids."""
    rows = connection.execute("select id from excerpts where transcript = ?", [transcript])
    ids = [str(id_) for (id_,) in rows]
    connection.execute("delete from excerpts where transcript = ?", [transcript])
    connection.execute(
        "update cursors set verdict = ?, reason = ? where transcript = ?",
        [verdict.value, MOVED, transcript],
    )
    return ids


def withdraw_findings(
    connection: sqlite3.Connection, sessions: Iterable[str], lost: Iterable[str]
) -> int:
    """Delete the findings of these sessions that rest on excerpts no transcript holds any more."""
    gone = {id_ for id_ in lost if not _is_kept(connection, id_)}
    return _delete_findings(connection, sessions, gone)


def withdraw_changed(
    connection: sqlite3.Connection, sessions: Iterable[str], changed: Iterable[str]
) -> None:
    """Delete the findings that rest on excerpts which say something else now."""
    _delete_findings(connection, sessions, set(changed))


def withdraw_answers(connection: sqlite3.Connection, sessions: Iterable[str]) -> int:
    """Mark every answer to a request that held one of these sessions; return how many are new."""
    number = 0
    for session in sorted(sessions):
        asked = connection.execute(
            "select hash from requests, json_each(sessions)"
            " where json_each.value = ? and outcome != 'withdrawn'",
            [session],
        ).fetchall()
        connection.executemany("update requests set outcome = 'withdrawn' where hash = ?", asked)
        number += len(asked)
    return number


def _delete_findings(
    connection: sqlite3.Connection, sessions: Iterable[str], evidence: set[str]
) -> int:
    number = 0
    for session in sorted(sessions) if evidence else ():
        for id_, rests_on in connection.execute(
            "select id, evidence from findings where session_id = ?", [session]
        ).fetchall():
            if evidence & set(json.loads(rests_on)):
                connection.execute("delete from findings where id = ?", [id_])
                number += 1
    return number


def _is_kept(connection: sqlite3.Connection, excerpt: str) -> bool:
    found = connection.execute("select 1 from excerpts where id = ? limit 1", [excerpt])
    return found.fetchone() is not None
