"""A model behind a real backend that answers rightly: almost nothing of that may be lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.shared
def test_right_answers_become_candidates(shared: Path, tmp_path: Path) -> None:
    """Cutting into requests, the wire, checking and grouping lose at most one in fifty."""
    made = [
        str(tmp_path / "set"),
        "--split",
        "public",
        "--seed",
        "4",
        "--nights",
        "2",
        "--scale",
        "0.1",
    ]
    generate = shared / "mining_bench" / "generate.py"
    subprocess.run([sys.executable, generate, *made], check=True, capture_output=True)
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.mining.oracle", tmp_path / "set", "--server"],
        cwd=ROOT,
        env={**os.environ, "DREAMING_SHARED": str(shared), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"^lost: recall (\S+), strict precision (\S+)$", ran.stdout, re.MULTILINE)
    assert found, ran.stderr
    assert [float(one) <= 0.02 for one in found.groups()] == [True, True], ran.stdout
