"""What shells, version control, package managers and services say when they refuse.

Worth is how often people keep such a line once two sessions show it: what is particular to a
project or a machine is high, what each agent reads in the message and mends at once is low.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt
from dreaming.models.session import Tool
from dreaming.motifs.interface import Told
from dreaming.motifs.table import Motif, most, parse, program

MOTIFS: Final = parse(
    Motif,
    r"""
missing-command-{what} environment 0.7 any
  / ^<shell>(?::\d+)?: command not found: (<word>)$
  / |^<shell>: (?:line )?\d+: (<word>): (?:command )?not found$
  / |^<shell>: (<word>): command not found$|^'([\w.+-]{2,30})' is not recognized as an internal
  / |The term '([\w.+-]{2,30})' is not recognized
  / |^(?:/usr/bin/)?env: [‘'\"]?([\w.+-]{2,30})[’'\"]?: No such file or directory
  / |exec: \"([\w.+-]{2,30})\": executable file not found
  / |Failed to spawn: `(<word>)`|^fish: Unknown command: ([\w.+-]{2,30})$
  - The command `{what}` is not found on this machine.
  ! Do not call `{what}` here, it is not on the PATH: run it through the project's own tools.
  + zsh:1: command not found: kelpctl ~~ kelpctl: reef not found
missing-module-{what} environment 0.72
  / ModuleNotFoundError: No module named '([A-Za-z_]\w{1,40})
  / |: No module named '?([A-Za-z_]\w{1,40})'?$
  - Python does not find the module `{what}`.
  ! Run Python code that needs `{what}` in the project's environment, dependencies installed.
  + ModuleNotFoundError: No module named 'kelplib' ~~ No module named in the list
missing-package-{what} environment 0.6
  / (?:Cannot find (?:module|package)|Can't resolve) '(@?[a-z][\w-]*(?:/[a-z][\w-]*)?)'
  - Node does not find the package `{what}`.
  ! Install the dependencies of this checkout before using `{what}`, from the folder that has it.
  + Error: Cannot find module 'kelp-reef' ~~ Error: Cannot find module './kelp'
dependencies-not-installed environment 0.7
  / node_modules missing|Unchecked dependencies for environment|[Rr]un [`\"']mix deps\.get
  / |Run `bundle install`|dependencies are not installed
  - A fresh checkout or worktree has no dependencies installed, so its commands fail.
  ! Install the dependencies first in every fresh checkout or worktree.
  + Local package.json exists, but node_modules missing, did you mean to install?
  ~ the plugin is not installed
missing-generated-files environment 0.75
  / : pattern [\w./*-]+: no matching files found
  - The build needs generated files that a fresh checkout or worktree does not have.
  ! Generate the embedded files first in a fresh checkout or worktree, then build.
  + cmd/reef.go:7:12: pattern ui: no matching files found ~~ no matching files found for reef
lock-file-outdated environment 0.7
  / ERR_PNPM_OUTDATED_LOCKFILE|[Ll]ock ?file .{0,60}(?:out of date|outdated|not up.to.date
  / |needs to be updated)|can only install packages when your package\.json and
  / |significantly since \S+\.lock was last|uv\.lock.{0,40}needs to be updated
  / |missing go\.sum entry|updates to go\.mod needed
  - The lock file is out of step with the declared dependencies, and the install refuses.
  ! Update and commit the lock file in the same change as the dependencies.
  + ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" ~~ the lock file is fine
version-unsupported environment 0.7
  / [Uu]nsupported engine|The engine "\w+" is incompatible with|ERR_PNPM_UNSUPPORTED_ENGINE
  / |requires go >= [\d.]+ \(running
  / |requires a different Python|rustc [\d.]+ is not supported by|You are using Node\.js [\d.]+
  - The tool on the PATH is older than the project allows.
  ! Select the version that the project asks for before running its commands.
  + ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)
  ~ the reef is not supported by kelp
pnpm-{what} environment 0.7
  / ERR_PNPM_((?!OUTDATED_LOCKFILE|UNSUPPORTED_ENGINE|RECURSIVE|NO_SCRIPT)[A-Z_]{5,40})\b
  - pnpm refuses with `ERR_PNPM_{what}`, again in a later session.
  ! Mind that pnpm refuses with `ERR_PNPM_{what}` here: use the project's settings for it.
  + [ERR_PNPM_MINIMUM_RELEASE_AGE_VIOLATION] 3 lockfile entries failed verification:
  ~ ERR_PNPM is a prefix
python-externally-managed environment 0.75
  / error: externally-managed-environment
  - pip refuses to install into the system's Python.
  ! Use the project's virtual environment instead of the system's pip.
  + error: externally-managed-environment ~~ see externally-managed-environment
unset-variable-{what} environment 0.7
  / (?:[Ee]nvironment variables?|env vars?):? [`'"]?([A-Z][A-Z0-9]*_[A-Z0-9_]{2,40})[`'"]?
  / \s(?:is |are )?(?:not set|missing|required|must be set|not found)|Missing required (?:secrets
  / |environment variables?|env vars?): ([A-Z][A-Z0-9]*_[A-Z0-9_]{2,40})|^KeyError:
  / \s'([A-Z][A-Z0-9]*_[A-Z0-9_]{2,40})'$|\b([A-Z][A-Z0-9]*_[A-Z0-9_]{2,40}) (?:is|was) not (?:set
  / |defined)\b
  - The variable `{what}` is not set where the command runs.
  ! Set `{what}` (or load the project's env file) before running this.
  + Error: environment variable KELP_URL is not set ~~ Missing required field: name
wrong-folder shell 0.7 any
  / cd: <relative>: No such file or directory|cd:(?:\d+: )?no such file or directory: <relative>
  / |cd:1: no such file or directory|cannot find main module|does not contain main module
  / |go\.mod file not found in current|no Go files in |no tasks defined in
  / |FileNotFoundError: .*No such file or directory: '(?:\.?<relative>)/[^'\n]+'
  / |ENOENT.{0,60}open '[^'\n]+package\.json'|Could not read package\.json
  / |Could not find a Mix\.Project|could not find `Cargo\.toml`|^fatal: not a git repository
  / |no makefile found|ERR_PNPM_NO_IMPORTER
  - A command runs in the wrong folder, because an earlier `cd` stuck or was undone.
  ! Name the folder in every command (`cd <root> && …`, `git -C`) instead of trusting the last
  ! `cd`.
  + /usr/bin/bash: line 1: cd: reef: No such file or directory
  ~ ls: reef: No such file or directory
windows-tmp shell 0.85 any
  / ENOENT.{0,60}'[A-Z]:\\{1,2}tmp\\|No such file or directory: '[A-Z]:\\{1,2}tmp\\
  - What Git Bash writes to `/tmp` is not there for native Windows programs.
  ! Put temporary files that a native program opens under a Windows path, never under `/tmp`.
  + Error: ENOENT: no such file or directory, open 'D:\tmp\reef.txt' ~~ copied D:\tmp\reef.txt
windows-paths shell 0.85 any
  / Cannot find module '/[a-z]/|ENOENT.{0,60}'[A-Z]:\\{1,2}[a-z]\\
  - Native Windows programs do not understand the paths of Git Bash (`/d/…`).
  ! Give native programs such as Node Windows paths (`D:/…`), not those of Git Bash (`/d/…`).
  + Error: Cannot find module '/d/reef/hero.json' ~~ Error: Cannot find module './d/reef'
git-ignored-{what} git 0.85 any
  / paths are ignored by one of your \.gitignore files:\s+([\w.@-][\w.@/-]{0,60})
  - `git add` refuses `{what}`: .gitignore excludes it.
  ! Leave `{what}` out of `git add`: .gitignore excludes it, and only files that are tracked
  ! already take `git add -f`.
  + The following paths are ignored by one of your .gitignore files:\nreef
  ~ ignored by one of your .gitignore rules
git-no-upstream git 0.45
  / branch \S+ has no upstream branch
  - A plain `git push` of a new branch fails: it has no upstream.
  ! Push a new branch the first time with `git push --set-upstream origin <branch>`.
  + fatal: The current branch reef has no upstream branch. ~~ the reef has no upstream branches
sync-first git any
  / \[rejected\].*\((?:fetch first|non-fast-forward)\)|tip of your current branch is behind
  / |^## [^\s.]+\.\.\.\S+ \[(?:ahead \d+, )?behind \d+\]|^Your branch is behind '
  +  ! [rejected]        main -> main (fetch first) ~~ fetch first, then look
outputs-in-tree workflow 0.7 any
  ? Untracked files:|??
  / ^(?:\?\? |\t)[\w./-]*(?:results?|outputs?|failures?|debug|coverage)[\w.-]*\.(?:txt|log|out)$
  - Output of tests and tools was written into the work tree and left there, untracked.
  ! Write the output of tests and tools to a temporary folder, never into the work tree, and delete
  ! it before you finish.
  + ?? src/test-results.txt ~~ ?? src/results.go
git-protected-branch git 0.85 any
  / GH006|GH013|protected branch hook declined|due to repository rule violations
  - The remote refuses a direct push to a protected branch.
  ! Push a branch and open a pull request: the remote refuses direct pushes to this one.
  + remote: error: GH006: Protected branch update failed for refs/heads/main.
  ~ a protected branch is safe
git-index-lock git 0.7
  / index\.lock': File exists
  - Git refuses to work: an `index.lock` is left from another process.
  ! Run one git command at a time in a work tree, and remove a stale `index.lock` only then.
  + fatal: Unable to create '/srv/reef/.git/index.lock': File exists. ~~ the index.lock is gone
git-worktree-taken git 0.6
  / is already (?:used by worktree|checked out) at|^fatal: '[^'\n]+' already exists$
  - A branch is checked out in another worktree, so it cannot be checked out here.
  ! Work on a branch in the worktree that has it: git refuses to check it out twice.
  + fatal: 'main' is already used by worktree at '/srv/reef' ~~ the reef already exists
git-signing git 0.8
  / gpg failed to sign the data|error: gpg |1Password: failed|error: [Cc]ouldn't (?:sign|load)
  / |failed to write commit object
  - Commits fail, because they cannot be signed here.
  ! Let the person sign: when signing fails, ask, and do not switch it off or try again blindly.
  + error: gpg failed to sign the data ~~ a sign of the reef
git-access git 0.55
  / Permission denied \(publickey\)|could not read Username|Authentication failed for
  / |^fatal: Could not read from remote repository
  - The remote cannot be reached with the credentials that are here.
  ! Leave fetching and pushing to the person where the remote refuses the session's access.
  + git@example.org: Permission denied (publickey). ~~ a (publickey) is used
gh-field-{what} gh 0.72
  / Unknown JSON field: \"(\w{2,30})\"
  - `gh` knows no field `{what}` for `--json`.
  ! Run the `gh` command with a bare `--json` to see its fields: there is none named `{what}`.
  + Unknown JSON field: "buoy" ~~ Unknown JSON field
gh-own-review gh 0.7
  / Can ?not (?:approve|request changes on) your own pull request
  - GitHub refuses to approve a pull request of the same account.
  ! Comment on a pull request of this account instead of approving it.
  + failed to create review: GraphQL: Review Can not approve your own pull request
  ~ look at your own pull request
gh-login gh 0.6
  / gh auth login|not logged in(?:to)? any GitHub|HTTP 401: Bad credentials
  - `gh` is not logged in where the agent runs.
  ! Check `gh auth status` first, and ask the person to log in instead of trying other ways.
  + To get started with GitHub CLI, please run:  gh auth login ~~ not logged in yet
unknown-option-{program}:{what} commands 0.72 any
  / (?:[Uu]nknown (?:flag|option|argument)|[Uu]nrecognized (?:option|arguments?)
  / |unexpected argument|No such option|flag provided but not defined
  / |unknown shorthand flag):? [`'\"]?(--?[A-Za-z][\w-]{0,30})\b|(?:invalid|illegal) option
  / \s-- '?(\w)\b|unknown option [`']([a-z][\w-]{1,30})'
  - `{program}` knows no option `{what}` here.
  ! Look at `{program} --help` before using `{what}`: the version here has no such option.
  + error: unknown flag: --reef ~~ an unknown flag flies
unknown-subcommand-{program}:{what} commands 0.7 any
  / (?:[Uu]nknown command|unrecognized subcommand|no such command
  / |No such command):? [`'\"]([a-z][\w:-]{1,30})[`'\"]
  / |^git: '([a-z-]{2,20})' is not a git command
  - `{program}` knows no subcommand `{what}` here.
  ! Look at `{program} --help` first: it has no `{what}` here.
  + Error: unknown command "buoy" for "kelp" ~~ an unknown command came
missing-script-{what} commands 0.72 any
  / [Mm]issing script: \"?([a-z][\w:.-]{1,40})\"?
  / |The task \"([a-z][\w.]{1,40})\" could not be found
  / |No rule to make target [`']([a-z][\w.-]{1,40})'
  / |[Nn]o task (?:named )?[`'\"]?([a-z][\w:.-]{1,40})[`'\"]? (?:found|defined)
  / |does not contain recipe `([a-z][\w-]{1,40})`
  - There is no script or task `{what}` in this project.
  ! List the project's scripts first: there is none named `{what}`.
  + npm error Missing script: "reef" ~~ a missing script
port-in-use environment 0.68 any
  / EADDRINUSE|[Aa]ddress already in use|[Pp]ort \d{2,5} is (?:already )?(?:in use|allocated)
  - A server does not start: its port is taken by another one.
  ! Stop the server that is left running, or take another port[ than {port}], before starting one.
  + Error: listen EADDRINUSE: address already in use :::3000 ~~ the name is already in use
docker-down environment 0.7 any
  / Cannot connect to the Docker daemon|[Dd]ocker daemon is not running|dial unix \S*docker\.sock
  - Docker is not running on this machine.
  ! Check `docker info` first: the daemon often does not run here.
  + Cannot connect to the Docker daemon at unix:///var/run/docker.sock. ~~ a docker daemon
database-down environment 0.68 any
  / ECONNREFUSED \S*:(?:5432|3306|6379|27017)\b|connection to server .*(?:refused|failed)
  / |Can't connect to (?:local )?MySQL|:(?:5432|3306|6379|27017).{0,40}[Cc]onnection refused
  - The database that commands and tests need does not run.
  ! Start the project's database before running what needs it.
  + Error: connect ECONNREFUSED 127.0.0.1:5432 ~~ ECONNREFUSED 127.0.0.1:9999
sandbox-ports environment 0.75
  / listen EPERM|bind: operation not permitted
  - The sandbox forbids listening on a port, so checks that start a server fail.
  ! Ask for leave before running checks that listen on a port: the sandbox forbids it.
  + Error: listen EPERM: operation not permitted 127.0.0.1 ~~ EPERM is an error
sandbox-writing environment 0.7
  / ^(?!.*(?:listen|bind|/bin/|chmod|kill)).*(?:(?:open|create|touch|mkdir|write|lock
  / |temp file).{0,160}(?:[Oo]peration not permitted|Read-only file system)|EROFS)
  - The sandbox forbids writing outside the work tree (caches, `.git`, the home folder).
  ! Ask for leave before commands that write outside the work tree: the sandbox forbids it.
  + error: cannot open '.git/FETCH_HEAD': Operation not permitted
  ~ chmod: reef: Operation not permitted
no-network network 0.55
  / [Cc]ould not resolve host|error connecting to api\.|[Nn]etwork is unreachable
  / |getaddrinfo (?:ENOTFOUND|EAI_AGAIN)
  / |failure in name resolution
  - The network cannot be reached from where the agent runs.
  ! Do not download anything in a command here: ask for network first.
  + curl: (6) Could not resolve host: reef.example ~~ the network is reachable
tool-timeout shell 0.7 any
  / ^(?:Error: )?[Cc]ommand timed out after|execution error: command timed out
  - A long command is killed at the time limit of the shell tool.
  ! Run long commands in the background or in batches, or give them a longer time limit.
  + Command timed out after 2m 0s ~~ the tide timed out after noon
shell-glob shell 0.7 any
  / ^<shell>(?::\d+)?: no matches found: |^zsh: no matches found
  - zsh refuses a command whose unquoted pattern matches no file.
  ! Quote brackets, question marks and stars in commands: the shell here is zsh.
  + zsh:1: no matches found: app/[id]/page.tsx ~~ no matches found in reef
shell-quoting shell 0.5 any
  / ^<shell>.{0,40}(?:unexpected EOF while looking for matching|[Uu]nterminated quoted string
  / |unmatched [\"'`]|syntax error near unexpected token|parse error near)
  - A long inline command breaks on its quotes.
  ! Write text with quotes or backticks to a file and pass the file instead of quoting it inline.
  + bash: -c: line 1: unexpected EOF while looking for matching `"' ~~ a parse error near the reef
shell-heredoc shell 0.7 any
  / here-document at line \d+ delimited by end-of-file
  - A here-document is not closed, so the shell runs its text as commands.
  ! Put the end word of a here-document alone on its line, at its very start.
  + bash: line 14: warning: here-document at line 1 delimited by end-of-file (wanted `END')
  ~ the here-document is closed
inline-script-quoting shell 0.7
  / SyntaxError: Invalid regular expression|IndentationError: unexpected indent|re\.error:
  / |PatternError:\s
  / |Invalid or unexpected token|invalid escape sequence|unterminated string literal|bad escape
  / |_compile\(pattern, flags\)
  $ \s-[ec]\s|<<|python3? -\s
  - Inline scripts lose backslashes or quotes on their way through the shell.
  ! Write scripts with patterns or quotes to a file and run it, instead of `-c`, `-e` or a
  ! heredoc.
  + SyntaxError: Invalid regular expression: /(/: Unterminated group
  ~ an invalid escape of the reef
jq-quoting shell 0.7 any
  / failed to parse jq expression|^jq: (?:error: (?:syntax error|.*unexpected)|\d+ compile error)
  - jq programs break on shell quoting.
  ! Put a jq program in single quotes, without `!=` in double quotes, or in a file.
  + jq: error: syntax error, unexpected INVALID_CHARACTER ~~ jq: error (at reef): null
zsh-variable-{what} shell 0.7 any
  / read-only variable: (status|path|argv|options)\b
  - zsh keeps the variable `{what}` for itself.
  ! Name no shell variable `{what}`: the shell here is zsh and it is read-only there.
  + (eval):1: read-only variable: status ~~ a read-only variable: tide
bsd-{what} shell 0.7 any
  / ^(sed): 1: \"|^(date|stat|readlink|xargs|head|cp|ls|base64|mktemp): illegal\s
  - `{what}` is the BSD one here and knows other options than the GNU one.
  ! Write `{what}` for BSD (macOS) here, for example `sed -i ''`, or use Python.
  + sed: 1: "reef.txt": invalid command code r ~~ sed: 1: none
go-build-tags tests 0.7 any
  / build constraints exclude all Go files
  - A Go package is hidden behind build tags, so plain commands pass it by.
  ! Give the build tag (`-tags=…`) when building, linting or testing tagged Go packages.
  + package reef: build constraints exclude all Go files in /srv/reef
  ~ build constraints exclude it
migrations-pending environment 0.68
  / [Mm]igrations? (?:are|is) pending|[Pp]ending migrations?|no such table: \w|(?:relation
  / |database) "\w+" does not exist
  - Commands and tests fail on a database without the latest tables.
  ! Run the project's migrations (for the test database too) before what needs the tables.
  + ERROR:  relation "buoys" does not exist ~~ the reef does not exist
cloud-credentials environment 0.65
  / Unable to locate credentials|could not find default credentials|ExpiredToken
  / |(?:session|token) (?:associated with this profile )?has expired
  - A cloud service refuses: there are no credentials in this session, or they have expired.
  ! Ask the person to log in to the cloud service instead of trying other ways in.
  + Unable to locate credentials. You can configure credentials ~~ the token is old
browser-not-installed environment 0.7
  / Executable doesn't exist at|npx playwright install
  - Browser tests fail: the browser they drive is not installed.
  ! Install the browsers of the test runner first (`npx playwright install`).
  + browserType.launch: Executable doesn't exist at /srv/reef ~~ the playwright installs
cached-tests tests 0.7 any
  ? ok  |FAIL
  / ^.*\S.*$
  $ \bgo clean -testcache\b
  - Go shows cached test results, which prove nothing about the last change.
  ! Run Go tests uncached (`-count=1` or `go clean -testcache`) before calling them green.
  + ok  reef 1.2s ~~ ok  reef (cached)
coverage-threshold tests 0.8 any
  / [Cc]overage .{0,60}(?:does not meet|not reached|below|less than|under).{0,30}?\d+(?:\.\d+)?%?
  - The build fails, because the tests cover too little.
  ! Add tests for what you add[ until coverage is {percent} percent at least] before the checks run.
  + ERROR: Coverage for lines (71%) does not meet global threshold (80%) ~~ test coverage is fine
commit-message-form hooks 0.8
  / [Cc]ommit message (?:must|should|does not|is not|format|has to)|[Ii]nvalid commit message
  / |[Mm]issing [Ss]igned-off-by|[Bb]ranch name .{0,60}(?:must|does not match|is invalid)
  - A hook rejects the commit for the form of its message or the name of its branch.
  ! Write commit messages and branch names in the form that the hook asks for, from the start.
  + Invalid commit message: must begin with a type ~~ the commit message was good
required-companion hooks 0.8
  / [Mm]issing (?:a )?(?:license|copyright) header|(?:[Cc]hangelog|CHANGELOG)(?: entry)? (?:is )?
  / (?:missing|required|not updated)|[Nn]o changesets? (?:found|present)|[Mm]issing changeset
  - A check asks for something beside the change: a licence header, a line of the changelog.
  ! Add what the check wants beside a change (licence header, line of the changelog) at once.
  + Error: missing license header in reef/buoy.go ~~ the changelog is long
import-contract hooks 0.85 any
  / ^Contracts: \d+ kept, [1-9]\d* broken
  - A check of layers rejects an import.
  ! Look at the contracts for imports before importing across folders: a check rejects them.
  + Contracts: 5 kept, 1 broken. ~~ Contracts: 6 kept, 0 broken.
unused-exports hooks 0.75 any
  / ^Unused (?:files|exports|exported types|dependencies|devDependencies) \(\d+\)
  - A check rejects exports, files or dependencies that nothing uses.
  ! Remove exports, files and dependencies that nothing uses in the same change.
  + Unused devDependencies (1) ~~ Unused and old
hook-denies-{program} hooks 0.8 hook
  / ^PreToolUse:\w+ .{0,80}hook|[Bb]locked by .{0,40}hook|denied by .{0,40}hook
  - A hook of the project refuses `{program}` as it was called.
  ! Mind what the project's hook says of `{program}`: it refuses such a call.
  + PreToolUse:Bash hook error: [guard.sh]: use kelp offer ~~ a hook for the coat
denied-{program} permissions 0.7
  / Permission to use \w+.{0,200}denied|reject command|requested permissions to use Bash
  - The permission settings refuse `{program}`.
  ! Ask the person to allow `{program}`, or do without it: the permission settings refuse it.
  + Permission to use Bash with command kelp push has been denied. ~~ no permission to use it
hook-compiles-every-edit hooks 0.85 hook
  / warning: (?:unused (?:alias|import|variable)|undefined|module attribute|Cannot accept)
  / |error: undefined|undefined: \w|(?:declared|imported) and not used|warnings-as-errors
  / |error TS(?:2304|2552|6133)|error\[E0425\]
  - A hook compiles after every edit and rejects what is not used or not defined yet.
  ! Add a definition and its use in one edit, the definition first: a hook compiles every edit.
  +     warning: unused alias Buoy ~~ the tide is undefined by law
codegen-pending hooks 0.8 any
  / Pending Code Generation Detected|(?:[Gg]enerated|[Cc]odegen|API clients?|[Ss]chema|[Tt]ypes)\b
  / .{0,60}(?:out[- ]of[- ]date|not up[- ]to[- ]date|stale)|(?:out of date|not up[- ]to[- ]date
  / |stale)[.,:;!]? +(?:[Pp]lease )?[Rr](?:un|egenerate)\b
  - A check finds generated code that is behind its source.
  ! Run the project's code generation after changing what it reads, and commit its result.
  + ** (Reef) Pending Code Generation Detected for 2 files ~~ the chart is out of date
commit-type-check hooks 0.75
  / \[DIALYZER\]|done \(warnings were emitted\)
  - Dialyzer blocks the commit late, when tests and linters are green already.
  ! Run `mix dialyzer` together with the tests before committing: the hook runs it too.
  + [DIALYZER]\nFinding suitable PLTs ~~ the dialyzer is silent
commit-hook hooks 0.55
  / [Pp]re-(?:commit|push) (?:validation|checks?|hook) (?:failed|rejected|declined)
  / |husky - pre-\w+ (?:hook|script) (?:exited|failed)|lefthook v[\d.]+.*hook: pre-
  - A hook rejects the commit or the push.
  ! Run the checks of the hook (format, lint, types, tests) yourself before committing.
  + husky - pre-commit hook exited with code 1 (error) ~~ the pre-commit hook passed
""",
)

# What works where the plain name does not, for a rule that names it.
_ALIASES: Final = {
    "python": "python3",
    "pip": "python3 -m pip",
    "timeout": "gtimeout",
    "tree": "find",
    "rg": "grep -rn",
    "fd": "find",
    "gsed": "sed",
    "md5sum": "md5",
    "sha256sum": "shasum -a 256",
}
_SAFE: Final = re.compile(r"[A-Za-z.][\w./-]{1,30}")
_RUNNERS: Final = re.compile(
    r"\b(fnm exec (?:--using[= ][\w.]+ )?(?:-- )?|nvm (?:use|exec) [\w.]+|(?:volta|mise|asdf) exec|"
    r"(?:uv|poetry|hatch|pdm|rye) run|corepack pnpm exec|pnpm exec|npx|bunx|yarn|bundle exec|"
    r"python3? -m|(?:\./)?\.?venv/bin/)"
)


def tell(name: str, members: Sequence[Excerpt]) -> Told | None:
    """Return the words for a failure, with what worked instead where the sessions show it."""
    for motif in MOTIFS:
        told = motif.tell(name, members)
        if told is None:
            continue
        rule = _better(motif.name, name.removeprefix(motif.name.partition("{")[0]), members)
        return msgspec.structs.replace(told, rule=rule[:200]) if rule else told
    return None


def _better(base: str, what: str, members: Sequence[Excerpt]) -> str:
    """Return a rule that names what worked; empty where the sessions do not show it."""
    if base.startswith("missing-command"):
        return _other_command(what, members)
    if base.startswith("missing-module"):
        path = most(re.search(r"\b(PYTHONPATH=\.?[\w./-]{0,20})", m.right) for m in members)
        runner = most(_RUNNERS.search(m.right) for m in members)
        if start := path or runner:
            return f"Start Python commands with `{start}` here, else `{what}` is not found."
    if base == "version-unsupported" and (
        runner := most(_RUNNERS.search(m.right) for m in members)
    ):
        return (
            f"Run the project's commands with `{runner.strip()}`: what is on the PATH is too old."
        )
    if base.startswith("hook-denies") and (good := _used(members)) not in ("", what):
        return f"Use `{good}` instead of `{what}`: a hook of the project refuses that."
    if base.startswith("unknown-option"):
        program_, _, option = what.partition(":")
        added = (token for member in members for token in member.added)
        good = most(re.fullmatch(r"(--[a-z][\w-]{1,30})", token) for token in added)
        if good and good != option:
            return f"Use `{good}` with `{program_}`: it has no `{option}` here."
    return ""


def _other_command(what: str, members: Sequence[Excerpt]) -> str:
    runner = most(
        _RUNNERS.search(m.right) for m in members if re.search(rf"\b{re.escape(what)}\b", m.right)
    )
    if runner:
        full = runner if runner.endswith("/") else f"{runner} "
        return f"Call `{full}{what}` instead of a plain `{what}`: it is not on the PATH here."
    good = _used(members)
    if what not in _ALIASES and (good == what or what not in good):
        return ""
    return f"Use `{_ALIASES.get(what, good)}` instead of `{what}`, which is not installed here."


def _used(members: Sequence[Excerpt]) -> str:
    """Return the program that most sessions used in the end; empty where it is no plain word."""
    used = Counter(program(m.right) for m in members if m.right and m.tool is Tool.SHELL)
    good = min(used, key=lambda word: (-used[word], word), default="")
    return good if _SAFE.fullmatch(good) else ""
