"""The right form is a habit where all later sessions used it, and none the wrong one."""

from __future__ import annotations

import pytest

from dreaming.known.habit import Form, deeds, form, habit, unpacked, words
from dreaming.models.finding import Excerpt, KeptExcerpt, SignalKind
from dreaming.models.session import Speaker, Tool, Turn, TurnKind

PNPM = Form(frozenset(), frozenset({"pnpm"}), frozenset({"npm"}))
FLAG = Form(frozenset({"git", "push"}), frozenset({"--set-upstream"}), frozenset())


def call(done: str) -> Turn:
    """A command, or an edit as ``path :: code``."""
    path, is_edit, code = done.partition(" :: ")
    if is_edit:
        return Turn(TurnKind.CALL, Speaker.MODEL, 1, tool=Tool.EDIT, action=path, after=code)
    return Turn(TurnKind.CALL, Speaker.MODEL, 1, tool=Tool.SHELL, action=done)


def met(root: str, wrong: str, right: str) -> KeptExcerpt:
    """An excerpt of one root session."""
    one = Excerpt(
        kind=SignalKind.ERROR_FIX, line=1, record="", at=1.0, folder="", wrong=wrong, right=right
    )
    return KeptExcerpt(f"{root:0>16}", root, root, "codex", root, "p" * 16, False, one)


def used(told: Form, *sessions: list[str]) -> int:
    """How many sessions count, after packing."""
    return habit(told, [unpacked(deeds(map(call, session))) for session in sessions])


def test_only_sessions_that_did_the_thing_count() -> None:
    """What has nothing to do with it neither makes nor breaks a habit."""
    assert used(PNPM, ["pnpm install"], ["ls"], ["cd a && pnpm add b"]) == 2


def test_the_wrong_form_once_ends_it() -> None:
    """A habit has no exception."""
    assert used(PNPM, *[["pnpm install"]] * 9, ["npm test"]) == 0


def test_the_bare_form_is_the_wrong_one_where_a_flag_makes_it_right() -> None:
    """Without words of its own, the wrong form is the common part without the right one."""
    assert used(FLAG, ["git push --set-upstream origin a"], ["git push --set-upstream o b"]) == 2
    assert used(FLAG, ["git push --set-upstream origin a"], ["git push"]) == 0
    assert used(FLAG, ["git push --set-upstream origin a"], ["git status"]) == 1


def test_what_could_not_be_seen_done_wrongly_is_no_habit() -> None:
    """Nothing is concluded from a form that has no wrong side."""
    assert used(Form(frozenset(), frozenset({"mix", "format"}), frozenset()), ["mix format"]) == 0


def test_edits_of_one_kind_of_file_are_one_deed() -> None:
    """The wrong word anywhere in a session's edits of that kind breaks the habit."""
    told = Form(frozenset({"*.ts"}), frozenset({"unknown"}), frozenset({"any"}), edit=True)
    assert used(told, ["a.ts :: let x: unknown", "b.ts :: 1"], ["c.ts :: y: unknown"]) == 2
    assert used(told, ["a.ts :: let x: unknown", "b.ts :: z: any"]) == 0
    assert used(told, ["a.py :: let x: unknown"]) == 0


def test_the_form_is_what_roots_share_and_the_rule_names() -> None:
    """What varies between sessions, and what the rule does not name, is not part of it."""
    excerpts = [
        met("a", "npm test api", "npx vitest run api --silent"),
        met("b", "npm test web", "npx vitest run web --silent"),
    ]
    found = form(excerpts, "Use `npx vitest run` instead of `npm test`.")
    assert found == Form(
        frozenset(), frozenset({"npx", "vitest", "run"}), frozenset({"npm", "test"})
    )


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("Use `bun` instead of `npm`.", Form(frozenset(), frozenset({"bun"}), frozenset({"npm"}))),
        ("Keep `README.md` short.", None),
        ("Be brief.", None),
    ],
)
def test_without_pairs_the_rule_alone_tells(rule: str, told: Form | None) -> None:
    """A code span counts where the words before it say to use it, not where it is the subject."""
    assert form([met("a", "", ""), met("b", "", "")], rule) == told


def test_a_span_that_the_wrong_command_has_too_tells_nothing() -> None:
    """What was there when it went wrong does not make it right."""
    excerpts = [met("a", "mix dialyzer", ""), met("b", "mix dialyzer --x", "")]
    assert form(excerpts, "Run `mix dialyzer` in the background.") is None


def test_words_leave_folders_out_and_part_names_from_values() -> None:
    """The same word on two machines is the same; an option and its value are two."""
    assert words("TZ=UTC /usr/bin/date -R --date=now './x.txt'") == [
        "tz=", "utc", "date", "-R", "--date", "now", "x.txt",
    ]  # fmt: skip


def test_no_word_of_a_deed_is_kept() -> None:
    """What is packed are numbers: a command cannot be read from it."""
    packed = deeds([call("deploy --tenant harbour")])
    assert packed and all(word not in packed for word in (b"deploy", b"tenant", b"harbour"))
    assert all(isinstance(one, int) for deed in unpacked(packed) for one in deed)
    assert deeds([]) == b""
