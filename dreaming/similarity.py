"""How alike two texts are: code-aware tokens and how rare they are. Pure functions of text."""

from __future__ import annotations
