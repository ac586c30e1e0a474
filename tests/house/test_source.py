"""House rules that the source itself can be asked about."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("dreaming", "review_tui", "tests", "docs", "benchmarks")
BROAD: Final = frozenset({"Exception", "BaseException"})


def sources(*folders: str) -> list[Path]:
    """Every Python file of these folders."""
    return [one for folder in folders for one in sorted((ROOT / folder).rglob("*.py"))]


def tree(path: Path) -> ast.Module:
    """A file as Python understands it."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


# -- nothing is swallowed -------------------------------------------------------------------------


def swallowed(module: ast.Module) -> list[int]:
    """Lines of handlers that take every exception and tell nobody."""
    handlers = (one for one in ast.walk(module) if isinstance(one, ast.ExceptHandler))
    found = [one.lineno for one in handlers if _is_broad(one.type) and _is_silent(one.body)]
    calls = (one for one in ast.walk(module) if isinstance(one, ast.Call))
    return found + [
        one.lineno
        for one in calls
        if _name(one.func) == "suppress" and any(_is_broad(argument) for argument in one.args)
    ]


def _is_broad(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    several = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(_name(one) in BROAD for one in several)


def _name(one: ast.expr) -> str:
    if isinstance(one, ast.Attribute):
        return one.attr
    return one.id if isinstance(one, ast.Name) else ""


def _is_silent(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(one, ast.Pass | ast.Continue | ast.Break)
        or (isinstance(one, ast.Return) and _is_constant(one.value))
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in body
    )


def _is_constant(value: ast.expr | None) -> bool:
    if isinstance(value, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return not list(ast.iter_child_nodes(value))[1:]
    return value is None or isinstance(value, ast.Constant)


@pytest.mark.parametrize(
    "path", sources("dreaming", "review_tui"), ids=lambda one: str(one.relative_to(ROOT))
)
def test_nothing_is_swallowed(path: Path) -> None:
    """No handler takes every exception and goes on in silence."""
    assert swallowed(tree(path)) == []


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    f()\nexcept Exception:\n    pass",
        "try:\n    f()\nexcept:\n    pass",
        "def g():\n    try:\n        f()\n    except (ValueError, Exception):\n        return None",
        "def g():\n    try:\n        f()\n    except BaseException:\n        return []",
        "for one in many:\n    try:\n        f()\n    except builtins.Exception:\n        continue",
        "with contextlib.suppress(Exception):\n    f()",
    ],
)
def test_swallowing_is_seen(body: str) -> None:
    """The rule above finds each of the ways to swallow."""
    assert len(swallowed(ast.parse(body))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    f()\nexcept ValueError:\n    pass",
        "try:\n    f()\nexcept Exception as wrong:\n    report(wrong)",
        "try:\n    f()\nexcept Exception:\n    raise",
        "with contextlib.suppress(FileNotFoundError):\n    f()",
    ],
)
def test_handling_is_allowed(body: str) -> None:
    """Naming what is expected, telling and raising again are no swallowing."""
    assert swallowed(ast.parse(body)) == []


# -- names and words ------------------------------------------------------------------------------


def test_no_module_is_called_utils() -> None:
    """A helper lives with the noun it helps."""
    vague = {"utils", "util", "helpers", "helper", "misc", "common"}
    assert [one for one in sources(*FOLDERS) if {one.stem, one.parent.name} & vague] == []


def test_every_test_states_a_law() -> None:
    """Each test has a docstring, so that the tests read in order are the specification."""
    silent = [f"{path.relative_to(ROOT)}: {name}" for path, name in _tests_without_docstring()]
    assert silent == []


def _tests_without_docstring() -> Iterator[tuple[Path, str]]:
    for path in sources("tests"):
        for one in ast.walk(tree(path)):
            is_test = isinstance(one, ast.FunctionDef) and one.name.startswith("test_")
            if is_test and not ast.get_docstring(one):  # type: ignore[arg-type]
                yield path, one.name  # type: ignore[attr-defined]


# -- what must not travel with the repository -----------------------------------------------------


def texts() -> Iterator[tuple[Path, str]]:
    """Every text file that is, or would be, part of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file():
            yield path, path.read_text(encoding="utf-8", errors="replace")


def test_no_path_of_a_machine_is_in_the_repository() -> None:
    """No file names the folder that this checkout, or the one who works on it, lives in."""
    person = Path("~").expanduser()  # the test's own empty home, made below pytest's folder
    places = {str(ROOT), str(person), str(ROOT.parent / "shared")}
    named = re.compile("|".join(rf"(?<![\w/.~-]){re.escape(one)}(?![\w-])" for one in places))
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path, text in texts()
        if (hit := named.search(text))
    ]
    assert found == []


def test_no_issue_number_is_in_the_source() -> None:
    """A comment gives a reason that stands by itself; trackers come and go."""
    number = re.compile(r"(?i)\b(?:issue|ticket|pull request|PR) ?#?\d+")
    commented = [(path, text) for path, text in texts() if path.suffix in {".py", ".md", ".toml"}]
    mine = Path(__file__)
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path, text in commented
        if path != mine and "tests" not in path.parts and (hit := number.search(text))
    ]
    assert found == []
