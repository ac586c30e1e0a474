"""Decide, crash, mend, compare: ``python -m benchmarks.decisions [SEQUENCES] [FIRST SEED]``.

Each sequence is thirty decisions that a seed chooses, with at least five crashes spread over every
write of every decision and of the mending after it. After each decision the ledger, the knowledge
base and the queue are compared with a plain model. Ends with an error at the first difference.
"""

from __future__ import annotations

import sys
import time
from random import Random

from tests.jobs.test_decide_machine import WORDS, Blow, Decisions

DECISIONS = 30
CRASHES = 5


def blow(random: Random) -> Blow:
    """When the machine goes down, in two of three decisions."""
    if random.random() < 1 / 3:
        return Blow()
    return Blow(
        random.randint(1, 22),
        random.randint(0, 14),
        torn=random.random() < 0.5,
        after=random.random() < 0.5,
    )


def step(machine: Decisions, random: Random) -> None:
    """One decision, and what must hold after it."""
    number, other, pick = (
        random.randrange(len(WORDS)),
        random.randrange(len(WORDS)),
        random.randrange(99),
    )
    when = blow(random)
    choices = [
        lambda: machine.accept(number, random.random() < 0.3, when),
        lambda: machine.accept_own(when),
        lambda: machine.reject(number, when),
        lambda: machine.later(number, random.randrange(3), when),
        lambda: machine.merge(number, other, when),
    ]
    if machine.lines():
        what = random.choice(["retire", "supersede", "merge"])
        choices.append(lambda: machine.about_a_lesson(pick, number, what, when))
    if machine.made:
        choices += [lambda: machine.undo_last(when), lambda: machine.undo_any(pick, when)]
    random.choice(choices)()
    machine.the_ledger_is_whole()
    machine.every_lesson_stands_once()
    machine.the_queue_is_what_is_undecided()


def sequence(seed: int) -> tuple[int, int]:
    """Run one sequence; return how many decisions were made, and how many crashes there were."""
    random = Random(seed)
    machine = Decisions()
    machine.begin()
    try:
        for _ in range(DECISIONS):
            step(machine, random)
        while machine.crashes < CRASHES:
            step(machine, random)
        return len(machine.made), machine.crashes
    except BaseException:
        print(f"seed {seed}")
        raise
    finally:
        machine.teardown()


def main() -> None:
    """Run the sequences and print what came of them."""
    count, first = (*map(int, sys.argv[1:3]), *(1000, 0)[len(sys.argv[1:3]) :])
    began = time.monotonic()
    results = [sequence(seed) for seed in range(first, first + count)]
    made, crashes = (sum(column) for column in zip(*results, strict=True))
    fewest = min(one for _, one in results)
    print(
        f"{count} sequences of {DECISIONS} attempts or more, {made} decisions made, "
        f"{crashes} crashes (at least {fewest} each), {time.monotonic() - began:.0f} s: all agree"
    )


if __name__ == "__main__":
    main()
