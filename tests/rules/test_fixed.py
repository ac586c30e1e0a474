"""A line of a repository deals with a gotcha where it acts or orders; a word in common does not."""

from __future__ import annotations

import re

import pytest

from dreaming.known.fixed import Place, Repository, gotcha
from dreaming.known.places import Kind, kind, units
from dreaming.models.finding import Excerpt, KeptExcerpt, SignalKind

VITEST = ("Use `npx vitest run` instead of `npm test`.", "npm test", "npx vitest run", "watches")
BUN = ("Use `bun` instead of `npm`.", "", "", "no, with bun")
CLIENT = ("Run `make client` before `make app`.", "make app", "make client && make app", "stale")
TABLE = ("Pad the cells of tables (`md060`).", "a.md :: x => y", "", "a.md:3 MD060/table-column")
TESTS = ("Add a test for every change of behaviour in the same commit.", "", "", "tests?")


def places(told: tuple[str, str, str, str], files: dict[str, str], *names: str) -> list[Place]:
    """What a repository with these files offers for a gotcha of two sessions."""
    rule, wrong, right, error = told
    excerpts = [
        KeptExcerpt(
            root * 16, root, root, "codex", root, "p" * 16, False,
            Excerpt(
                kind=SignalKind.REJECTION if names else SignalKind.ERROR_FIX, line=1, record="",
                at=5.0, folder="", wrong=wrong, right=right, error=error, names=names,
            ),
        )
        for root in ("a", "b")
    ]  # fmt: skip
    lines = [unit for path, text in files.items() for unit in units(path, text)]
    return list(Repository(lines).places(gotcha(excerpts, rule)))


@pytest.mark.parametrize(
    "text",
    [
        "Run `npx vitest run`; plain `npm test` keeps waiting.",
        "- Always test with `npx vitest run`.",
        "```sh\nnpx vitest run src\n```",
        "1. `npx vitest run`",
        "Never call `npm test`: use `npx vitest run`.",
    ],
)
def test_an_order_in_a_document_counts(text: str) -> None:
    """A document deals with it where it tells people to use the right form."""
    (found,) = places(VITEST, {"CONTRIBUTING.md": f"# Tests\n\n{text}\n"})
    assert found.path == "CONTRIBUTING.md" and found.number >= 3


@pytest.mark.parametrize(
    "text",
    [
        "Tests run with `npm test`.",
        "Use `npm test`, not `npx vitest run`.",
        "We used `npx vitest run` before the move.",
        "You may run `npx vitest run` if you like.",
        "Should we use `npx vitest run`?",
        "`npx vitest run` is not needed here.",
        "Never use `npx vitest run` in this folder.",
        "<!-- Use `npx vitest run`. -->",
        "```sh\nnpm test # not npx vitest run\n```",
    ],
)
def test_a_mention_is_no_order(text: str) -> None:
    """The opposite, the past, a choice, a question and a comment are none."""
    assert places(VITEST, {"CONTRIBUTING.md": f"# Tests\n\n{text}\n"}) == []


def test_what_stands_under_a_heading_of_old_ways_is_none() -> None:
    """A heading can take back what stands below it."""
    assert not places(VITEST, {"README.md": "## Deprecated\n\nRun `npx vitest run`.\n"})
    assert places(VITEST, {"README.md": "## Testing\n\nRun `npx vitest run`.\n"})


def test_a_wish_is_found_in_other_words_with_the_same_sides() -> None:
    """Without a command, a sentence must say most of what the rule says, and nothing against it."""
    said = "Every change of behaviour needs a test in the same commit."
    assert places(TESTS, {"CONTRIBUTING.md": said})
    assert not places(TESTS, {"CONTRIBUTING.md": "Do not add a test in the same commit."})
    assert not places(TESTS, {"CONTRIBUTING.md": "A test in the same commit is optional."})
    assert not places(TESTS, {"CONTRIBUTING.md": "The tests live in spec."})


def test_a_hook_counts_where_it_runs_the_right_form() -> None:
    """What runs by itself deals with it; a reminder and a comment do not."""
    assert places(CLIENT, {".husky/post-merge": "make client\n"})
    assert not places(CLIENT, {".husky/post-merge": "echo run make client\n# make client\n"})
    assert not places(CLIENT, {".husky/post-merge": "make clients\n"})


def test_permissions_of_an_agent_are_no_hook() -> None:
    """Only what stands below the hooks of its settings runs."""
    allowed = '{\n  "permissions": {\n    "allow": [\n      "Bash(make client)"\n    ]\n  }\n}\n'
    runs = '{\n  "hooks": {\n    "Stop": [\n      {"command": "make client"}\n    ]\n  }\n}\n'
    assert not places(CLIENT, {".claude/settings.json": allowed})
    assert places(CLIENT, {".claude/settings.json": runs})


