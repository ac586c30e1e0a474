"""What models admit: faults they name as their own, and surprises about where they stood.

Only words in which the model speaks of itself or of what turned out count. A name that lumped
unlike causes ("my mistake") would be a platitude; each entry is one cause with one remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from dreaming.motifs.finder import Finder, Index, folded
from dreaming.motifs.frames import Wish
from dreaming.motifs.swaps import makers
from dreaming.motifs.table import parse

ADMISSIONS: Final = parse(
    Wish,
    r"""
check-facts
  / i <w1>(?:made (?:that|it|this|those) up|invented|hallucinated|fabricated
  / |guessed (?:at )?(?:the|that|this|these|those))|(?:was|is|were) (?:a )?(?:guess|made up
  / |fabricated|invented) (?:by me|on my part)|i (?:had |have )?(?:incorrectly |wrongly[ ]
  / |just )?assumed .{0,60}(?:exist|support|flag|option|api|was called|were called)
  + I apologize - I made that up. ~~ I made up my mind to test it
look-before-claiming-git
  / (?:amended|cited|named|referenced|pushed to|committed to) the wrong (?:commit|sha|branch)
  / |(?:was|were)(?:n'?t| not| never) (?:included in the <w1>commits?|actually (?:committed
  / |pushed))|i (?:never|forgot to|did<nt>) (?:actually )?(?:commit|push)(?:ed)?\b
  + Hmm, that amended the wrong commit. ~~ the branch was pushed
whole-suite
  / (?:test )?failures? (?:looks?|is|are|seems?) <w1>(?:unrelated|pre-?existing)
  / |failing test (?:is|looks|seems) <w1>(?:unrelated|pre-?existing)
  / |(?:test )?failure .{0,60}(?:unrelated to|not (?:related to|caused by)) (?:my|our|this
  / |these) change|pre-?existing test (?:issue|failure)
  / |failing [^.\n]{0,60}test <w1>is a pre-?existing|because they'?re behind a (?:build )?tag
  + That test failure looks unrelated to my changes. ~~ the two changes are unrelated
old-findings lint 0.4
  / (?:diagnostics?|warnings?|lint\w*|credo|dialyzer|mypy|eslint|clippy|suggestions?
  / |findings)[^.\n]{0,60}pre-?exist\w*|pre-?existing\W+<w2>(?:diagnostics?|warnings?|lint\w*
  / |suggestions?|findings|baseline|issues only|dialyzer|credo)|(?:lint
  / |format)\w* errors? .{0,30}(?:were|are) (?:already )?there before|new errors from my edits
  - Old lint findings and new ones stood in one list, and were mixed up.
  ! Compare lint and type findings with those of the HEAD version, and fix those that the change
  ! added.
  + Those diagnostics are pre-existing, not from my changes. ~~ a pre-existing file
cached-tests
  / (?:they'?re|is|are|was|were|it'?s) (?:all )?(?:just )?(?:using |showing |from[ ]
  / |served )?(?:the )?\(?cached\)?(?: test)? results?|results? (?:is|are|was|were) cached
  / |tests? (?:is|are|were|was) cached
  + The tests pass, but they're using cached results. ~~ the page is cached
stale-build build 0.55
  / (?:stale|outdated|old) (?:binary|build|bundle|wasm|image|artifacts?
  / |renders?|executable|dist)\b|(?:binary|build|bundle|image) <w1>(?:predat\w+|is (?:stale|old
  / |older)|was built before)|forgot to rebuild|(?:wasn'?t|hadn'?t been|not been|never) rebuilt
  / |the build never ran
  - A check ran against a build older than the change.
  ! Rebuild what you run before you judge a change by it, and check that the build is newer than the
  ! edit.
  + That was rendered from a stale binary. ~~ the build is green
installed-lags-source tools 0.7
  / (?:installed|packaged|released|production|homebrew|global|system) <w1>(?:version|binary|build
  / |cli)\b.{0,60}(?:older|old|not (?:our|the) (?:dev|local)|lacks?|lags?|does<nt> (?:have
  / |include)|missing|behind)|(?:is|which is) the (?:production|installed|packaged|release) build
  / |ships in v?\d[\w.]*\+|isn'?t in your path|on (?:your )?path (?:is|points to
  / |resolves to) (?:the )?(?:old|production|release|installed)
  - The program on the path was the installed release, not the source at hand.
  ! Check which binary runs and its version first; run what is not released yet by the full path of
  ! your own build.
  + `tool` resolves to the production build, not our dev one: which is the production build
  +  ~~ the installed fonts are old
