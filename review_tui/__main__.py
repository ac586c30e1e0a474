"""``python -m review_tui``: the screen on invented samples; nothing is read and nothing written."""

from __future__ import annotations

import contextlib

from review_tui.app import ReviewApp
from review_tui.sample import rehearsal

if __name__ == "__main__":
    ReviewApp(lambda: contextlib.nullcontext(rehearsal())).run()
