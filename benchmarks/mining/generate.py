"""Writes a corpus of invented sessions with planted gotchas, and the truth about them.

    python -m benchmarks.mining.generate FOLDER [--seed 1] [--sessions 60]

``FOLDER`` gets ``claude/projects`` and ``codex/sessions`` as the agents lay them out, ``kb`` with
lessons that are known already, and ``truth.json``, which no miner may see. What is planted stands
in ``families.toml``. The same seed gives the same bytes. Nothing is taken from anybody's session.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts" / "make_sample"))
import claude_code
import codex
from story import Step, Story, parse, stamp

PLANTS: Final = Path(__file__).with_name("families.toml")
FIRST_DAY: Final = "2026-11-02T08:00"
NIGHTS: Final = 5
RECURRING, SINGLE, KNOWN = 10, 3, 3
"""How many families of a corpus recur, show in one session only, and are known already."""
PROJECTS: Final = ("harbour-api", "harbour-web", "harbour-jobs")
CODEX_SHARE: Final = 0.3

_SLOT: Final = re.compile(r"\{(\w+)\}")
_WORDS: Final = {
    "mod": "billing search export auth intake catalog notify ledger media quota routing audit",
    "file": "table header rules pages digest slots rates batches owners events windows months",
    "branch": "fix/bounds feat/filter chore/tidy fix/empty feat/grid feat/import fix/rounding",
    "pkg": "tiny-router date-kit chart-mini form-press left-rail glob-lite",
}
_SYLLABLES: Final = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu".split()
_ASKS: Final = (
    "Add a {word} view to {mod}.",
    "The {mod} page is slow when there are many {word} rows, please look into it.",
    "Move {word} out of {mod} into a file of its own.",
    "We need {word} in the {mod} report by tomorrow.",
)
_FILLERS: Final = (
    "search: def {word}\nok: src/{mod}/{file}.py:{n}:def {word}(rows):",
    "read src/{mod}/{file}.py\nok: def {word}(rows):\\n    return [r for r in rows if r.{word}]",
    "edit src/{mod}/{file}.py: return rows => return rows[:{n}]\nok:",
    "run: git status --short\nok:  M src/{mod}/{file}.py",
    "run: pytest tests/test_{mod}.py -q\nok: {n} passed in 1.4s",
    "run: pnpm vitest run {mod}\nok: {n} passed",
    "model: {mod} keeps its {word} in src/{mod}/{file}.py, so that is the place for it.",
)
_ALIKE: Final = {"search": "run", "script": "person"}
"""What a Codex thread has in the place of a step that it does not know."""


@dataclass
class Session:
    """One session in the making."""

    number: int
    agent: str
    project: str
    start: datetime
    night: int
    features: list[str]
    parts: list[tuple[str, str]] = field(default_factory=list)
    """(label, steps in the notation of ``families.toml``)."""
    scripted: bool = False


def read_plants() -> dict[str, list[dict[str, Any]]]:
    """Return families and decoys."""
    return tomllib.loads(PLANTS.read_text(encoding="utf-8"))


def generate(folder: Path, seed: int, count: int) -> dict[str, Any]:
    """Write a corpus and return its truth."""
    rng = random.Random(f"gotchas {seed}")
    plants = read_plants()
    sessions = _empty_sessions(rng, count)
    truth = _plant(rng, sessions, plants["family"])
    _fill(rng, sessions, plants["decoy"])
    labels = {}
    for session in sessions:
        native, path, lines, label = _write(rng, session)
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        labels[native] = {"file": path, "night": session.night, "labels": label}
    known = [one for one in plants["family"] if truth[one["name"]] == "known"]
    (folder / "kb").mkdir()
    lines = [f"- [2026-10-01] SYMPTOM: {one['known']} RULE: {one['known']}\n" for one in known]
    (folder / "kb" / "workflow.md").write_text("".join(lines), encoding="utf-8")
    told = {"families": _told(plants["family"], truth, labels), "sessions": labels}
    (folder / "truth.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    return told


def _empty_sessions(rng: random.Random, count: int) -> list[Session]:
    features = {project: [_word(rng) for _ in range(3)] for project in PROJECTS}
    found = []
    for number in range(count):
        project, night = rng.choice(PROJECTS), number * NIGHTS // count + 1
        start = datetime.fromisoformat(FIRST_DAY) + timedelta(
            days=night - 1, minutes=7 * (number % (count // NIGHTS + 1))
        )
        agent = "codex" if rng.random() < CODEX_SHARE else "claude-code"
        found.append(Session(number, agent, project, start, night, features[project]))
    return found


def _plant(
    rng: random.Random, sessions: list[Session], families: list[dict[str, Any]]
) -> dict[str, str]:
    """Put gotchas into sessions; return what each family is: recurring, single, known, absent."""
    order = rng.sample(families, len(families))
    fates = ["recurring"] * RECURRING + ["single"] * SINGLE + ["known"] * KNOWN
    fates += ["absent"] * (len(order) - len(fates))
    for family, fate in zip(order, fates, strict=True):
        times = {"absent": 0, "single": 1, "known": 3}.get(fate)
        if times is None:
            times = rng.choice((2, 2, 2, 3, 3, 3, 4, 5, 6, 2))
        ways = rng.sample(family["ways"], len(family["ways"]))
        scripted = ways[0].startswith("script:")
        fitting = [one for one in sessions if not (one.scripted or (scripted and one.parts))]
        for place, session in enumerate(rng.sample(fitting, times)):
            steps = ways[place % len(ways)].strip()
            session.parts.append((family["name"], steps))
            if scripted:
                session.scripted, session.agent = True, "claude-code"
            elif fate == "single" and rng.random() < 0.5:
                session.parts.append((family["name"], ways[1].strip()))
    return {family["name"]: fate for family, fate in zip(order, fates, strict=True)}


def _fill(rng: random.Random, sessions: list[Session], decoys: list[dict[str, Any]]) -> None:
    """Give every session ordinary work, and things that look like gotchas."""
    for session in sessions:
        if session.scripted:
            continue
        for decoy in rng.choices(decoys, k=rng.randint(2, 5)):
            session.parts.append((f"decoy: {decoy['kind']}", rng.choice(decoy["steps"])))
        session.parts += [("", text) for text in rng.choices(_FILLERS, k=rng.randint(5, 14))]
        rng.shuffle(session.parts)
        session.parts.insert(0, ("", f"person: {rng.choice(_ASKS)}"))
        session.parts.append(("", "model: Done; {mod} has its {word} now."))


def _write(
    rng: random.Random, session: Session
) -> tuple[str, str, list[str], list[tuple[int, str]]]:
    """Return native id, path, lines, and the label of each labelled line, counted from 1."""
    story, labels = _story(rng, session)
    if session.agent == "codex":
        native, path = codex.thread_id(story), f"codex/sessions/{codex.path_of(story)}"
        records = codex.Writer(story).write()
    else:
        native = claude_code.session_id(story)
        path = f"claude/projects/{claude_code.path_of(story, None)}"
        records = claude_code.Writer(story).write()
    marked = [
        (number, labels[record["timestamp"]])
        for number, record in enumerate(records, start=1)
        if record.get("timestamp") in labels
    ]
    return native, path, [json.dumps(record, ensure_ascii=False) for record in records], marked


def _story(rng: random.Random, session: Session) -> tuple[Story, dict[str, str]]:
    """Return the story of a session, and the label of each instant that has one."""
    head = {
        "agent": session.agent,
        "project": session.project,
        "title": f"Session {session.number}",
        "start": session.start.isoformat(),
    }
    if session.scripted:
        head["entrypoint"] = "sdk-cli"
    texts, owners = [], []
    for label, part in session.parts:
        steps = list(_steps(_filled(rng, session, part), session.agent))
        texts += steps
        owners += [label] * len(steps)
    lines = "\n".join(f"{key}: {value}" for key, value in head.items())
    story = parse(f"{session.number:03} {rng.random()}", lines + "\n\n" + "\n".join(texts))
    return story, {stamp(step.at): label for step, label in _owned(story, owners) if label}


def _owned(story: Story, owners: list[str]) -> Iterator[tuple[Step, str]]:
    return zip(story.steps, owners, strict=True)


def _filled(rng: random.Random, session: Session, text: str) -> str:
    """Return a text with its slots filled, one slot the same throughout."""
    values = {name: rng.choice(words.split()) for name, words in _WORDS.items()}
    values["word"] = rng.choice(session.features) if rng.random() < 0.3 else _word(rng)
    values |= {"n": str(rng.randint(12, 989)), "sha": f"{rng.getrandbits(28):07x}"}
    return _SLOT.sub(lambda found: values.get(found[1], found[0]), text)


def _word(rng: random.Random) -> str:
    return "".join(rng.sample(_SYLLABLES, 3))


def _steps(text: str, agent: str) -> Iterator[str]:
    """Yield the steps of a part as a story has them."""
    for line in text.splitlines():
        head, _, said = line.partition(":")
        kind, _, argument = head.partition(" ")
        if kind == "edit":
            said = said.replace(" => ", "\n----\n")
        said = said.replace("\\n", "\n").strip()
        if agent == "codex" and kind == "search":
            said = f"rg -n '{said}'"
        kind = _ALIKE.get(kind, kind) if agent == "codex" else kind
        yield f"[{kind}{' ' * bool(argument)}{argument}]\n{said}"


def _told(
    families: list[dict[str, Any]], fates: dict[str, str], sessions: dict[str, Any]
) -> list[dict[str, Any]]:
    return [
        {
            "name": family["name"],
            "kind": family["kind"],
            "rule": family["rule"],
            "fix": family["fix"],
            "fate": fates[family["name"]],
            "sessions": sorted(
                native
                for native, one in sessions.items()
                if any(label == family["name"] for _, label in one["labels"])
            ),
        }
        for family in families
    ]


def main() -> None:
    """Read the arguments and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--sessions", type=int, default=60)
    asked = options.parse_args()
    told = generate(asked.folder, asked.seed, asked.sessions)
    counted = [one["fate"] for one in told["families"]]
    print(", ".join(f"{fate} {counted.count(fate)}" for fate in dict.fromkeys(sorted(counted))))


if __name__ == "__main__":
    main()
