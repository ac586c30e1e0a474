"""Findings of models about several sessions that say one thing become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from dreaming.models.finding import Finding
from dreaming.similarity import overlap, telling

VERY_SIMILAR: Final = 0.6
"""Rules with this share of their telling words in common say one thing."""


class Joined(msgspec.Struct, frozen=True):
    """What one or several findings say, in the words of the fullest."""

    findings: tuple[Finding, ...]
    excerpts: tuple[str, ...]
    sessions: frozenset[str]
    slug: str
    topic: str
    symptom: str
    rule: str
    backend: str


def join(findings: Sequence[Finding], stands_for: Mapping[str, str]) -> list[Joined]:
    """Return the findings of models, joined by slug or very similar rule.

    ``stands_for`` maps excerpt ids to those that are still there; a finding all of whose evidence
    is gone says nothing any more. Offline findings are dropped: their excerpts speak themselves.
    """
    live = sorted(
        (
            finding
            for finding in findings
            if finding.backend != "offline"
            and finding.rule
            and any(i in stands_for for i in finding.evidence)
        ),
        key=lambda f: (f.slug, f.session_id, f.rule, f.evidence),
    )
    bundles: list[list[Finding]] = []
    words: list[frozenset[str]] = []
    for finding in live:
        about = frozenset(telling(finding.rule))
        for place, bundle in enumerate(bundles):
            alike = overlap(about, words[place]) >= VERY_SIMILAR
            if finding.slug == bundle[0].slug or alike:
                bundle.append(finding)
                break
        else:
            bundles.append([finding])
            words.append(about)
    return [_joined(bundle, stands_for) for bundle in bundles]


def dismissed(findings: Sequence[Finding], stands_for: Mapping[str, str]) -> frozenset[str]:
    """Return the excerpts that a model called no lesson and that no finding rests on."""
    none = {
        stands_for[i] for one in findings if not one.rule for i in one.evidence if i in stands_for
    }
    kept = {stands_for[i] for one in findings if one.rule for i in one.evidence if i in stands_for}
    return frozenset(none - kept)


def _joined(bundle: Sequence[Finding], stands_for: Mapping[str, str]) -> Joined:
    speaks = max(bundle, key=lambda f: (len(f.evidence), len(f.rule), f.rule))
    ids = {stands_for[i] for finding in bundle for i in finding.evidence if i in stands_for}
    return Joined(
        findings=tuple(bundle),
        excerpts=tuple(sorted(ids)),
        sessions=frozenset(finding.session_id for finding in bundle),
        slug=speaks.slug,
        topic=speaks.topic,
        symptom=speaks.symptom,
        rule=speaks.rule,
        backend=speaks.backend,
    )
