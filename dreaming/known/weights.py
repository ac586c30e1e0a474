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
        4.87592,
        6.10937,
        -9.52765,
        5.49635,
        0.92467,
        1.02613,
        0.03695,
    ),
    bias=-8.06626,
)
