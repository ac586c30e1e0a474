"""What a person's words and a model's remarks are called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.models.finding import SignalKind
from dreaming.models.session import SessionKind, Tool
from dreaming.motifs import Moment, admissions, in_limits, in_remark, in_words, tell, wishes
from dreaming.motifs.frames import FRAMES, Wish
from tests.rules.session_samples import Talk

WORKED = Moment.WORK | Moment.DONE | Moment.COMMIT
WISHES = wishes.WISHES
ADMISSIONS = [*admissions.ADMISSIONS, *admissions.LIMITS]


def names(talk: Talk) -> set[str]:
    """What a session's excerpts are called."""
    return {name for excerpt in talk.found() for name in excerpt.names}


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.name)
def test_a_wish_sees_its_example_and_not_its_counterexample(wish: Wish) -> None:
    """Each entry of the table brings an example it must see and one it must not."""
    everything = ~Moment.FIRST
    assert wish.name in in_words(wish.sees, wish.moment)
    assert wish.name not in in_words(wish.passes, everything)


@pytest.mark.parametrize("fault", ADMISSIONS, ids=lambda fault: fault.name)
def test_an_admission_sees_its_example_and_not_its_counterexample(fault: Wish) -> None:
    """Each entry of the table brings an example it must see and one it must not."""
    ran = ["git diff --stat"]
    assert fault.name in in_remark(fault.sees, ran) | in_limits(fault.sees)
    assert fault.name not in in_remark(fault.passes, ran) | in_limits(fault.passes)


@pytest.mark.parametrize("name", sorted({one.name for one in [*WISHES, *ADMISSIONS]}))
def test_every_name_has_words(name: str) -> None:
    """A name tells symptom and rule, each one line of at most 200 characters, and frames exist."""
    told = tell(name, [])
    assert told is not None
    assert 20 < len(told.symptom) <= 200
    assert 20 < len(told.rule) <= 200
    assert re.fullmatch(r"[a-z][a-z0-9-]*", told.slug)
    assert 0 < told.worth <= 1
    assert told.roots >= 2
    assert all(frame in FRAMES for wish in WISHES for frame in wish.frames.split())


@pytest.mark.parametrize(
    "words",
    [
        "you forgot the unit tests",
        "where are the tests?",
        "does readLedger have tests?",
        "can we add a test?",
        "du hast die Tests vergessen",
        "où sont les tests ?",
        "faltan los tests",
        "cadê os testes?",
        "где тесты?",
        "你忘了写测试",
        "テストを忘れています",
        "테스트가 없어",
    ],
)
def test_one_wish_has_one_name_in_many_words_and_languages(words: str) -> None:
    """What people ask for again and again is called the same however they put it."""
    assert "tests-with-change" in in_words(words, WORKED)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("use bun, not npm", "use-bun-not-npm"),
        ("don't use `npm`, use bun", "use-bun-not-npm"),
        ("nutze bun statt npm", "use-bun-not-npm"),
        ("не npm, а bun: используй bun вместо npm", "use-bun-not-npm"),
        ("不要用npm,用bun", "use-bun-not-npm"),
        ("npmではなくbunを使って", "use-bun-not-npm"),
        ("npm 말고 bun 써", "use-bun-not-npm"),
        ("why are you using npm? use bun", "use-bun-not-npm"),
        ("instead of saying Kelp Reefs just say reefs", "say-reefs-not-kelp-reefs"),
        ("stop calling it Kelp Reefs, it's just reefs", "say-reefs-not-kelp-reefs"),
    ],
)
def test_a_name_takes_its_slots_from_the_words(words: str, name: str) -> None:
    """Sessions that want the same two things swapped meet in one name."""
    assert name in in_words(words, WORKED)


@pytest.mark.parametrize("words", ["use it instead of that", "use more names instead of letters"])
def test_vague_things_are_no_slots(words: str) -> None:
    """A pronoun or an ordinary phrase names no tool."""
    assert in_words(words, WORKED) == {}


def test_a_slot_is_spelled_as_the_person_spelled_it() -> None:
    """The rule shows the things as they were written, not as the name folds them."""
    talk = Talk("a").person("set it up").call("npm install")
    talk.person("no, use Docker-Compose, not podman").call("docker-compose up")
    (excerpt,) = talk.found()
    told = tell("use-docker-compose-not-podman", [excerpt])
    assert told is not None
    assert told.rule == "Use `Docker-Compose` instead of `podman`."


@pytest.mark.parametrize(
    "words", ["run the tests", "commit and push", "create a PR", "pull the latest", "continue"]
)
def test_a_plain_order_is_no_wish(words: str) -> None:
    """What a person orders once teaches nothing, also after work was done."""
    assert in_words(words, WORKED) == {}


def test_a_question_about_tests_counts_only_after_work() -> None:
    """Asked before anything was done it is a question, asked after a report of done a reminder."""
    asked = Talk("a").person("read the harbour list").call("cat harbour.py")
    asked.model("It lists harbours.").person("does it have tests?").call("ls harbour")
    worked = Talk("b").person("sort the harbour list")
    worked.call("harbour.py", tool=Tool.EDIT).model("Done, it is sorted now.")
    worked.person("does it have tests?").call("ls harbour")
    assert names(asked) == set()
    assert names(worked) == {"tests-with-change"}


