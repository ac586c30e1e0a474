"""A state of every earlier schema opens, and one of a later version is refused in words."""

import sqlite3
from pathlib import Path

import pytest

from dreaming.errors import Unusable
from dreaming.stores import migrations
from dreaming.stores.state import State, opened

from .test_state import KEY, _settlement

EVERY = migrations.STEPS


def _schema(path: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(
            "select name, sql from sqlite_master where sql is not null order by name"
        ).fetchall()


def _made_by(path: Path, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a state as the version with the first so many steps did."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", EVERY[:steps])
        patch.setattr("dreaming.stores.state.STEPS", EVERY[:steps])
        if steps < 3:
            patch.setattr(State, "_replace_deeds", lambda *_: None)
        if steps < 5:
            patch.setattr(State, "_replace_hits", lambda *_: None)
        with opened(path, key=KEY) as state:
            state.put("watermark", "1.0")
            state.settle("mining", [_settlement()], now=1.0)


@pytest.mark.parametrize("steps", range(1, len(EVERY) + 1))
def test_every_earlier_schema_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """It becomes what a new one is, and nothing in it is lost."""
    _made_by(tmp_path / "old.db", steps, monkeypatch)
    with opened(tmp_path / "old.db", key=KEY) as state:
        assert state.get("watermark") == "1.0"
        assert len(state.cursors("mining")) == 1
        assert state.holds(
            "e-a", state.connection.execute("select body from excerpts").fetchone()[0]
        )
    with opened(tmp_path / "new.db", key=KEY):
        pass
    assert _schema(tmp_path / "old.db") == _schema(tmp_path / "new.db")


def test_a_newer_schema_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what it met and what to do, leaves the file alone, and the command ends with 78."""
    _made_by(tmp_path / "state.db", len(EVERY), monkeypatch)
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.execute(
            "insert into _sqlite_migrations (migration_set, name, applied_at)"
            " values ('dreaming', 'm999_tomorrow', '2030-01-01')"
        )
    before = _schema(tmp_path / "state.db")
    with pytest.raises(Unusable) as told, opened(tmp_path / "state.db", key=KEY):
        pass
    assert "a newer version of dreaming (m999_tomorrow)" in told.value.message
    assert (told.value.EXIT_CODE, told.value.remedy) == (78, "Update dreaming.")
    assert _schema(tmp_path / "state.db") == before


@pytest.mark.parametrize("broken", range(len(EVERY)))
def test_a_step_that_breaks_leaves_the_schema_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: int
) -> None:
    """Each step is one transaction with its record; the next opening goes on there."""
    path = tmp_path / "state.db"

    def breaks(db: object) -> None:
        EVERY[broken](db)  # type: ignore[arg-type]
        raise sqlite3.OperationalError("no more room")

    breaks.__name__ = EVERY[broken].__name__
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", (*EVERY[:broken], breaks, *EVERY[broken + 1 :]))
        with pytest.raises(Unusable), opened(path, key=KEY):
            pass
    with opened(path, key=KEY) as state:
        state.put("watermark", "1.0")
    with opened(tmp_path / "new.db", key=KEY):
        pass
    assert _schema(path) == _schema(tmp_path / "new.db")
