"""Who git says is at work on this machine. Its settings are read; nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from dreaming.stores.projects import LARGEST_CONFIG

_SECTION: Final = re.compile(r"(?ms)^[ \t]*\[user\][ \t]*$(.*?)(?=^[ \t]*\[|\Z)")
_SETTING: Final = re.compile(r"(?im)^[ \t]*(name|email)[ \t]*=[ \t]*\"?([^\"#;\r\n]+)")


def names(files: Iterable[Path]) -> list[str]:
    """Return the names in these settings of git: the person's, and the handle of the address.

    A file that is missing, too large or not to be read names nobody.
    """
    found = set()
    for file in files:
        try:
            if not file.is_file() or file.stat().st_size > LARGEST_CONFIG:
                continue
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for section in _SECTION.findall(text):
            for key, value in _SETTING.findall(section):
                name = value.strip()
                # 123+kim@users.noreply.github.com
                found.add(name if key.lower() == "name" else name.split("@")[0].split("+")[-1])
    return sorted(found - {""})
