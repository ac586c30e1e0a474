"""``dreaming redaction``: what was left out and why, and a person's word about it."""

from __future__ import annotations

import click


@click.group()
def redaction() -> None:
    """See what was left out for a credential, check files, and say a word about a hit."""
