"""``dreaming``: the door. Parses, dispatches, and turns every ending into its exit code."""

from __future__ import annotations

import errno
import os
import signal
import sys
from importlib import import_module
from typing import Any, Final

import click

from dreaming import __version__
from dreaming.cli.output import line, say
from dreaming.errors import INTERRUPTED, DiskFull, DreamingError, Unusable

COMMANDS: Final = (
    "init",
    "demo",
    "nightly",
    "status",
    "inspect",
    "doctor",
    "review",
    "accept",
    "reject",
    "undo",
    "backfill",
    "schedule",
    "login",
    "pending",
    "ledger",
    "kb",
    "quarantine",
    "redaction",
    "reveal",
    "daemon",
    "alert",
)
"""In the order a person meets them; each is a module of this package with a command of its name."""

LONGEST: Final = 2000
"""Characters of a sentence about what went wrong: it may quote what somebody else wrote."""

HIDDEN: Final = ("first-night",)
"""Commands that others call: `make night`."""


class _Commands(click.Group):
    """Imports a command's module when somebody asks for it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in (*COMMANDS, *HIDDEN):
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"dreaming.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in (*COMMANDS, *HIDDEN) and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean `{close[0]}`?" if close else " See `dreaming --help`."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dreaming")
def program() -> None:
    """Read what coding agents left behind and propose the lessons that keep recurring.

    The job proposes. A person decides: only `dreaming accept` writes the knowledge base.

    \b
    dreaming demo       see it work on invented sessions
    dreaming init       make a workspace
    dreaming nightly    read what is new and fill the queue
    """


def main(arguments: list[str] | None = None) -> None:
    """Run one command and leave with its exit code. The only way out of the program."""
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code: expected, interrupted and unexpected ends."""
    try:
        result: Any = program.main(arguments, prog_name="dreaming", standalone_mode=False)
    except DreamingError as wrong:
        return _told(wrong)
    except click.exceptions.Abort:
        say("Interrupted; nothing is half-written.")
        return INTERRUPTED
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except KeyboardInterrupt:
        say("Interrupted; nothing is half-written.")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as wrong:
        return _from_the_system(wrong)
    except Exception as wrong:  # the unexpected end: reported, never swallowed
        if os.environ.get("DREAMING_DEBUG"):
            raise
        return _unexpected(wrong)
    return result if isinstance(result, int) else 0


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _told(wrong: DreamingError) -> int:
    say(f"dreaming: {line(wrong.message, LONGEST)}")
    if wrong.remedy:
        say(line(wrong.remedy, LONGEST))
    return wrong.EXIT_CODE


def _from_the_system(wrong: OSError) -> int:
    """A missing right and a full disk are expected ends; every other is not."""
    place = os.fsdecode(wrong.filename) if isinstance(wrong.filename, (str, bytes)) else "A file"
    said = f"{place}: {wrong.strerror}"
    if wrong.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return _told(Unusable(said, remedy="Give yourself the right to it, then run this again."))
    if wrong.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return _told(DiskFull(said, remedy="Make room, then run this again."))
    if os.environ.get("DREAMING_DEBUG"):
        raise wrong
    return _unexpected(wrong)


def _unexpected(wrong: Exception) -> int:
    from dreaming.cli.crash import write_report

    if isinstance(wrong, OSError) and wrong.errno is not None:
        say(f"dreaming: {wrong.filename or 'a file'}: {wrong.strerror}")
    else:
        kind = getattr(wrong, "kind", type(wrong).__name__)
        say(f"dreaming: something unexpected: {kind}")
    say(f"A report that is ready to paste: {write_report(wrong)}")
    return 1
