"""Reads what coding agents left behind, at night, and proposes lessons. A person decides.

ARCHITECTURE.md tells the layers and the way of one line through them.
"""

from typing import Final

__version__: Final = "0.1.0"
