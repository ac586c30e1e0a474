"""The second look at findings: what different nights worded differently becomes one.

Nothing new is claimed by it. What a model calls the same gets the words of the statement that most
sessions stand behind, as one more finding each; the first ones stay as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Final

import msgspec

from dreaming.aggregation import Joined, join
from dreaming.jobs.asking import Asked, Asker
from dreaming.models.finding import Finding
from dreaming.similarity import overlap, telling
from dreaming.stores.history import History
from dreaming.stores.state import State
from dreaming.tasks.joining import Statement

ROOM: Final = 20_000
"""Most tokens of statements in one question."""
CHUNK: Final = 500
"""How many excerpts are looked up at once."""
SHOWN: Final = "findings looked at together"
"""Where the state keeps which findings were put to a model."""


def live(history: History) -> list[Finding]:
    """Return the findings that rest on evidence of the workspace's projects."""
    findings = [one for one in history.findings() if one.rule]
    ids = sorted({id_ for one in findings for id_ in one.evidence})
    kept = {
        one.id
        for start in range(0, len(ids), CHUNK)
        for one in history.some(ids[start : start + CHUNK])
    }
    return [one for one in findings if kept.intersection(one.evidence)]


def second_look(
    asker: Asker, state: State, findings: Sequence[Finding], prompt: str, now: float
) -> Asked | None:
    """Ask which statements are about one gotcha, and return what to settle.

    ``None`` where nothing was said since the last time. Raises what the backend raises; what a
    question cost is kept with its answer, and nothing is asked twice.
    """
    bundles = _apart(join(findings, {id_: id_ for one in findings for id_ in one.evidence}))
    shown = set(json.loads(state.get(SHOWN) or "[]"))
    fresh = [
        number
        for number, bundle in enumerate(bundles)
        if not shown.issuperset(map(_mark, bundle.findings))
    ]
    if not fresh or len(bundles) < 2:
        return None
    chosen = _chosen(bundles, fresh)
    looked = asker.join([_statement(bundles[number]) for number in chosen], prompt, now)
    asked = looked.asked
    for places in looked.same:
        same = [bundles[chosen[place]] for place in places]
        asked.findings += [(looked.request, one) for one in _in_one_voice(same)]
    return asked


def remember(state: State, findings: Sequence[Finding]) -> None:
    """Note that these findings were looked at together."""
    state.put(SHOWN, json.dumps(sorted(map(_mark, findings))))


def _apart(bundles: Sequence[Joined]) -> list[Joined]:
    """Return the bundles without those whose evidence another one holds, in a stable order."""
    left = [
        one
        for one in bundles
        if not any(set(one.excerpts) < set(other.excerpts) for other in bundles)
    ]
    return sorted(left, key=lambda one: (one.excerpts, one.slug))


def _chosen(bundles: Sequence[Joined], fresh: Sequence[int]) -> list[int]:
    """Return the numbers of the fresh statements and of the old ones most like them, as fit."""
    words = [frozenset(telling(f"{one.rule} {one.symptom}")) for one in bundles]

    def near(number: int) -> float:
        return max(overlap(words[number], words[new]) for new in fresh)

    old = sorted(set(range(len(bundles))) - set(fresh), key=lambda number: (-near(number), number))
    left, chosen = ROOM, []
    for number in [*fresh, *old]:
        left -= _statement(bundles[number]).tokens
        if left < 0:
            break
        chosen.append(number)
    return sorted(chosen)


def _statement(one: Joined) -> Statement:
    return Statement(tuple(sorted(one.sessions)), one.slug, one.topic, one.symptom, one.rule)


def _in_one_voice(same: Sequence[Joined]) -> list[Finding]:
    """Return the findings of all these bundles in the words of the one most sessions stand for."""
    speaks = max(same, key=lambda one: (len(one.sessions), len(one.rule), one.slug, one.rule))
    words = {
        "slug": speaks.slug,
        "topic": speaks.topic,
        "symptom": speaks.symptom,
        "rule": speaks.rule,
    }
    return [
        msgspec.structs.replace(finding, **words)
        for one in same
        if one is not speaks
        for finding in one.findings
    ]


def _mark(one: Finding) -> str:
    told = json.dumps([one.session_id, one.slug, one.rule, one.evidence])
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]
