"""Which patterns a text may match is told by literal runs, and none that matches is passed over."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.motifs import swaps
from dreaming.motifs.admissions import ADMISSIONS, LIMITS
from dreaming.motifs.finder import Index, folded, runs
from dreaming.motifs.frames import FRAMES
from dreaming.motifs.outputs import MOTIFS
from dreaming.motifs.wishes import WISHES

SAID = [
    pattern
    for wish in (*WISHES, *ADMISSIONS, *LIMITS)
    for pattern in (wish.pattern, wish.after, wish.about, wish.review)
    if pattern
]
SAID += [side for frame in FRAMES.values() for side in (frame.before, frame.after) if side]
SAID += [*swaps.USE, *swaps.SAY]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("you forgot the tests?", {"you forgot the test"}),
        ("(?:un|not )tested", {"untested", "not tested"}),
        ("[Pp]ort \\d{2,5} is taken", {" is taken"}),
        ("kelp.{0,9}(?:reef)?(?!buoy)", {"kelp"}),
        ("reefs*(?:tide|buoy)+x?", {"reef"}),
        ("a\\.b\\b|\\(c\\)", {"a.b", "(c)"}),
        ("kelp|\\w+", set()),
    ],
)
def test_runs_of_a_pattern(pattern: str, expected: set[str]) -> None:
    """Alternatives are multiplied out; what may be absent or anything is no part of a run."""
    assert runs(pattern) == expected


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_match_has_a_run(data: st.DataObject) -> None:
    """Whatever text a pattern of the tables matches, one of its runs stands in it."""
    pattern, some = data.draw(
        st.sampled_from(
            [
                *((pattern, runs(pattern)) for pattern in SAID),
                *((motif.pattern, motif.runs) for motif in MOTIFS if not motif.hints),
            ]
        )
    )
    text = data.draw(st.from_regex(re.compile(pattern, re.MULTILINE | re.ASCII)))
    assert not some or any(run in text for run in some)


def test_patterns_for_words_are_in_lower_case() -> None:
    """They are for folded text, and have runs so that they are tried for few texts only."""
    plain = [re.sub(r"\\.|\(\?P", "", pattern) for pattern in SAID]
    assert [one for one in plain if folded(one) != one] == []
    assert [pattern for pattern in SAID if not runs(pattern)] == []


@given(st.text(max_size=30))
def test_folding_leaves_every_character_in_its_place(text: str) -> None:
    """What is found in a folded text stands at the same place in the text itself."""
    assert len(folded(text)) == len(text)


def test_an_index_names_those_whose_runs_stand_there() -> None:
    """In their order; who has no run always counts."""
    index = Index([("one", ["kelp", "буй"]), ("two", []), ("three", ["reef"])])
    assert index.near("a reef of kelp") == ["one", "two", "three"]
    assert index.near("у буя, буй \ud800") == ["one", "two"]
    assert index.near("") == ["two"]


def test_nothing_is_prepared_before_a_text_needs_it() -> None:
    """A night without news neither loads the matcher nor compiles the tables' patterns."""
    code = (
        "import sys\n"
        "import dreaming.signals, dreaming.aggregation\n"
        "from dreaming.motifs import wishes, outputs\n"
        "caches = (wishes._spoken, wishes._sides, outputs._index)\n"
        "print('hyperscan' in sys.modules, sum(one.cache_info().currsize for one in caches))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "0"]
