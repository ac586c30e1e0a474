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
        0.73854,
        1.45064,
        0.36035,
        0.07623,
        -0.18218,
        4.51954,
        -0.08464,
        0.9765,
        0.22487,
    ),
    bias=-9.21627,
)
