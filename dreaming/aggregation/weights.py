"""Weights made by ``benchmarks/mining/train.py``; do not edit by hand."""

from __future__ import annotations

from typing import Final

from dreaming.similarity import Model

PAIR: Final = Model(
    features=(
        "cosine",
        "deed_cosine",
        "deed_first",
        "deed_second",
        "any_first",
        "error_overlap",
        "same_program",
        "same_right_program",
        "both_words",
        "both_errors",
        "shared",
        "generic",
        "deed_size",
    ),
    weights=(0.0, 3.0, 1.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0),
    bias=-7.0,
)

GROUP: Final = Model(features=(), weights=(), bias=0.0)
