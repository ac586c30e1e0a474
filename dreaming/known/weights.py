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
        1.90018,
        2.97094,
        0.25822,
        -0.04176,
        -1.12333,
        3.80727,
        0.27138,
        13.26148,
        0.18422,
    ),
    bias=-8.21837,
)
