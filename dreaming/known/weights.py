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
    weights=(0.3, 0.3, 0.3, 0.3, 0.3, 5.0, 0.5, 0.0, 0.0),
    bias=-6.0,
)
