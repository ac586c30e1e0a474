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


def test_harness_noise_is_counted_and_mined_only_by_its_name() -> None:
    """Failures of handling a tool are counted with a reason; a name makes an excerpt of them."""
    talk = Talk("a").person("edit").fails("a.txt", "File has not been read yet.", Tool.EDIT)
    mined = mine(talk.call("a.txt", tool=Tool.EDIT).session)
    assert [excerpt.names for excerpt in mined.excerpts] == [("agent-edit-unread",)]
    assert mined.left_out == {"harness": 1}
    other = Talk("b").person("edit").fails("a.txt", "No task found with that id.", Tool.EDIT)
    mined = mine(other.call("a.txt", tool=Tool.EDIT).session)
    assert (mined.excerpts, mined.left_out) == ([], {"harness": 1})


LINT = "reef/a.go:7:2: string `tide` has 4 occurrences, make it a constant (goconst)"
DUPL = "reef/a.go:9:1: 9-20 lines are duplicate of `reef/b.go:9-20` (dupl)"


def test_a_linter_rejects_also_where_the_command_ended_well() -> None:
    """What a linter prints is a rejection whatever the exit code; each name stands for itself."""
    talk = Talk("a").person("lint").call("kelp lint | tail", f"{LINT}\n{DUPL}")
    found = talk.call("kelp lint --fix", "fine").found()
    assert {(excerpt.kind, excerpt.names, excerpt.quotations[0].text) for excerpt in found} == {
        (SignalKind.REJECTION, ("lint-goconst",), LINT),
        (SignalKind.REJECTION, ("lint-dupl",), DUPL),
    }
    assert (found[0].wrong, found[0].right) == ("kelp lint | tail", "kelp lint --fix")


def test_a_failure_that_has_a_name_is_told_once() -> None:
    """A failed call and its repair get the name; a second name of the output stands for itself."""
    talk = Talk("a").person("lint").fails("kelp lint", f"kelp: the lint failed\n{LINT}\n{DUPL}")
    found = talk.call("kelp lint --fix", "fine").found()
    assert {(excerpt.kind, excerpt.names, excerpt.quotations[0].text) for excerpt in found} == {
        (SignalKind.ERROR_FIX, ("lint-goconst",), LINT),
        (SignalKind.REJECTION, ("lint-dupl",), DUPL),
    }


def test_calls_that_were_lost_are_counted() -> None:
    """The cost of a rejection is how many calls stand before the one that worked."""
    talk = Talk("a").person("lint").call("kelp lint reef", LINT)
    talk.fails("kelp lint reef -v", "no").fails("kelp lint reef -q", "no")
    found = talk.call("kelp lint reef --fix", "fine").found()
    assert [e.cost for e in found if e.names == ("lint-goconst",)] == [2]


def test_what_a_hook_says_is_a_rejection_of_the_edit_before() -> None:
    """A hook speaks after an edit: its words are a result, the edit is what went wrong."""
    talk = Talk("a").person("edit").call("reef/a.ex", "done", tool=Tool.EDIT)
    talk.hook("[COMPILE]\n    warning: unused alias Buoy")
    (excerpt,) = talk.found()
    assert excerpt.names == ("hook-compiles-every-edit",)
    assert excerpt.wrong.startswith("reef/a.ex")
    assert excerpt.quotations[0].speaker is Speaker.HARNESS


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("docs/lint.md", Tool.READ),
        ("cd docs && cat lint.md", Tool.SHELL),
        ("echo --; cat lint.md | head -3; git log -3", Tool.SHELL),
        ("https://harbour.example", Tool.WEB),
        ("look at the lint rules", Tool.AGENT),
    ],
)
def test_a_document_about_a_linter_is_no_rejection(command: str, tool: Tool) -> None:
    """What readers and other agents return has no names."""
    assert Talk("a").person("read").call(command, LINT * 20, tool=tool).found() == []


