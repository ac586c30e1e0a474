"""``dreaming redaction``: what was left out and why, and a person's word about it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from dreaming.cli import options
from dreaming.cli.output import count, data, document, line, progress, say, size
from dreaming.cli.redaction_copy import copy
from dreaming.errors import Refused

if TYPE_CHECKING:
    from dreaming.jobs.refusals import LeftOut, Overview
    from dreaming.models.decision import Decision
    from dreaming.redaction.rules import Rule
    from dreaming.wiring import Choices

_SHOWN: Final = 5
"""Hits of one transcript that the list shows; `explain` shows them all."""
_KEYS: Final = "r release, x keep, e explain, q stop"
_lines = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")


@click.group(short_help="What was left out, and your word about it.")
def redaction() -> None:
    """See what was left out for a credential, check files, and say a word about a hit."""


redaction.add_command(copy)


# -- looking --------------------------------------------------------------------------------------


@redaction.command("list", short_help="What was left out, by which rule.")
@options.workspace
@_lines
def list_(workspace: Path | None, as_json: bool) -> None:
    """List what was left out: excluded, held, or not to be scanned; by rule and by record.

    The value of a hit is shown nowhere; the same value has the same fingerprint. Reads no
    transcript: it shows what the last night found.
    """
    found = _overview(workspace)
    if as_json:
        for one in found.left_out:
            _object(one)
        return
    for verdict in dict.fromkeys(one.verdict for one in found.left_out):
        some = [one for one in found.left_out if one.verdict == verdict]
        held = "  (dreaming redaction held)" if verdict == "held" else ""
        total = sum(one.bytes for one in some)
        data(f"{verdict}: {count(len(some), 'transcript')}, {size(total)}{held}")
        for told in _by_rule(some):
            data(f"  {told}")
    for one in found.left_out:
        _show(one, _SHOWN)
    lost = sum(one.bytes for one in found.left_out)
    data(
        f"Left out: {len(found.left_out)} of {count(found.transcripts, 'transcript')}"
        f"{_share(len(found.left_out), found.transcripts)}, {size(lost)} of {size(found.bytes)}"
        f"{_share(lost, found.bytes)}. How many excerpts that cost cannot be known."
    )


@redaction.command(short_help="Why, and what can be done.")
@click.argument("wanted", metavar="ID|PATH|FINGERPRINT")
@options.workspace
@_lines
def explain(wanted: str, workspace: Path | None, as_json: bool) -> None:
    """Say which rule found something at which record, and what can be done about it."""
    from dreaming.jobs import refusals

    found = refusals.named(_overview(workspace).left_out, wanted)
    for one in found:
        if as_json:
            _object(one)
        else:
            _explain(one)


@redaction.command(short_help="What waits for your word.")
@options.workspace
@_lines
@options.person
def held(workspace: Path | None, as_json: bool, i_am_a_person: bool) -> None:
    """List what waits for a word; on a terminal, one after the other with one key each."""
    from dreaming import wiring

    waiting = [one for one in _overview(workspace).left_out if one.verdict == "held"]
    asking = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    for number, one in enumerate(waiting, start=1):
        if as_json:
            _object(one)
            continue
        _show(one, _SHOWN)
        if asking and not _ask(one, wiring.Choices(workspace), i_am_a_person):
            say(f"{count(len(waiting) - number, 'transcript')} not looked at.")
            return
    if not waiting:
        say("Nothing is held.")
    elif not as_json and not asking:
        say("`dreaming redaction release ID` lets the next night read one.")


def _ask(one: LeftOut, choices: Choices, i_am_a_person: bool) -> bool:
    """Ask for one key about a transcript; return whether to go on."""
    while True:
        click.echo(f"{_KEYS}: ", nl=False)
        key = click.getchar().lower()
        click.echo(key if key.isprintable() else "")
        if key == "r":
            _released(_release(one.id, "", choices, i_am_a_person))
        elif key == "e":
            _explain(one)
            continue
        elif key not in "xq":
            continue
        return key != "q"


# -- a person's word ------------------------------------------------------------------------------


@redaction.command(short_help="Let a held transcript be read.")
@click.argument("wanted", metavar="ID")
@click.option("--why", default="", help="The reason, for the ledger.")
@options.workspace
@options.as_json
@options.person
def release(
    wanted: str, why: str, workspace: Path | None, as_json: bool, i_am_a_person: bool
) -> None:
    """Let the next night read a held transcript although its hits of medium severity stand.

    It holds for the values that are in it now: another one holds it again. Ends with 4 where a hit
    is of high severity. `dreaming undo` takes it back.
    """
    from dreaming import wiring

    said = _release(wanted, why, wiring.Choices(workspace), i_am_a_person)
    if as_json:
        document({"decision": said.name, "action": "release", "transcript": said.target})
    else:
        _released(said)


def _release(wanted: str, why: str, choices: Choices, i_am_a_person: bool) -> Decision:
    from dreaming import wiring
    from dreaming.jobs import decide, refusals
    from dreaming.models.decision import Action

    if not i_am_a_person:
        decide.refuse_agents(os.environ)
    here = wiring.place(choices)
    read, _, _ = wiring.reader(here)
    with wiring.desk(here) as desk:
        found = refusals.overview(desk.state, read)
        one, marks = refusals.releasable(found, wanted, strict=read.strict)
        said = decide.about_hit(desk, Action.RELEASE, one.id, marks, why)
    for note in desk.notes:
        say(note)
    return said


def _released(said: Decision) -> None:
    data(f"released {said.target[:8]}: the next night reads it ({said.name})")


@redaction.command(short_help="Say that a value is no credential.")
@click.argument("fingerprint")
@click.option("--why", required=True, help="The reason, for the ledger.")
@options.workspace
@options.as_json
@options.person
def allow(
    fingerprint: str, why: str, workspace: Path | None, as_json: bool, i_am_a_person: bool
) -> None:
    """Say that the value with this FINGERPRINT is no credential, whatever its severity.

    It holds in this workspace, in every transcript. `dreaming undo` or `disallow` takes it back,
    and the next night withdraws what came in because of it.
    """
    from dreaming import wiring
    from dreaming.jobs import decide, refusals
    from dreaming.models.decision import Action

    if not i_am_a_person:
        decide.refuse_agents(os.environ)
    mark = refusals.fingerprint(fingerprint)
    here = wiring.place(wiring.Choices(workspace))
    found = _overview(workspace).left_out
    holding = [one for one in found if any(hit.fingerprint == mark for hit in one.hits)]
    if sys.stdin.isatty():
        for one in holding:
            _show(one, _SHOWN)
        asked = f"Is {mark}, in {count(len(holding), 'transcript')} left out, no credential?"
        if not click.confirm(asked, err=True):
            raise Refused("Nothing was said.")
    with wiring.desk(here) as desk:
        said = decide.about_hit(desk, Action.ALLOW, mark, "", why)
    for note in desk.notes:
        say(note)
    if as_json:
        document({"decision": said.name, "action": "allow", "fingerprint": mark})
    else:
        data(f"allowed {mark}, in {count(len(holding), 'transcript')} left out ({said.name})")


@redaction.command(short_help="Take an allow back.")
@click.argument("fingerprint")
@options.workspace
@options.person
def disallow(fingerprint: str, workspace: Path | None, i_am_a_person: bool) -> None:
    """Take an `allow` back: the next night withdraws what came in because of it."""
    from dreaming import wiring
    from dreaming.errors import WrongUse
    from dreaming.jobs import decide, past, refusals

    if not i_am_a_person:
        decide.refuse_agents(os.environ)
    mark = refusals.fingerprint(fingerprint)
    with wiring.desk(wiring.place(wiring.Choices(workspace))) as desk:
        standing = past.read(desk.ledger.decisions()).standing
        names = [one.name for one in standing if (one.action, one.target) == ("allow", mark)]
        if not names:
            raise WrongUse(f"{mark} is not allowed.")
        for name in names:
            decide.undo(desk, name)
    data(f"no longer allowed: {mark}")


# -- scanning anything ----------------------------------------------------------------------------


@redaction.command(short_help="Scan any files for credentials.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…|-")
@click.option("--severity", type=click.Choice(["high", "medium"]), help="Only hits of this one.")
@options.workspace
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a hit.")
@options.quiet
def check(
    paths: tuple[str, ...],
    severity: str | None,
    workspace: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Scan files, folders with all that is in them, or the standard input (-) for credentials.

    Ends with 0 where nothing is found, 4 where something is, 1 where a file could not be scanned.
    Needs no workspace. Links to folders are not followed; what is packed is not unpacked.
    """
    from dreaming import wiring
    from dreaming.jobs import refusals

    redactor, words, known = wiring.checker(wiring.Choices(workspace))
    found = wrong = allowed = files = 0
    bar = progress(quiet or not sys.stderr.isatty())
    for one in refusals.check(paths, redactor, bar, words.allowed):
        files += 1
        for hit in one.hits:
            if hit.fingerprint in words.allowed:
                allowed += 1
            elif severity in (None, hit.severity):
                found += 1
                if as_json:
                    click.echo(json.dumps({"path": one.path, **msgspec.to_builtins(hit)}))
                else:
                    place = f"{one.path}:{hit.record}"
                    data(f"{place}: {hit.rule}  {hit.severity}  {hit.fingerprint}")
        if one.wrong:
            wrong += 1
            say(f"{one.path}: {one.wrong}")
    what = "" if known or not found else ". Fingerprints are good for this run only: no workspace"
    passed = f", {count(allowed, 'hit')} allowed" if allowed else ""
    say(f"{count(found, 'hit')} in {count(files, 'file')}{passed}{what}.", quiet=quiet)
    return Refused.EXIT_CODE if found else int(wrong > 0)


