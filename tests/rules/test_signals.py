"""What counts as a signal, and what never does."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.models.finding import SignalKind
from dreaming.models.session import (
    Denier,
    ResultStatus,
    Session,
    SessionKind,
    Speaker,
    Tool,
    Turn,
    TurnKind,
)
from dreaming.signals import excerpts, mine, terms
from tests.rules.session_samples import Talk


def kinds(talk: Talk) -> list[SignalKind]:
    """The kinds of a session's excerpts."""
    return [excerpt.kind for excerpt in talk.found()]


def test_failed_call_and_its_repair_are_one_excerpt() -> None:
    """A failed call is kept with the related call that worked later, and what the fix adds."""
    talk = Talk("a").person("ship it").fails("kelp push reef", "kelp: error, ledger not sealed")
    talk.model("It has to be sealed first.").call("kelp push reef --sealed")
    (excerpt,) = talk.found()
    assert excerpt.kind is SignalKind.ERROR_FIX
    assert excerpt.right == "kelp push reef --sealed"
    assert "sealed" in excerpt.added
    assert excerpt.error == "kelp: error, ledger not sealed"


def test_words_of_a_person_that_come_back_in_the_next_action_are_a_correction() -> None:
    """Structure makes a correction: the same thing is done again, with a word of the person."""
    talk = Talk("a").person("ship it").call("kelp push reef")
    talk.person("with --sealed here").call("kelp push reef --sealed")
    (excerpt,) = talk.found()
    assert (excerpt.kind, excerpt.linked) == (SignalKind.CORRECTION, 1.0)
    assert excerpt.redone > 0.4


@pytest.mark.parametrize(
    "words",
    [
        "nein, niemals direkt, immer mit Siegel",
        "non, il faut toujours sceller, jamais sans",
        "不要直接推送, 必须先封存",
        "нет, всегда сначала запечатай",
    ],
)
def test_corrections_are_heard_in_several_languages(words: str) -> None:
    """Cue words are data in several languages; none is needed where structure speaks."""
    talk = Talk("a").person("ship it").call("kelp push reef").person(words).call("kelp seal")
    assert kinds(talk) == [SignalKind.CORRECTION]


def test_script_is_nobody() -> None:
    """Words of a script, a scheduler or a skill never count as a person's correction."""
    talk = Talk("a").script("ship it").call("kelp push reef")
    talk.script("no, never like this, always use --sealed").call("kelp push reef --sealed")
    assert talk.found() == []


def test_approval_is_no_correction() -> None:
    """Thanks and go-ahead correct nothing, whatever is done next."""
    talk = Talk("a").person("ship it").call("kelp push reef").person("great, thanks!")
    assert talk.call("kelp push reef").found() == []


def test_first_prompt_is_a_task() -> None:
    """What a person asks first cannot correct anything."""
    assert Talk("a").person("no more pushes without --sealed, never").call("ls -la").found() == []


def test_denial_carries_the_words_of_the_person() -> None:
    """A denied call is kept with what the person said and what was done instead."""
    talk = Talk("a").person("ship it").denied("kelp push --force", "", Denier.HUMAN)
    talk.person("never force, ask the harbour master").call("kelp ask harbour-master")
    (excerpt,) = talk.found()
    assert (excerpt.kind, excerpt.denier) == (SignalKind.DENIAL, Denier.HUMAN)
    assert excerpt.words == "never force, ask the harbour master"
    assert {quotation.speaker for quotation in excerpt.quotations} == {Speaker.HUMAN}


def test_denial_by_a_rule_quotes_the_rule() -> None:
    """Where a rule denied, its own sentence is the evidence."""
    talk = Talk("a").person("ship it")
    talk.denied("kelp push", "pushing is blocked, use kelp offer instead", Denier.RULE)
    (excerpt,) = talk.call("kelp offer").found()
    assert excerpt.quotations[0].text == "pushing is blocked, use kelp offer instead"


def test_interruption_counts_with_the_next_words() -> None:
    """An interruption is kept with what the person then said; without words it tells nothing."""
    talk = Talk("a").person("ship it").call("kelp rebuild --all").stop()
    assert talk.found() == []
    talk.person("that takes a day, rebuild only the reef").call("kelp rebuild reef")
    assert kinds(talk) == [SignalKind.INTERRUPTION]


