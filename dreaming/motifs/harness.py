"""What an agent's own program says when a call of a tool is handled badly.

The same in every project, so sessions of all projects count together; each agent learns it from
the message, so it takes three root sessions to be worth a line.
"""

from __future__ import annotations

from typing import Final

from dreaming.motifs.table import Motif, parse

MOTIFS: Final = parse(
    Motif,
    r"""
agent-edit-unread agent 0.6 roots=3 anywhere
  / File has not been read yet
  - An edit is refused: the agent has not opened the file with its reading tool.
  ! Open a file with the reading tool, also after a move or a shell command, before its first edit.
  + File has not been read yet. Read it first before writing to it. ~~ the file has been read
agent-edit-stale agent 0.4 roots=3 anywhere
  / has been modified since read|unexpectedly modified
  - An edit is refused: a formatter, a hook or the person changed the file after it was read.
  ! Read a file again after a formatter, a hook or a command has touched it, before editing on.
  + File has been modified since read, either by the user or by a linter. ~~ nothing was modified
agent-edit-misses agent 0.4 roots=3 anywhere
  / String to replace not found|Failed to find (?:expected lines|context)
  - An edit misses: the text to replace was written from memory and does not stand in the file.
  ! Copy the text to replace from a fresh read of the file, and keep it to the lines that change.
  + String to replace not found in file. ~~ the string was not found
agent-patch-form agent 0.4 roots=3 anywhere
  / not a valid hunk header|[Ii]nvalid (?:patch )?hunk|Expected update hunk to start
  - A patch is refused for its form.
  ! Begin each part of a patch with its file line and `@@`, and each line with blank, plus or minus.
  + Invalid patch hunk on line 4: '' is not a valid hunk header. ~~ a valid patch
agent-batch-cancelled agent 0.25 roots=3 anywhere
  / Sibling tool call errored|Cancelled: parallel tool call
  - One failing call cancels all others of the same batch.
  ! Keep a call that may fail, such as a guessed path, out of a batch of parallel calls.
  + Sibling tool call errored ~~ the sibling called
agent-file-too-large agent 0.4 roots=3 anywhere
  / File content .{1,40}exceeds maximum allowed
  - A file is too large to be read whole.
  ! Read large files in parts (offset and limit), or search them, instead of opening them whole.
  + File content (56651 tokens) exceeds maximum allowed tokens (25000). ~~ the tide exceeds maximum
agent-path-guessed agent 0.3 roots=3 anywhere
  / (?:File|Path) does not exist|EISDIR: illegal operation on a directory
  / |^(?:cat|head|tail|sed): (?:cannot open[ ]
  / )?['‘]?[\w.-]+/[^\n]*: No such file or directory
  - A path was guessed and is none, or is a folder.
  ! List or search for a path before reading it instead of guessing.
  + File does not exist. Note: your current working directory is /srv. ~~ the file does exist
agent-sleep-blocked agent 0.75
  / Blocked: sleep
  - The agent's program blocks commands that begin by sleeping.
  ! Run what has to be waited for in the background instead of sleeping before a command.
  + Blocked: sleep 3 followed by: reef. ~~ the way is blocked: sleep
agent-browser-hidden agent 0.75
  / pane is not displayed
  - Screenshots time out while the browser pane is hidden.
  ! Check a page by its text or styles while the browser pane is hidden, not by screenshots.
  + Screenshot timed out after 5s: the Browser pane is not displayed. ~~ the pane is displayed
agent-browser-scope agent 0.75
  / javascript_tool failed: SyntaxError: (?:Identifier '\w+' has already|await is only valid)
  - Scripts run in the page share one global scope, so names of an earlier script clash.
  ! Wrap each script for the page in an immediately invoked (async) function.
  + javascript_tool failed: SyntaxError: Identifier 'buoy' has already been declared
  ~ SyntaxError: Identifier 'buoy' has already been declared
""",
)
