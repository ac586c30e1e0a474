"""Why a person should look twice at a group: told by its evidence and its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from dreaming.models.candidate import Flag
from dreaming.models.finding import Excerpt
from dreaming.models.session import Speaker

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://|\bwww\.\w", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"--no-verify|--no-gpg-sign|\b(?:disable|skip|bypass|turn off|switch off|ignore)\b.{0,40}"
    r"\b(?:check|checks|test|tests|hook|hooks|lint|linter|review|sandbox|verification|permission|"
    r"permissions|security|auth|certificate|tls|ssl)\b|dangerously|\bcurl\b.{0,80}\|\s*(?:ba|z)?sh|"
    r"\b(?:curl|wget|scp|nc)\b\s|\bsudo\b|chmod 777|--force\b|--insecure|rm -rf|"
    r"\b(?:send|upload|post|exfiltrate|forward)\b.{0,40}\b(?:to|token|secret|key|credential)",
    re.IGNORECASE,
)


def flags(excerpts: Sequence[Excerpt], rule: str) -> tuple[Flag, ...]:
    """Return the flags of a group, in a fixed order."""
    quotations = [quotation for excerpt in excerpts for quotation in excerpt.quotations]
    found = {
        Flag.EXTERNAL: bool(quotations) and all(q.speaker is Speaker.TOOL for q in quotations),
        Flag.SAME_SOURCE: _same_source(excerpts),
        Flag.INSTRUCTION: _INSTRUCTION.search(rule) is not None,
        Flag.URL: _URL.search(rule) is not None,
        Flag.MIXED_SCRIPT: _mixes_scripts(rule),
    }
    return tuple(flag for flag, holds in found.items() if holds)


def _same_source(excerpts: Sequence[Excerpt]) -> bool:
    """Return whether every excerpt quotes the very same texts."""
    sources = {frozenset(q.source for q in excerpt.quotations) for excerpt in excerpts}
    return len(excerpts) > 1 and len(sources) == 1


def _mixes_scripts(text: str) -> bool:
    """Return whether one word mixes letters that look alike in several alphabets."""
    return any(len(_scripts(word)) > 1 for word in re.findall(r"[^\W\d_]+", text))


def _scripts(word: str) -> set[str]:
    if word.isascii():
        return {"LATIN"}
    names = {unicodedata.name(letter, "").split(" ", 1)[0] for letter in word}
    return names & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}