wrong-folder
  / (?:cwd|working directory|shell|current directory) (?:had |has |was |is )<w1>(?:drifted|changed
  / |reset|moved|still|wrong)|(?:i'?m|i am|i was|we'?re|was|ran|running) <w1>(?:in|from
  / |inside) the wrong (?:directory|folder|cwd|dir)|wrong (?:working )?(?:directory|cwd)\b
  + My own scripting error: cwd had drifted to `src`. ~~ create the directory
wrong-checkout git 0.6
  / (?:in|on|at|from|editing|reading) the (?:wrong|stale) (?:branch|worktree|checkout|copy|repo\w*
  / |version)\b|committed <w1>to the wrong branch
  - Work went on in another branch, worktree or copy than the one that was meant.
  ! Check the branch and the folder (`git status -sb`, `pwd`) before the first edit and before a
  ! commit.
  + I was looking at the wrong branch. ~~ the wrong branch of the tree
diff-hides-untracked git 0.75
  / (?:still|currently|because it'?s|so it'?s) \*{0,2}untracked|diff\b.{0,80}(?:omit|ignor
  / |does<nt> show|empty|skip|hides?|exclud|miss).{0,60}(?:untracked|new) ?
  / |untracked.{0,40}so .{0,30}diff
  $ git (?:-C \S+ )?diff\b(?!.*(?:--cached|--staged|--no-index))
  - `git diff` was run on new files and came back empty, which proved nothing.
  ! For new files use `git status` and `git diff --cached` after `git add` (or `git add -N`): plain
  ! `git diff` leaves untracked files out.
  + The diff stat omitted the new file because it's still untracked.
  +  ~~ the untracked file stays as it is
no-stash-in-shared-tree
  / (?:that|my|the) (?:git )?stash (?:was|destroyed|swept|lost|wiped)|stash\w* .{0,40}(?:destroyed
  / |lost|swept|careless|wiped)
  + That stash was careless of me with a parallel agent live. ~~ the stash is empty
stage-own-files
  / `?git add (?:-a|--all|\.)`? <w1>(?:swept|picked|included|committed|added|staged|pulled)
  / |accidentally (?:committed|staged|included)
  + `git add -A` swept in build artifacts. ~~ run git add -A and commit