@redaction.command(short_help="What is looked for.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a rule.")
def rules(as_json: bool) -> None:
    """List the rules: severity, what each looks for, what it is not, and the source.

    In what a rule looks for, {A36} stands for 36 letters and digits, {h32} for 32 hex digits.
    """
    from dreaming.redaction.detector import RULES

    for rule in sorted(RULES, key=lambda one: (one.severity, one.name)):
        told = _rule(rule)
        if as_json:
            click.echo(json.dumps(told))
        else:
            data(f"{rule.name}  {rule.severity}")
            for name in ("looks_for", "is_not", "source"):
                data(f"    {name.replace('_', ' '):<10} {told[name]}", dim=True)


def _rule(rule: Rule) -> dict[str, str]:
    return {
        "name": rule.name,
        "severity": rule.severity,
        "looks_for": line(rule.what or rule.example, 160),
        "is_not": rule.is_not,
        "source": rule.source,
    }


# -- how it is shown ------------------------------------------------------------------------------


def _overview(workspace: Path | None) -> Overview:
    from dreaming import wiring
    from dreaming.jobs import refusals

    here = wiring.place(wiring.Choices(workspace))
    read, _, _ = wiring.reader(here)
    with wiring.state(here) as state:
        return refusals.overview(state, read)


def _object(one: LeftOut) -> None:
    click.echo(json.dumps(msgspec.to_builtins(one)))


