"""Any sequence of decisions, with crashes anywhere: folders and ledger agree afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dreaming.errors import AlreadyKnown, Refused, WrongUse
from dreaming.jobs import decide
from dreaming.jobs.desk import Desk
from dreaming.models.candidate import Candidate
from dreaming.models.decision import Action, Decision, Phase
from dreaming.stores.ledger import Head, Ledger
from dreaming.stores.pending import Pending
from dreaming.stores.state import opened

from .crashes import Crash, Power
from .world import KEY, World

HAND = "# notes\n\nNever force-push to a shared branch.  \r\nkept as it is"
WORDS = "amber basalt cobalt dune ember fjord garnet heath islet jasper krill lichen".split()
EXAMPLES = int(os.environ.get("DREAMING_EXAMPLES_OF_DECISIONS", "15"))


def candidate(number: int) -> Candidate:
    """An invented candidate that shares no telling word with another."""
    word = WORDS[number]
    return Candidate(
        id=f"{number + 1:x}" * 16,
        slug=f"{word}-gotcha",
        topic="tools" if number % 2 else "notes",
        symptom=f"{word}ctl stalls at {word}lock.",
        rule=f"Start {word}ctl with {word}flag.",
        session_ids=(f"{number:016x}", f"{number + 100:016x}"),
        sessions=2,
        agents=("codex",),
        projects=("0" * 16,),
        first_seen=None,
        last_seen=None,
        score=1.0,
        backend="offline",
    )


class Blow(msgspec.Struct, frozen=True):
    """When the machine goes down during a decision, and again while that is mended."""

    at: int = 0
    again: int = 0
    torn: bool = False
    after: bool = False


BLOWS = st.one_of(
    st.just(Blow()),
    st.builds(
        Blow, st.integers(1, 22), st.integers(0, 14), torn=st.booleans(), after=st.booleans()
    ),
)


class Decisions(RuleBasedStateMachine):
    """A person decides; the machine goes down; a plain model says what must be there."""

    @initialize()
    def begin(self) -> None:
        """A workspace with twelve candidates and a hand-written topic."""
        self.folder = Path(tempfile.mkdtemp())
        with Power().on():
            self.begin_in(self.folder)

    def begin_in(self, folder: Path) -> None:
        """Fill the workspace."""
        self.world = World(folder)
        place = self.world.place
        (place.knowledge_base / "notes.md").write_bytes(HAND.encode())
        self.made: list[Decision] = []
        self.own = 0
        self.crashes = 0
        with opened(place.database, key=KEY) as state:
            waiting = [candidate(number) for number in range(len(WORDS))]
            state.publish(((one.id, [one.id]) for one in waiting), 0.0)
            for one in waiting:
                Pending(place.pending).put(one)

    def teardown(self) -> None:
        """Nothing is left."""
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    # -- what a person does --------------------------------------------------------------------

    @rule(number=st.integers(0, len(WORDS) - 1), edited=st.booleans(), blow=BLOWS)
    def accept(self, number: int, edited: bool, blow: Blow) -> None:
        """Accept, in the words proposed or in others."""
        one = candidate(number)
        other = f"Give {WORDS[number]}ctl the {WORDS[number]}switch." if edited else ""
        self.decide(blow, lambda desk: decide.accept(desk, one.id, rule=other, force="sure"))

    @rule(blow=BLOWS)
    def accept_own(self, blow: Blow) -> None:
        """Add a lesson of one's own."""
        self.own += 1
        name = f"own{self.own}thing"
        self.decide(
            blow,
            lambda desk: decide.accept_own(
                desk, "mine", f"{name} sulks.", f"Poke {name} twice.", force="sure"
            ),
        )

    @rule(number=st.integers(0, len(WORDS) - 1), blow=BLOWS)
    def reject(self, number: int, blow: Blow) -> None:
        """Turn one down."""
        self.decide(blow, lambda desk: decide.reject(desk, candidate(number).id, "wrong"))

    @rule(number=st.integers(0, len(WORDS) - 1), sessions=st.integers(0, 2), blow=BLOWS)
    def later(self, number: int, sessions: int, blow: Blow) -> None:
        """Put one off."""
        until = None if sessions else date(2027, 1, 1)
        id_ = candidate(number).id
        self.decide(blow, lambda desk: decide.later(desk, id_, until=until, sessions=sessions))

    @rule(number=st.integers(0, len(WORDS) - 1), into=st.integers(0, len(WORDS) - 1), blow=BLOWS)
    def merge(self, number: int, into: int, blow: Blow) -> None:
        """Merge one into another that waits."""
        ids = candidate(number).id, candidate(into).id
        self.decide(blow, lambda desk: decide.merge(desk, *ids))

    @precondition(lambda self: self.lines())
    @rule(
        pick=st.integers(0, 99),
        number=st.integers(0, len(WORDS) - 1),
        what=st.sampled_from(["retire", "supersede", "merge"]),
        blow=BLOWS,
    )
    def about_a_lesson(self, pick: int, number: int, what: str, blow: Blow) -> None:
        """Retire a lesson, put another in its place, or merge a candidate into it."""
        lines = self.lines()
        lesson = lines[pick % len(lines)][-12:-4]
        id_ = candidate(number).id
        self.own += 1
        name = f"new{self.own}thing"
        call: Callable[[Desk], object] = {
            "retire": lambda desk: decide.retire(desk, lesson, "gone"),
            "supersede": lambda desk: decide.supersede(
                desk, lesson, f"{name} creaks.", f"Oil {name} well."
            ),
            "merge": lambda desk: decide.merge(desk, id_, lesson),
        }[what]
        self.decide(blow, call)

    @precondition(lambda self: self.made)
    @rule(blow=BLOWS)
    def undo_last(self, blow: Blow) -> None:
        """Take the last decision back."""
        self.decide(blow, decide.undo)

    @precondition(lambda self: self.made)
    @rule(pick=st.integers(0, 99), blow=BLOWS)
    def undo_any(self, pick: int, blow: Blow) -> None:
        """Take any decision back, an undo too."""
        name = self.made[pick % len(self.made)].name
        self.decide(blow, lambda desk: decide.undo(desk, name))

    # -- how it happens ------------------------------------------------------------------------

    def decide(self, blow: Blow, decision: Callable[[Desk], object]) -> None:
        """Make a decision, with the power failing; then mend, with the power failing again."""
        failed = refused = False
        with Power(blow.at, torn=blow.torn, after=blow.after).on():
            try:
                with self.desk() as desk:
                    decision(desk)
            except Crash:
                failed = True
            except (AlreadyKnown, Refused, WrongUse):
                refused = True
        self.crashes += failed
        if failed:
            with (
                Power(blow.again, torn=blow.torn, after=blow.after).on(),
                contextlib.suppress(Crash),
                self.desk() as desk,
            ):
                decide.mend(desk)
        with Power().on(), self.desk() as desk:
            decide.mend(desk)
        new = self.firsts()[len(self.made) :]
        assert len(new) <= 1
        assert failed or len(new) == (not refused)
        self.made += new

    @contextlib.contextmanager
    def desk(self) -> Iterator[Desk]:
        """Sit down anew: nothing is remembered but what is on disk."""
        place = self.world.place
        with opened(place.database, key=KEY) as state:
            state.connection.execute("pragma synchronous = off")  # a power cut is not what fails
            yield Desk(
                knowledge_base=place.knowledge_base,
                pending=Pending(place.pending),
                ledger=Ledger(place.ledger, "kim-0001"),
                state=state,
                lock=place.state / "decide.lock",
                torn=place.state / "torn",
                redactor=self.world.redactor,
                reviewer="kim",
                now=lambda: datetime(2026, 11, 30, tzinfo=UTC) + timedelta(seconds=len(self.made)),
            )

    def firsts(self) -> list[Decision]:
        """Each decision by its first step, those that were dropped left out."""
        steps = Ledger(self.world.place.ledger, "reader").decisions()
        found: list[Decision] = []
        for before, one in zip([None, *steps], steps, strict=False):
            closes = before is not None and before.phase is Phase.INTENT
            if closes:
                assert one.phase is Phase.DONE
            else:
                found.append(one)
        return found

    # -- what must be there --------------------------------------------------------------------

    def stands(self, name: str) -> bool:
        """Whether no undo that itself stands takes it back."""
        return not any(one.target == name and self.stands(one.name) for one in self.undos())

    def undos(self) -> list[Decision]:
        """The decisions that take back."""
        return [one for one in self.made if one.action is Action.UNDO]

    def lines(self) -> list[str]:
        """Our lines that must be in the knowledge base: every step's effect, in order."""
        found: list[str] = []
        for one in self.made:
            if one.phase is Phase.INTENT:
                if one.was:
                    found.remove(one.was)
                if one.text:
                    found.append(one.text)
        return found

    @invariant()
    def the_ledger_is_whole(self) -> None:
        """Every chain follows from its first line to the head that was kept."""
        if not hasattr(self, "made"):
            return
        with opened(self.world.place.database, key=KEY) as state:
            kept = {name: Head.parse(text) for name, text in state.beginning("head ").items()}
        assert Ledger(self.world.place.ledger, "reader").verify(kept) == []

    @invariant()
    def every_lesson_stands_once(self) -> None:
        """What is accepted stands exactly once, what is not nowhere, what is by hand untouched."""
        if not hasattr(self, "made"):
            return
        folder = self.world.place.knowledge_base
        texts = {one.name: one.read_bytes().decode() for one in folder.iterdir()}
        assert texts["notes.md"].startswith(HAND)
        ours = [
            line for text in texts.values() for line in text.splitlines() if "<!-- dreaming" in line
        ]
        assert sorted(ours) == sorted(self.lines())
        assert not [name for name in texts if not name.endswith(".md")]

    @invariant()
    def the_queue_is_what_is_undecided(self) -> None:
        """A candidate waits if and only if no decision about it stands."""
        if not hasattr(self, "made"):
            return
        gone = {
            one.candidate
            for one in self.made
            if one.action is not Action.UNDO and self.stands(one.name)
        }
        waits = {one.id: one for one in Pending(self.world.place.pending).all()}
        expected = {candidate(number).id: candidate(number) for number in range(len(WORDS))}
        assert waits == {id_: one for id_, one in expected.items() if id_ not in gone}


TestDecisions: Any = Decisions.TestCase
TestDecisions.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestDecisions.__test__ = True