def test_a_task_counts_where_it_is_what_was_called() -> None:
    """`make app` that makes the client itself deals with it; another target does not."""
    assert places(CLIENT, {"Makefile": "app:\n\tmake client\n\tgo build\n"})
    assert not places(CLIENT, {"Makefile": "everything:\n\tmake client\n\tgo build\n"})


def test_the_script_that_was_missing_is_there() -> None:
    """What was called in vain exists now."""
    told = ("Use `npm run check`.", "npm run lint", "npm run check", 'Missing script: "lint"')
    assert places(told, {"package.json": '{\n  "scripts": {\n    "lint": "eslint ."\n  }\n}\n'})
    assert not places(told, {"package.json": '{\n  "scripts": {\n    "lint:css": "x"\n  }\n}\n'})


def test_a_rule_that_rejects_is_the_cause_and_not_the_end() -> None:
    """Of a linter's rule only its end counts, a formatter that mends, or words for people."""
    on, off = '{\n  "MD060": true\n}\n', '{\n  "MD060": false,\n  "MD013": false\n}\n'
    assert not places(TABLE, {".markdownlint.json": on}, "lint-md060")
    assert not places(TABLE, {".markdownlint.json": '{\n  "MD013": false\n}\n'}, "lint-md060")
    (found,) = places(TABLE, {".markdownlint.json": off}, "lint-md060")
    assert found.number == 2
    check = "repos:\n- hooks:\n  - id: markdownlint\n"
    assert not places(TABLE, {".pre-commit-config.yaml": check}, "lint-md060")
    mends = f"{check}    args: [--fix]\n"
    (found,) = places(TABLE, {".pre-commit-config.yaml": mends}, "lint-md060")
    assert found.number == 4
    assert places(TABLE, {"CONTRIBUTING.md": "Align tables, always (MD060).\n"}, "lint-md060")


def test_a_ban_of_the_wrong_form_counts_where_a_person_minded() -> None:
    """A new lint rule takes over what a person said."""
    told = ("Use `logger.info` instead of `console.log`.", "", "", "please, the logger")
    assert places(told, {"eslint.config.js": "rules: {\n  'no-console': 'error',\n}\n"})
    assert not places(told, {"eslint.config.js": "rules: {\n  'no-console': 'off',\n}\n"})
    assert not places(told, {"eslint.config.js": "rules: {\n  'no-alert': 'error',\n}\n"})


def test_a_lock_file_counts_alone() -> None:
    """That of the right package manager, since it is there, and none of the wrong one."""
    (found,) = places(BUN, {"bun.lock": ""})
    assert found.lines == ()
    assert not places(BUN, {"bun.lock": "", "package-lock.json": ""})
    assert not places(BUN, {"uv.lock": ""})


def test_a_pin_counts_with_its_version() -> None:
    """Another version of the same tool, or that version of another tool, does not."""
    told = ("Run `nvm use 22` before `node`.", "node a.js", "nvm use 22 && node a.js", "too old")
    assert places(told, {".nvmrc": "22.3.0\n"})
    assert places(told, {"mise.toml": '[tools]\nnode = "22"\n'})
    assert not places(told, {".nvmrc": "18\n"})
    assert not places(told, {".python-version": "22\n"})


def test_the_lines_of_a_place_match_the_file() -> None:
    """What is asked of the history is an expression that the file itself answers to."""
    text = "# A\n\nAlways run `npx vitest run` (see [docs](x.md)).\nBe kind.\n"
    (found,) = places(VITEST, {"CONTRIBUTING.md": text})
    assert all(re.search(line, text, re.M) for line in found.lines)
    hook = "pre-commit:\n  commands:\n    a:\n      run: make client && git add a*b\n"
    (found,) = places(CLIENT, {"lefthook.yml": hook})
    assert found.lines and all(re.search(line, hook, re.M) for line in found.lines)


@pytest.mark.parametrize(
    "path",
    [".env", ".envrc", ".npmrc", "id_rsa", "docs/key.pem", "src/README.md", "scripts/.env", "x.md"],
)
def test_no_other_file_is_ever_asked_for(path: str) -> None:
    """What is opened stands in a table; credentials and code are not in it."""
    assert kind(path) is None and list(units(path, "Run `npx vitest run`.")) == []


def test_lines_stand_below_what_is_less_indented() -> None:
    """YAML, TOML and JSON are read alike."""
    toml = '[project]\ndependencies = [\n  "attrs",\n]\n[tool.ruff]\nignore = ["E501"]\n'
    found = {unit.text: (unit.kind, unit.above) for unit in units("pyproject.toml", toml)}
    assert found['"attrs",'] == (Kind.NEEDS, ("[project]", "dependencies = ["))
    assert found['ignore = ["E501"]'] == (Kind.CONFIG, ("[tool.ruff]",))
