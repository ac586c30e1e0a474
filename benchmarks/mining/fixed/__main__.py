"""Prints how many of the fixed gotchas are flagged, and how many of the others.

    python -m benchmarks.mining.fixed [--half known|kept] [--show]

Exits with 1 where fewer than 80 % of the fixed are flagged, or more than 3 % of the others.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Final

from benchmarks.mining.fixed.generated import pairs
from benchmarks.mining.fixed.pairs import HALVES, across, read, reason

GENERATED: Final = "generated"
SETS: Final = (*HALVES, GENERATED)
LEAST: Final = 0.80
MOST: Final = 0.03


def main() -> int:
    """Put every pair through the job and count."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--half", choices=SETS)
    options.add_argument("--show", action="store_true", help="Name each pair that went wrong.")
    asked = options.parse_args()
    good = True
    for half in [asked.half] if asked.half else SETS:
        seen: Counter[str] = Counter()
        every: Counter[str] = Counter()
        for pair in pairs() if half == GENERATED else read(half):
            why = reason(pair)
            every[pair.fixed] += 1
            seen[pair.fixed] += bool(why)
            if asked.show and bool(why) is not bool(pair.fixed):
                print(f"  {'missed' if pair.fixed else 'wrongly'}: {pair.name} {why}")
        fixed = every.total() - every[""]
        share, wrongly = (seen.total() - seen[""]) / fixed, seen[""] / every[""]
        kinds = ", ".join(f"{one} {seen[one]}/{every[one]}" for one in sorted(every) if one)
        print(f"{half}: flagged {share:.2f} of {fixed} fixed ({kinds})")
        print(f"{half}: flagged {wrongly:.2f} of {every['']} others")
        good = good and share >= LEAST and wrongly <= MOST
    times, answers = across([*pairs(), *(pair for half in HALVES for pair in read(half))])
    print(f"across: {answers} of {times} questions about another repository's gotcha were answered")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
