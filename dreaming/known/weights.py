"""Weights made by ``benchmarks/mining/train.py``; do not edit by hand."""

from __future__ import annotations

from typing import Final

from dreaming.similarity import Model

KNOWN: Final = Model(
    features=(
        "covered",
        "deed_covered",
        "both_covered",
        "key_covered",
        "plain_first",
        "recurring",
        "size",
    ),
    weights=(
        2.58999,
        8.137,
        -10.35063,
        5.84561,
        0.97435,
        1.04246,
        0.00117,
    ),
    bias=-7.71895,
)