def _by_rule(some: list[LeftOut]) -> list[str]:
    """One line a rule; what has no hit that is known is told by its reason."""
    rules: dict[tuple[str, str], list[tuple[str, str, float]]] = defaultdict(list)
    reasons: dict[str, int] = defaultdict(int)
    for one in some:
        for hit in one.hits:
            rules[hit.rule, hit.severity].append((one.id, hit.fingerprint, hit.since))
        if not one.hits:
            reasons[one.reason] += 1
    told = []
    for (rule, severity), hits in sorted(rules.items(), key=lambda item: (-len(item[1]), item[0])):
        files, values = len({id_ for id_, _, _ in hits}), len({mark for _, mark, _ in hits})
        told.append(
            f"{rule:<28} {severity:<7} {count(len(hits), 'hit')} of {count(values, 'value')} in "
            f"{count(files, 'transcript')}, since {_day(min(at for _, _, at in hits))}"
        )
    return told + [
        f"{reason:<28} {count(number, 'transcript')}" for reason, number in sorted(reasons.items())
    ]


def _show(one: LeftOut, most: int) -> None:
    since = f", since {_day(one.since)}" if one.since else ""
    data(f"{one.id[:8]}  {one.verdict}: {one.reason}  {size(one.bytes)}{since}")
    data(f"    {line(one.path)}")
    for hit in one.hits[:most]:
        data(f"    record {hit.record:<6} {hit.rule:<28} {hit.severity:<7} {hit.fingerprint}")
    if len(one.hits) > most:
        data(f"    and {len(one.hits) - most} more: dreaming redaction explain {one.id[:8]}")


def _explain(one: LeftOut) -> None:
    from dreaming.redaction.detector import RULES

    _show(one, len(one.hits))
    by_name = {rule.name: rule for rule in RULES}
    for name in dict.fromkeys(hit.rule for hit in one.hits):
        if name in by_name:
            told = _rule(by_name[name])
            data(f"{name} looks for: {told['looks_for']}")
            data(f"    no hit is {told['is_not']}; source: {told['source']}")
    data("What you can do:")
    if one.hits:
        place = shlex.quote(one.path)
        data(f"    look at it:        sed -n {one.hits[0].record}p {place}")
        data("    a credential:      revoke it where it was issued; it stands there in plain text")
        data(f"    none at all:       dreaming redaction allow {one.hits[0].fingerprint} --why WHY")
    else:
        data("    let the next night scan it again; if it stays, look at the file itself")
    if one.verdict == "held":
        data(f"    none that matters: dreaming redaction release {one.id[:8]}")


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _share(part: float, whole: float) -> str:
    return f" ({part / whole:.1%})" if whole else ""
