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
        0.63911,
        0.35953,
        1.54331,
        0.37688,
        -0.13989,
        5.96271,
        0.1214,
        4.12249,
        0.1663,
    ),
    bias=-9.00443,
)
