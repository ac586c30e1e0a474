"""``dreaming redaction copy``: transcripts that may be shown to others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from dreaming.cli import options
from dreaming.cli.output import count, data, progress, say, size
from dreaming.errors import Refused


@click.command("copy")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--to",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the copies.",
)
@click.option("--force", is_flag=True, help="Replace copies that are there already.")
@options.workspace
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a transcript.")
@options.quiet
def copy(
    paths: Sequence[Path],
    to: Path,
    force: bool,
    workspace: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write redacted copies of transcripts, with what identifies people and machines replaced.

    Of a folder its *.jsonl files are copied. A transcript in which a credential may stand is not
    copied, and the exit code is 4; 1 where one could not be read or judged. Look through a copy
    before you show it: what nobody can know to be a name stays.
    """
    from dreaming import wiring
    from dreaming.jobs import copying

    redactor, words, known = wiring.checker(wiring.Choices(workspace))
    verdicts: Counter[str] = Counter()
    written = 0
    bar = progress(quiet)
    for one in copying.copy(paths, to, redactor, bar, allowed=words.allowed, force=force):
        verdicts[one.verdict] += 1
        written += one.bytes
        if as_json:
            click.echo(json.dumps(msgspec.to_builtins(one)))
        elif one.verdict != "copied":
            records = ", ".join(dict.fromkeys(str(hit.record) for hit in one.hits[:5]))
            at = f" (record {records})" if records else ""
            data(f"{one.verdict}: {one.path}: {one.reason}{at}")
    refused = verdicts["excluded"] + verdicts["held"]
    if not known:
        say("Pseudonyms are good for this run only: no workspace.", quiet=quiet)
    say(
        f"{count(verdicts['copied'], 'transcript')} copied, {size(written)}; "
        f"{refused} refused, {verdicts['failed']} failed.",
        quiet=quiet,
    )
    return Refused.EXIT_CODE if refused else int(verdicts["failed"] > 0)
