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
        0.22039,
        -1.69333,
        3.0477,
        1.67261,
        2.04485,
        -2.04695,
        1.63989,
        0.4609,
        0.28346,
    ),
    bias=-6.78929,
)
