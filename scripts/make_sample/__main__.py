"""Makes the invented sample that comes with the package, from the stories beside this file.

    python scripts/make_sample                    writes dreaming/resources/sample/home
    python scripts/make_sample FOLDER             writes there
    python scripts/make_sample FOLDER STORIES     writes there, from other stories

The same stories always give the same bytes. Nothing here is taken from anybody's session.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import claude_code
import codex
from story import Story, load

HERE = Path(__file__).parent
SAMPLE = HERE.parent.parent / "dreaming" / "resources" / "sample" / "home"


def write(home: Path, stories: Iterable[Story]) -> None:
    """Lay every story out in ``home`` as its agent would."""
    by_name = {story.name: story for story in stories}
    for story in by_name.values():
        if story.head["agent"] == "codex":
            place = home / ".codex" / "sessions" / codex.path_of(story)
            _lines(place, codex.Writer(story).write())
            continue
        parent = by_name[story.head["inside"]] if "inside" in story.head else None
        place = home / ".claude" / "projects" / claude_code.path_of(story, parent)
        _lines(place, claude_code.Writer(story, parent).write())
        if parent is not None:
            about = claude_code.about_agent(story, parent)
            place.with_suffix(".meta.json").write_text(json.dumps(about), encoding="utf-8")


def _lines(place: Path, records: Iterable[dict[str, Any]]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(
        json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records
    )
    place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    told = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "stories"
    if target == SAMPLE and target.is_dir():
        shutil.rmtree(target)
    write(target, load(told))