def test_an_outage_is_no_denial() -> None:
    """Where whoever judges calls could not be reached nobody said anything about the call."""
    outage = "kelp-2 is temporarily unavailable, so auto mode cannot determine the safety of it."
    talk = Talk("a").person("ship it").denied("kelp push", outage, Denier.RULE)
    assert excerpts(talk.call("kelp push").session) == []


def test_what_a_hook_denies_has_the_name_of_the_program() -> None:
    """A project's own guard refuses a program: the denial carries a name, once."""
    talk = Talk("a").person("add it")
    talk.denied(
        "npm add kelp", "PreToolUse:Bash hook error: use pnpm in this repository", Denier.RULE
    )
    (excerpt,) = talk.call("pnpm add kelp").found()
    assert (excerpt.kind, excerpt.names) == (SignalKind.DENIAL, ("hook-denies-npm",))


def test_the_log_of_a_check_that_ran_elsewhere_is_a_rejection() -> None:
    """A log is read, but it is a check's own word on this work; only its findings count."""
    log = f"lint\tRun\t2026-05-04T10:00:00.0Z {LINT}\nlint\tRun\t2026Z sh: kelp: not found"
    found = Talk("a").person("why is it red?").call("gh run view 7 --log-failed", log).found()
    assert [(excerpt.names, excerpt.quotations[0].text) for excerpt in found] == [
        (("lint-goconst",), LINT)
    ]


def test_what_a_person_pastes_of_a_linter_is_a_rejection() -> None:
    """Checks that ran elsewhere come back in a person's words; a failed command does not count."""
    talk = Talk("a").person("lint").call("reef/a.go", tool=Tool.EDIT)
    talk.person(f"fix\n{LINT}\nzsh:1: command not found: kelp").call("reef/a.go", tool=Tool.EDIT)
    found = [excerpt for excerpt in talk.found() if excerpt.kind is SignalKind.REJECTION]
    assert [excerpt.names for excerpt in found] == [("lint-goconst",)]
    assert found[0].quotations[0].speaker is Speaker.HUMAN


def test_the_same_command_in_another_folder_repairs_a_wrong_folder() -> None:
    """A path that was not there is no probe where the command works from another folder."""
    talk = (
        Talk("a").person("look").fails("wc reef/a.md", "wc: reef/a.md: No such file or directory")
    )
    (excerpt,) = talk.call("cd /srv/kelp && wc reef/a.md", "7").found()
    assert excerpt.names == ("wrong-folder",)
    probe = (
        Talk("b").person("look").fails("wc reef/a.md", "wc: reef/a.md: No such file or directory")
    )
    assert all(not excerpt.names for excerpt in probe.call("wc reef/b.md", "7").found())


def test_the_state_of_the_work_tree_is_a_source_and_a_reader_is_none() -> None:
    """`git status` tells what is so; a document that shows the same line tells nothing."""
    line = "## main...origin/main [behind 3]"
    state = Talk("a").person("look").call("git status -sb", line).found()
    assert [excerpt.names for excerpt in state] == [("sync-first",)]
    assert Talk("b").person("look").call("cat reef.md", line).found() == []


def test_one_name_does_not_flood_a_session() -> None:
    """A session gives few excerpts to one name."""
    talk = Talk("a").person("lint")
    for number in range(30):
        talk.call(f"kelp lint {number}", LINT)
    assert sum("lint-goconst" in excerpt.names for excerpt in talk.found()) == 4


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
        text=text
        | st.just("no, never do that, error: not found, I have to use it instead")
        | st.builds("{}\nwould reformat {}\\n[DIALYZER]\\n{}".format, text, text, text)
        | st.builds("\x1b[1ma.go:1:2:\x1b[0m {} (errcheck)".format, text),
        call_id=st.sampled_from(["a", "b", "c"]),
        tool=st.sampled_from(Tool),
        tool_name=st.sampled_from(["x", "hook"]),
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
