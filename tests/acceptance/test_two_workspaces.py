"""Two repositories, one machine: neither workspace sees the other's sessions."""

from pathlib import Path

import pytest

from tests.acceptance.installed import Dreaming
from tests.jobs.world import session


def _repository(folder: Path, remote: str) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
    return folder


@pytest.fixture
def person(home: Path) -> Dreaming:
    """Sessions of two repositories, two of each."""
    for name, gotchas in (("tide", ["watch", "push"]), ("lamp", ["lint", "seed"])):
        folder = _repository(home / "code" / name, f"git@example.org:team/{name}.git")
        for copy in ("a", "b"):
            session(home / "sessions", f"{name}-{copy}", gotchas, folder_of_work=str(folder))
    return Dreaming(home)


def _night(person: Dreaming, name: str) -> dict[str, int]:
    """A night in a repository's workspace; return the verdicts."""
    root = person.home / "code" / name
    person.run("init", root)
    ran = person.run(
        *("nightly", "--workspace", root, "--since", "all", "--settle", "0", "--json"),
        *("--transcripts", f"jsonl={person.home / 'sessions'}"),
    )
    return dict(ran.document()["reasons"])


def _everything(person: Dreaming, name: str) -> bytes:
    """All that a workspace and its state hold."""
    root = person.home / "code" / name
    document = person.run("status", "--workspace", root, "--json").document()
    folders = [Path(document["paths"]["state"]), *(root / n for n in ("pending", "ledger"))]
    return b"".join(
        one.read_bytes() for folder in folders for one in folder.rglob("*") if one.is_file()
    )


def test_neither_has_anything_of_the_other(person: Dreaming) -> None:
    """No words, no project and no session of the other repository are in state or queue."""
    for name in ("tide", "lamp"):
        reasons = _night(person, name)
        assert (reasons["processed"], reasons["skipped: another project's"]) == (2, 2)
    tide, lamp = _everything(person, "tide"), _everything(person, "lamp")
    assert b"watch mode never ends" in tide
    assert b"lintish" in lamp
    for word in (b"lintish", b"tenantless", b"team/lamp", b"code/lamp"):
        assert word not in tide
    for word in (b"watch mode never ends", b"hasno upstreamset", b"team/tide", b"code/tide"):
        assert word not in lamp


def test_a_strangers_settings_change_nothing_about_where_text_goes(person: Dreaming) -> None:
    """A workspace file that names a backend or an endpoint stops the night, and nothing is sent."""
    _night(person, "tide")
    settings = person.home / "code" / "tide" / "dreaming.toml"
    for text in ('backend = "anthropic"\n', '[anthropic]\nbase_url = "http://127.0.0.1:9"\n'):
        settings.write_text(text)
        ran = person.run("nightly", "--workspace", settings.parent)
        assert ran.code == 78
        assert "dreaming.toml:1" in ran.err
