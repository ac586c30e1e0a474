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
        0.70116,
        0.21826,
        1.04255,
        0.23142,
        0.40825,
        6.3683,
        -0.10628,
        4.96732,
        0.21515,
    ),
    bias=-9.64142,
)
