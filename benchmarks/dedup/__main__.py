"""How well a reworded lesson is found again: ``python -m benchmarks.dedup``.

Each wording is asked for against a knowledge base that holds one other wording of it, all other
lessons in the same manner, and lessons that are about something else. A lesson is new where the
knowledge base holds no wording of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dreaming.known.near import PRECISE, SHOWN, Near, Said
from dreaming.lessons import same_key

HERE = Path(__file__).parent
ALLOWED = 0.02
"""Share of new lessons that may be stopped."""


def blocks(name: str) -> list[list[Said]]:
    """Return the blocks of a file: each one lesson in several wordings."""
    text = (HERE / name).read_text(encoding="utf-8").partition("\n\n")[2]
    return [
        [_said(line) for line in block.splitlines() if line.strip()]
        for block in text.split("\n\n")
        if block.strip()
    ]


def _said(line: str) -> Said:
    symptom, _, rule = line.partition(" | ")
    return Said(f"{symptom} {rule}", symptom, rule)


def reworded(lessons: list[list[Said]], others: list[Said]) -> Iterator[tuple[int, float]]:
    """Yield for each ordered pair of wordings the rank of the true one and its likeness."""
    for held in range(max(map(len, lessons))):
        base = [one[held % len(one)] for one in lessons] + others
        near = Near(base)
        for place, wordings in enumerate(lessons):
            for asked in wordings:
                if asked is base[place]:
                    continue
                found = near.closest(asked.symptom, asked.rule, len(base))
                ranks = [number for number, (where, _) in enumerate(found) if where == place]
                rank = ranks[0] if ranks else len(base)
                yield rank, found[rank][1] if ranks else 0.0


def new(lessons: list[list[Said]], others: list[Said]) -> Iterator[float]:
    """Yield for each lesson that the knowledge base does not hold the closest likeness."""
    for place, wordings in enumerate(lessons):
        base = [said for at, one in enumerate(lessons) if at != place for said in one]
        near = Near(base + others)
        for asked in wordings:
            yield max((like for _, like in near.closest(asked.symptom, asked.rule, 1)), default=0.0)
    for place, asked in enumerate(others):
        base = [said for one in lessons for said in one]
        near = Near(base + others[:place] + others[place + 1 :])
        yield max((like for _, like in near.closest(asked.symptom, asked.rule, 1)), default=0.0)


def dressed(rule: str) -> Iterator[str]:
    """Yield the same rule in other dress."""
    yield rule.upper()
    yield rule.replace("`", '"')
    yield f"“{rule.rstrip('.')}”!"
    yield rule.replace(" the ", " ").replace(" a ", " ")


def main() -> None:
    """Print the table."""
    lessons = blocks("lessons.txt")
    others = [said for block in blocks("new.txt") for said in block]
    pairs = list(reworded(lessons, others))
    closest = sorted(new(lessons, others), reverse=True)
    all_rules = [said.rule for one in lessons for said in one]
    same = [same_key(rule) == same_key(other) for rule in all_rules for other in dressed(rule)]
    count = sum(len(one) * (len(one) - 1) // 2 for one in lessons)
    print(f"{len(lessons)} lessons, {count} pairs of wordings, {len(closest)} new ones")
    print(f"same after normalising      {sum(same)} of {len(same)}")
    shown = sum(rank < SHOWN for rank, _ in pairs)
    print(f"true one among {SHOWN} shown     {shown} of {len(pairs)} = {shown / len(pairs):.1%}")
    first = sum(rank == 0 for rank, _ in pairs)
    print(f"true one first              {first} of {len(pairs)} = {first / len(pairs):.1%}")
    stopped = sum(likeness >= PRECISE for likeness in closest)
    print(f"new ones stopped at {PRECISE:.2f}    {stopped} = {stopped / len(closest):.1%}")
    caught = sum(likeness >= PRECISE for _, likeness in pairs)
    print(f"reworded ones stopped       {caught} = {caught / len(pairs):.1%}")
    print(
        f"lowest threshold that stops at most {ALLOWED:.0%}: above "
        f"{closest[int(ALLOWED * len(closest))]}"
    )


if __name__ == "__main__":
    main()
