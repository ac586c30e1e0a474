"""Invented credentials, made when they are needed: no file here holds one."""

from __future__ import annotations

import json
import re

from dreaming.redaction.engine import Hit, Redactor
from dreaming.redaction.rules import Rule
from dreaming.redaction.shapes import sample

KEY = b"k" * 32
REDACTOR = Redactor(KEY)


def example(rule: Rule, seed: str = "1") -> str:
    """Text that the rule must find, its checksum made right."""
    text = sample(rule.example, f"{rule.name}/{seed}")
    if rule.seal is None:
        return text
    found = re.search(rule.shape, text)
    assert found
    return text[: found.start("value")] + rule.seal(found["value"]) + text[found.end("value") :]


def counterexample(rule: Rule, seed: str = "1") -> str:
    """Text that looks alike and that the rule must not find."""
    return sample(rule.counterexample, f"{rule.name}/{seed}")


def github_token(seed: str = "1") -> str:
    """A token with a right checksum."""
    from dreaming.redaction.proofs import seal_github

    return seal_github(sample("gh" + "p_{A36}", seed))


def private_key(seed: str = "1", lines: int = 6) -> str:
    """A block that looks like a private key; it unlocks nothing."""
    kind = "PRIVATE KEY"
    body = "".join(sample("{B64}", f"{seed}/{n}") + "\n" for n in range(lines))
    return f"-----BEGIN {kind}-----\n{body}-----END {kind}-----\n"


def record(text: str) -> bytes:
    """One line of a transcript that holds the text."""
    content = [{"type": "tool_result", "content": text}]
    message = {"type": "user", "message": {"role": "user", "content": content}}
    return json.dumps(message).encode() + b"\n"


def scan(data: bytes, size: int | None = None, first_line: int = 1) -> tuple[Hit, ...]:
    """What a scanner finds, fed whole or in blocks of ``size`` bytes."""
    scanner = REDACTOR.scanner()
    step = size or max(1, len(data))
    for at in range(0, len(data), step):
        scanner.feed(data[at : at + step], first_line + data.count(b"\n", 0, at))
    return scanner.finish()


def rules_hit(data: bytes) -> set[str]:
    """The names of the rules that found something."""
    return {hit.rule for hit in scan(data)}