def test_wrong_assumption_that_the_model_names() -> None:
    """A call that ended well, a remark that something else was true, and another try."""
    talk = Talk("a").person("how many?").call("kelp count boats", "0 boats")
    talk.model("Zero because it counts moored boats only by default; I need to pass --all.")
    assert kinds(talk.call("kelp count boats --all", "12 boats")) == [SignalKind.ASSUMPTION]


def test_restricted_agent_says_what_it_cannot_do() -> None:
    """A subagent's statement about its own tools is a signal, with the prompt that asked."""
    talk = Talk("a", SessionKind.SUBAGENT).script("Review the change by running kelp diff.")
    talk.model("I have no shell in this role, so I could not run kelp diff.")
    (excerpt,) = talk.found()
    assert (excerpt.kind, excerpt.words_by) == (SignalKind.CANNOT, Speaker.HARNESS)


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("notes/harbour.md", Tool.READ),
        ("cat notes/harbour.md", Tool.SHELL),
        ("git log -3", Tool.SHELL),
        ("cd docs && grep -rn push .", Tool.SHELL),
        ("https://harbour.example", Tool.WEB),
    ],
)
def test_what_readers_return_is_never_a_signal(command: str, tool: Tool) -> None:
    """A document that tells of errors and corrections is somebody else's story."""
    story = "fatal: error, permission denied. No, never push, always use --sealed instead!"
    assert Talk("a").person("read it").call(command, story, tool=tool).found() == []


def test_summaries_are_never_mined() -> None:
    """A summary repeats what was said before; it must not count again."""
    talk = Talk("a").person("ship it").call("kelp push reef")
    talk.summary("The person said: no, never push without --sealed.")
    assert talk.call("kelp push reef").found() == []


def test_harness_noise_is_counted_not_mined() -> None:
    """Failures of handling a tool are the same in every session: counted with a reason."""
    talk = Talk("a").person("edit").fails("a.txt", "File has not been read yet.", Tool.EDIT)
    mined = mine(talk.call("a.txt", tool=Tool.EDIT).session)
    assert (mined.excerpts, mined.left_out) == ([], {"harness": 1})


def test_own_runs_are_left_out() -> None:
    """A model run of ours is no session of a person's work."""
    talk = Talk("a").person("ship it").fails("kelp push", "error: not sealed")
    talk.session.own_run = True
    assert mine(talk.session).left_out == {"own-run": 1}


def test_one_excerpt_for_each_line_and_kind() -> None:
    """Line and kind name an excerpt within its session, so no two share both."""
    talk = Talk("a").person("ship it")
    for number in range(3):
        talk.fails(f"kelp push r{number}", f"error: r{number} is not sealed")
    talk.session.turns = [msgspec.structs.replace(turn, line=5) for turn in talk.session.turns]
    found = talk.found()
    assert len({(excerpt.line, excerpt.kind) for excerpt in found}) == len(found)


text = st.text(alphabet=st.characters(codec="utf-8"), max_size=300)
turns = st.lists(
    st.builds(
        Turn,
        kind=st.sampled_from(TurnKind),
        speaker=st.sampled_from(Speaker),
        line=st.integers(1, 50),
        text=text | st.just("no, never do that, error: not found, I have to use it instead"),
        call_id=st.sampled_from(["a", "b", "c"]),
        tool=st.sampled_from(Tool),
        action=text | st.just("kelp push reef"),
        before=text,
        after=text,
        status=st.sampled_from(ResultStatus),
        denier=st.none() | st.sampled_from(Denier),
    ),
    max_size=14,
)


@given(turns, st.sampled_from(SessionKind))
def test_quotations_stand_in_the_session(found: list[Turn], kind: SessionKind) -> None:
    """Whatever a session holds, nothing fails, and every quotation is a run of a turn's text."""
    session = Session(agent="x", native_id="x", kind=kind, turns=found)
    for excerpt in excerpts(session):
        assert excerpt.quotations
        for quotation in excerpt.quotations:
            assert 12 <= len(quotation.text) <= 220
            assert any(
                quotation.text in turn.text
                for turn in found
                if (turn.line, turn.speaker) == (quotation.line, quotation.speaker)
            )


@given(turns)
def test_terms_do_not_depend_on_order(found: list[Turn]) -> None:
    """The terms of a session are a set: the order of its turns changes nothing."""
    forward = Session(agent="x", native_id="x", turns=found)
    backward = Session(agent="x", native_id="x", turns=found[::-1])
    assert terms(forward) == terms(backward)
