"""Who may set what, and how a wrong file is explained."""

from pathlib import Path

import pytest

from dreaming.config import PERSON_ONLY, read_person, read_workspace
from dreaming.errors import Unusable


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "dreaming.toml"
    path.write_text(text)
    return path


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    """Nothing has to be written before the first night, and nothing leaves the machine then."""
    assert read_person(tmp_path / "none").backend == "offline"
    assert read_workspace(tmp_path / "none").max_pending == 30


@pytest.mark.parametrize("key", sorted(PERSON_ONLY))
def test_a_workspace_may_not_say_where_text_goes(tmp_path: Path, key: str) -> None:
    """A file that came with a repository is refused when it tries, with file and line."""
    path = _file(tmp_path, f"max_pending = 3\n{key} = 'x'\n")
    with pytest.raises(Unusable, match=r"dreaming\.toml:2: .*may not set") as told:
        read_workspace(path)
    assert "config.toml" in told.value.remedy


@pytest.mark.parametrize("key", ["webhook", "shell", "base_url", "endpoint"])
def test_what_nobody_knows_is_refused(tmp_path: Path, key: str) -> None:
    """A workspace file that asks for more is an error, not a silence."""
    with pytest.raises(Unusable, match=rf"dreaming\.toml:1: unknown key `{key}`"):
        read_workspace(_file(tmp_path, f"{key} = 'x'\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_pendign = 3\n", r":1: unknown key `max_pendign`; did you mean `max_pending`"),
        ("\nmax_pending = 'many'\n", r":2: `max_pending`: "),
        ("max_pending = 0\n", r":1: `max_pending`: "),
        ("topics = ['Git']\n", r":1: `topics`: 'Git' is no topic"),
        ("[projects]\ninclud = []\n", r":2: unknown key `projects.includ`; did you mean `include`"),
        ("max_pending = \n", r"not readable as TOML: .*line 1"),
        ("projects = 3\n", r":1: `projects`"),
    ],
)
def test_a_wrong_workspace_file_is_explained(tmp_path: Path, text: str, said: str) -> None:
    """File, line, key and a guess."""
    with pytest.raises(Unusable, match=said):
        read_workspace(_file(tmp_path, text))


def test_a_person_names_a_backend_that_exists(tmp_path: Path) -> None:
    """A name nobody knows is said with those that are known."""
    assert read_person(_file(tmp_path, "backend = 'anthropic'\n")).backend == "anthropic"
    with pytest.raises(Unusable, match=r"there are offline, anthropic, .*replay"):
        read_person(_file(tmp_path, "backend = 'gpt'\n"))


def test_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said for one command holds for one command."""
    path = _file(tmp_path, "backend = 'anthropic'\n")
    monkeypatch.setenv("DREAMING_BACKEND", "replay")
    assert read_person(path).backend == "replay"


def test_a_key_in_the_environment_never_chooses_a_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key is no wish."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    assert read_person(tmp_path / "none").backend == "offline"


def test_a_variable_that_cannot_be_read_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list in the environment is JSON; anything else is said, not a crash."""
    monkeypatch.setenv("DREAMING_NAMES", "kim")
    with pytest.raises(Unusable, match="DREAMING_"):
        read_person(tmp_path / "none")