def test_a_wish_needs_no_action_that_follows() -> None:
    """A named wish after a report of done is an excerpt although nothing was done again."""
    talk = Talk("a").person("sort it").call("harbour.py", tool=Tool.EDIT).model("Done.")
    (excerpt,) = talk.person("is there test coverage for this?").found()
    assert (excerpt.kind, excerpt.names) == (SignalKind.CORRECTION, ("tests-with-change",))
    assert [one.text for one in excerpt.quotations] == ["is there test coverage for this?"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Sort the list. You forgot the tests for it.", set()),
        ("Sort the list. Never commit without asking me.", {"no-unasked-commits"}),
        ("Sort the list. Then do an adversarial review of it.", {"review-own-work"}),
    ],
)
def test_a_first_prompt_counts_only_where_it_states_a_rule(words: str, expected: set[str]) -> None:
    """A task is no correction; a rule that holds always and an unusual order are wishes."""
    assert (
        names(Talk("a").person(words).call("ls -la")) & {*expected, "tests-with-change"} == expected
    )


def test_each_wish_in_a_persons_words_is_counted() -> None:
    """Two wishes in one turn are two excerpts, each with its own sentence."""
    talk = Talk("a").person("sort it").call("reef.py", tool=Tool.EDIT).model("Done.")
    talk.person("is there test coverage for this? the readme is outdated")
    assert {excerpt.names: excerpt.quotations[0].text for excerpt in talk.found()} == {
        ("tests-with-change",): "is there test coverage for this?",
        ("docs-with-change",): "the readme is outdated",
    }


def test_a_reviewers_words_count_wherever_a_person_hands_them_on() -> None:
    """A pasted review says the same kinds of thing; its own line is the quotation."""
    review = (
        "got this feedback:\n\nThe `sealLedger` function silently returns an empty result "
        "when the ledger is locked. Consider logging it.\n" + "It is read by `open_reef`.\n" * 40
    )
    (excerpt,) = Talk("a").person(review).call("ls -la").found()
    assert excerpt.names == ("no-swallowed-errors",)
    assert excerpt.quotations[0].text.startswith("The `sealLedger` function silently returns")


def test_a_pasted_failure_counts_after_a_report_of_done() -> None:
    """Output of a failed run, pasted after the work was called done, says the suite was not run."""
    output = "\n".join([*("PASS reef" for _ in range(100)), "--- FAIL: TestReef (0.05s)", "FAIL"])
    done = Talk("a").person("sort it").call("reef.go", tool=Tool.EDIT).model("Done, all pass.")
    assert names(done.person(output)) == {"whole-suite"}
    assert names(Talk("b").person("sort it").call("ls").person(output)) == set()


def test_scripts_and_typographic_quotes() -> None:
    """A script's words are nobody's wish; curly apostrophes hide nothing and stay in quotations."""
    done = Talk("a").person("sort it").call("reef.py", tool=Tool.EDIT).model("Done.")
    assert names(done.script("you forgot the tests, never do that")) == set()
    (excerpt,) = done.person("please don\u2019t use emojis").found()
    assert excerpt.names == ("no-emojis",)
    assert excerpt.quotations[0].text == "please don\u2019t use emojis"


def test_an_admission_after_a_result_has_a_name() -> None:
    """A model that says what it did wrong gives an excerpt with the line that says so."""
    talk = Talk("a").person("go").call("git commit --amend", "[reef 1a2b3c4] seal")
    (excerpt,) = talk.model("Hmm, that amended the wrong commit.\n\nMore follows.").found()
    assert (excerpt.kind, excerpt.names) == (SignalKind.ASSUMPTION, ("look-before-claiming-git",))
    assert excerpt.quotations[0].text == "Hmm, that amended the wrong commit."


def test_untracked_files_are_a_surprise_only_after_a_diff() -> None:
    """An untracked file is ordinary; that a diff left it out is what was not expected."""
    remark = "The new file is currently untracked."
    plain = Talk("a").person("go").call("git status --short", "?? reef.py").model(remark)
    after = Talk("b").person("go").call("git diff --stat", "").model(remark)
    assert names(plain) == set()
    assert names(after) == {"diff-hides-untracked"}


ANY = st.sampled_from([*(w.sees for w in WISHES), "I don\u2019t see it.. ", "\n", "`x_y` "])


@given(st.lists(ANY, max_size=5))
def test_the_words_that_carry_a_name_stand_in_the_text(parts: list[str]) -> None:
    """Whatever is said in whatever order, what is shown for a name is verbatim."""
    text = " ".join(parts)
    assert all(said in text for said in in_words(text, WORKED).values())


def test_what_restricted_agents_lack_has_names() -> None:
    """Agents without a shell word it in many ways; what they lack is the name."""
    for words in ("I cannot run commands here.", "There is no Bash tool, so I can't test it."):
        talk = Talk("a", SessionKind.SUBAGENT).script("run the suite").model(words)
        assert names(talk) == {"agent-without-shell"}


def test_names_change_nothing_of_what_structure_finds() -> None:
    """An excerpt that structure finds keeps its words, strength and quotations when it is named."""
    talk = Talk("a").person("ship it").call("kelp push reef")
    talk.person("no, never push without --sealed, always with it").call("kelp push reef --sealed")
    (excerpt,) = talk.found()
    assert excerpt.linked == 1.0
    assert excerpt.quotations[0].text == "no, never push without --sealed, always with it"
