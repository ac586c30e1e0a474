"""Calm colours for dark and light terminals, and which of them a terminal gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from textual.theme import Theme

DARK: Final = Theme(
    name="dreaming-dark",
    primary="#8fb8de",
    secondary="#a7b6c8",
    accent="#e3c08d",
    warning="#e0b070",
    error="#e08f85",
    success="#9cc69b",
    foreground="#d5dae1",
    background="#15181d",
    surface="#1b1f26",
    panel="#262c35",
    dark=True,
)
LIGHT: Final = Theme(
    name="dreaming-light",
    primary="#2c5f91",
    secondary="#4c5a6b",
    accent="#8a5a12",
    warning="#8f5a00",
    error="#a83a30",
    success="#2f6f3a",
    foreground="#262b33",
    background="#fbfaf7",
    surface="#f2f0ea",
    panel="#e4e1d8",
    dark=False,
)
PLAIN: Final = ("ansi-dark", "ansi-light")
"""Where NO_COLOR is set: the terminal's own two colours, told apart by bold and reverse."""


def theme(wish: str, environment: Mapping[str, str]) -> str:
    """Return the theme for ``auto``, ``dark`` or ``light`` on this terminal.

    ``auto`` goes by COLORFGBG, which some terminals set; others get the dark one.
    """
    light = wish == "light" or (wish == "auto" and _is_light(environment.get("COLORFGBG", "")))
    if environment.get("NO_COLOR"):
        return PLAIN[light]
    return (LIGHT if light else DARK).name


def _is_light(colours: str) -> bool:
    return colours.rpartition(";")[2] in {"7", "15"}
