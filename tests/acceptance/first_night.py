"""What the first night over the invented home must bring. Fails on emptiness of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

LESSONS: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    "files without an offset need a zone": (["--assume-tz"], ["offset-naive"]),
    "only the smoke tests": (["--project=smoke"], ["playwright", "forty minutes"]),
    "main only by pull request": (["pull request", "gh pr create"], ["main"]),
    "the style check has its own name": (["check:style"], ["lint"]),
    "a reviewer has no shell": (["Read, Grep and Glob", "files in the prompt"], ["git diff"]),
    "pnpm, not npm": (["use pnpm", "pnpm add"], ["npm", "lockfile"]),
    "the database is on another port": (["5439"], ["5432"]),
    "the client is generated": (["pnpm codegen"], ["schema.gen.ts"]),
}
"""Name; of what the rule must say one; what rule, symptom and evidence together must all say."""
ENOUGH: Final = 5


def check(report: Mapping[str, Any], revealed: Sequence[Mapping[str, Any]]) -> None:
    """Raise ``AssertionError`` where a first night was not what it must be."""
    check_account(report)
    assert report["verdicts"].get("processed", 0) >= 30
    assert report["verdicts"].get("excluded") == 2
    assert report["reasons"].get("excluded: private-key") == 1
    assert report["reasons"].get("excluded: github-token") == 1
    assert report["verdicts"].get("held") == 1
    assert report["reasons"].get("held: curl-user") == 1
    assert report["outcome"] == "advanced" and report["watermark"]
    assert report["queue"]["waiting"] == report["queue"]["new"] == len(revealed)
    found = named(revealed)
    assert len(found) >= ENOUGH, f"only {sorted(found)} of {sorted(LESSONS)}"
    for one in revealed:
        assert_readable(one)


def check_account(report: Mapping[str, Any]) -> None:
    """What became of the files adds up to what was found, by verdict and by reason."""
    assert sum(report["verdicts"].values()) == report["found"]
    assert sum(report["reasons"].values()) == report["found"]


def named(revealed: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the lessons that came out: name to candidate; no candidate stands for two."""
    found: dict[str, str] = {}
    for name, (wanted, around) in LESSONS.items():
        for one in revealed:
            quotes = [quote["quote"] for quote in one["evidence"]]
            text = "\n".join([one["symptom"], one["rule"], *quotes])
            spoken = any(word in one["rule"] for word in wanted)
            spoken = spoken and all(word in text for word in around)
            if spoken and one["id"] not in found.values():
                found[name] = one["id"]
                break
    return found


def assert_readable(one: Mapping[str, Any]) -> None:
    """A candidate: two sessions, evidence from two, and a rule that is one short sentence."""
    assert len(set(one["session_ids"])) >= 2
    assert len({quote["session_id"] for quote in one["evidence"]}) >= 2
    assert 15 <= len(one["rule"]) <= 200
    assert one["rule"][0].isupper() and one["rule"].endswith(".") and "\n" not in one["rule"]
