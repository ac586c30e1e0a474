"""Weights made by ``benchmarks/mining/train.py``; do not edit by hand."""

from __future__ import annotations

from typing import Final

from dreaming.similarity import Model

KNOWN: Final = Model(
    features=(
        "first",
        "second",
        "third",
        "deed_first",
        "deed_second",
        "covered",
        "leading",
        "deed_covered",
        "size",
    ),
    weights=(
        0.64711,
        1.73102,
        0.41355,
        -0.13949,
        -0.05972,
        2.65201,
        0.52015,
        2.18512,
        0.21121,
    ),
    bias=-9.28892,
)