foreign-files git 0.65
  / (?:unrelated|foreign) untracked|untracked (?:files?|items?|director\w+)[^.\n]{0,40}(?:are
  / |is)(?:n'?t| not) part of
  / |leav\w+ <w4>untracked|untracked .{0,60}(?:stay|left|leave|keep|kept)\w* (?:out|alone|untouched)
  - The work tree holds untracked files that belong to no change.
  ! Look at `git status` first, stage named files only, and leave the untracked files of others
  ! alone.
  + I am leaving the unrelated untracked files alone. ~~ the untracked file is new
edit-did-not-take editing 0.5
  / (?:my )?(?:edits?|changes?|restore|replacement|patch|sed|script) <w1>(?:did<nt>|hadn'?t
  / |never) (?:fully |actually )?(?:appl\w+|take|took|stick|save|match|land)
  - A scripted edit changed nothing, and the work went on as if it had.
  ! Look at `git diff` after a scripted edit or restore before you go on.
  + Caught my own mistake: the restore didn't take. ~~ the edit applies to all files
search-missed verification 0.5
  / my (?:own )?<w1>(?:scan|grep|search|regex(?:es)?|pattern|audit|query) <w1>(?:missed
  / |was (?:wrong|too)|did<nt> (?:match|catch))|(?:false positives?|artifacts?) <w1>(?:from
  / |of) my (?:own )?<w1>(?:regex\w*|grep|search|pattern)|my own bug.{0,20}grep
  - A search pattern was wrong, and its result was believed.
  ! Try a search pattern on a place you know before you believe what it finds, or does not find.
  + I was wrong: my scan missed the escaped form. ~~ my search found two files
docs-with-change
  / (?:outdated|stale|misleading|obsolete) <w2>(?:comments?|docstrings?|docs)\b
  + I left an outdated TDD comment there. ~~ the comment is short
no-skipped-hooks
  / (?:with|using|use) \W?--no-verify[^.\n]{0,60}commit|commit[^.\n]{0,60} (?:with
  / |using) \W?--no-verify|--no-verify\W{0,3}to (?:skip|bypass) the <w1>hook\b
  + 2. Use `--no-verify` to skip the hook ~~ `--no-verify` is not allowed
works-everywhere
  / should(?:'ve| have) (?:checked|verified|considered|tested) .{0,20}(?:cross|other|all
  / |every)[- ]?(?:agent|platform|shell|browser|os)\w*
  + I should have verified cross-agent compatibility before editing. ~~ all platforms are supported
hermetic-tests
  / tests? .{0,80}(?:only exists? locally|runs? from the current working directory
  / |depends? on the current (?:dir|folder))|\bit only exists? locally
  / |runs from the current working directory
  + The test reads a folder. It only exists locally. ~~ it runs from the menu
""",
)
LIMITS: Final = parse(
    Wish,
    r"""
agent-without-shell agents 0.8
  / (?:no|not|can'?t|cannot|unable|without|lack|don'?t have|only have)\b[^.\n]{0,60}\b(?:bash
  / |shell|terminal|(?:execut|run|start)\w* (?:`|<w1>(?:commands?|tests?|scripts?|code|anything
  / |it|them|suite|migrations?|benchmarks?|server|build|linter)\b)
  / |command execution)|(?:bash|shell|terminal) (?:is not|isn'?t|are not|aren'?t)\b
  - An agent without a shell was asked to run something, and could not.
  ! Do not ask a restricted (read-only) agent to run anything: put the output in its prompt.
  + I cannot run commands here. ~~ I can run the tests
agent-without-writing agents 0.8
  / (?:only have|limited to|restricted to|my) [^.\n]{0,20}read[- ]only
  / |read[- ]only[^.\n]{0,40}\b(?:so|cannot|can'?t|unable)|(?:no|not|can'?t|cannot|unable|without
  / |lack|don'?t have)\b[^.\n]{0,60}\b(?:writ(?:e|ing)|edit\w*|modify\w*|(?:create|save
  / |change) <w1>files?)
  - An agent that may only read was asked to change files, and could not.
  ! Give work that changes files to an agent that may write, or let it answer with the text and
  ! write it yourself.
  + I only have read-only tools. ~~ I wrote the file
agent-without-network agents 0.75
  / (?:no|not|can'?t|cannot|unable|without|lack|don'?t have)\b[^.\n]{0,60}\b(?:network|internet
  / |web (?:access|search)|fetch\w*|(?:go|look) online|(?:open|visit|access) <w1>(?:urls?|links?
  / |websites?))
  - An agent without network was asked to look something up, and could not.
  ! Fetch what an agent without network needs, and hand it the text.
  + I have no network access. ~~ the network is up
""",
)
"""What restricted agents lack."""

_REACH = 3000


@cache
def _index(entries: tuple[Wish, ...]) -> Index[tuple[Wish, Finder]]:
    ready = [(one, Finder(one.pattern)) for one in entries]
    return Index((one, one[1].runs) for one in ready)


def in_remark(text: str, commands: Sequence[str] = ()) -> dict[str, str]:
    """Return the names of what a model admits to have done wrong, each with the line that does.

    ``commands`` are the last ones it ran.
    """
    return dict([*_found(ADMISSIONS, text, commands), *makers(text[:_REACH])])


def in_limits(text: str) -> dict[str, str]:
    """Return the names of what a restricted agent lacks, each with the line that says so."""
    return dict(_found(LIMITS, text, ()))


def _found(
    entries: tuple[Wish, ...], text: str, commands: Sequence[str]
) -> Iterator[tuple[str, str]]:
    words = folded(text[:_REACH])
    near = _index(entries).near(words)
    some = [(one, finder.compiled) for one, finder in near if finder.compiled.search(words)]
    for line, verbatim in zip(words.split("\n"), text.split("\n"), strict=False) if some else ():
        for one, pattern in some:
            if pattern.search(line) and _ran(one.command, commands):
                yield one.name, verbatim.strip()


def _ran(command: str, commands: Sequence[str]) -> bool:
    return not command or any(re.search(command, one) for one in commands)
