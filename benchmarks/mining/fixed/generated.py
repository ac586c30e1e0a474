"""Pairs put together from parts: each gotcha meets each way of being fixed, and of being not.

The parts are invented, and worded otherwise than the written sets.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Final

from benchmarks.mining.fixed.pairs import Pair

# wrong command | what came back | right command | what varies
_GOTCHAS: Final = tuple(
    tuple(part.strip() for part in line.split("|"))
    for line in """
pip install {} | use the lock file | uv add {} | attrs rich typer
mvn test -pl {} | stale classes | mvn clean test -pl {} | core web cli
terraform apply {} | the state is locked | terragrunt apply {} | net dns db
kubectl get {} | that was the wrong cluster | kubectl --context staging get {} | pods jobs svc
bin/phpunit {} | out of memory | php -d memory_limit=2G bin/phpunit {} | unit api jobs
sbt {} | class file version 65 | sdk env && sbt {} | compile test run
bundle exec rspec {} | no display | HEADLESS=1 bundle exec rspec {} | models api mail
ansible-playbook {}.yml | it changed production | ansible-playbook --check {}.yml | web db mail
""".strip().split("\n")
)
_RULES: Final = ("Use `{right}` instead of `{wrong}`.", "Run `{right}`, not `{wrong}`.")
_SAID: Final = (
    "Call {right} for this, not {wrong}.",
    "We always go with {right}.",
    "You must use {right} here; {wrong} breaks things.",
    "Please run {right} instead of {wrong}.",
    "Everyone needs to use {right}.",
    "Never use {wrong}: use {right}.",
)
_NOT_SAID: Final = (
    "Call {wrong} for this, not {right}.",
    "Last year we used {right}, which was slow.",
    "{wrong} is all you need.",
    "Never use {right} on this machine.",
    "You may use {right} if you like.",
    "Should this say {right}?",
    "Support for {right} is planned.",
    "Run {wrong} first.",
)


def pairs(seed: int = 1) -> Iterator[Pair]:
    """Yield the pairs of one seed, in an order of its own."""
    chance = random.Random(seed)
    said, not_said = cycle(chance.sample(_SAID, len(_SAID))), cycle(_NOT_SAID)
    rules = cycle(_RULES)
    for wrong, came, right, slots in chance.sample(_GOTCHAS, len(_GOTCHAS)):
        names = slots.split()
        tries = [(wrong.format(one), came, right.format(one)) for one in names]
        bad, good = (one.removesuffix(".yml").removesuffix(" {}") for one in (wrong, right))
        used = [[right.format(f"{names[n % 3]}{n}")] for n in range(7)]
        rule = next(rules).format(wrong=bad, right=good)
        spans = {"wrong": f"`{bad}`", "right": f"`{good}`"}
        orders = [next(said).format(**spans)]
        others = [next(not_said).format(**spans) for _ in range(2)]
        for name, fixed, files, later in _fates(bad, good, used, orders, others):
            yield Pair(f"{good}: {name}", rule, tries, fixed, files=files, later=later)
        broken = [*used[:3], [wrong.format("z")], *used[3:]]
        yield Pair(f"{good}: habit broken", rule, tries, later=broken)


def _fates(
    bad: str,
    good: str,
    used: Sequence[Sequence[str]],
    orders: Sequence[str],
    others: Sequence[str],
) -> Iterator[tuple[str, str, Mapping[str, Mapping[str, str]], Sequence[Sequence[str]]]]:
    """Yield what may become of one gotcha: a name, how it was fixed, files, later sessions."""
    doc = f"# Working here\n\nSmall steps, please.\n{orders[0]}\n"
    yield "document", "doc", {"CONTRIBUTING.md": {"before": "# Working here\n", "now": doc}}, ()
    yield "fence", "doc", {"docs/howto.md": {"now": f"# How to\n\n```sh\n{good} y\n```\n"}}, ()
    yield "habit", "habit", {}, used
    hook = f"pre-push:\n  commands:\n    ready:\n      run: {good} all\n"
    yield "hook", "hook", {"lefthook.yml": {"now": hook}}, ()
    for said in others:
        text = f"# Working here\n\n{said}\n"
        yield said, "", {"CONTRIBUTING.md": {"now": text}}, ()
    yield "was said", "", {"AGENTS.md": {"before": doc, "now": f"{doc}\nBe brief.\n"}}, ()
    yield "wrong fence", "", {"README.md": {"now": f"```sh\n{bad} y\n```\n"}}, ()
    yield "wrong hook", "", {"lefthook.yml": {"now": hook.replace(good, bad)}}, ()
    yield "reminder", "", {".husky/pre-push": {"now": f"echo 'do not forget {good}'\n"}}, ()
    task = f"by-hand:\n\t{good} all\n"
    yield "task of another name", "", {"Makefile": {"now": task}}, ()
    yield "habit too young", "", {}, used[:3]
