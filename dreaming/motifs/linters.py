"""Linters, formatters and checks at a commit: ids by their shape, and words for those well known.

A shape tells the id of a finding from the way a linter prints its lines, so that an id nobody
listed has a name too. Compilers are left out: an error in code that is being written is ordinary,
unless a hook with a fixed policy rejects it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from dreaming.models.finding import Excerpt
from dreaming.motifs.interface import Told
from dreaming.motifs.table import Motif, parse, slug, words

_SHAPES: Final = r"""
lint-{what} markdownlint any
  / \b(MD0\d\d)/[a-z-]+\b
  + docs/reef.md:7:81 error MD013/line-length Line length [Expected: 80; Actual: 99]
  ~ the release MD0 of the firmware
lint-{what} golangci-lint any
  / ^\S+\.go<at>.*\(((?!typecheck|revive|staticcheck|gocritic
  / |stylecheck)[a-z][a-z0-9]{2,20})\)$
  + reef/buoy.go:7:2: Error return value of `b.Close` is not checked (errcheck)
  ~ reef/buoy.go:7:2: undefined: tide (see above)
lint-{what} golangci-lint any
  ? issues:
  / ^\* ((?!typecheck|revive|staticcheck|gocritic|stylecheck)[a-z][a-z0-9]{2,20}): \d+$
  + 2 issues:\n* errcheck: 2 ~~ all issues: * errcheck: 2
lint-{what} golangci-lint any
  / ^\S+\.go<at>([A-Za-z]+\d{3,4}|[a-z]+(?:-[a-z]+)+|[a-z]+[A-Z]\w+): .*\((?:revive|staticcheck
  / |gocritic|stylecheck|gosec)\)$
  + reef/buoy.go:1:9: var-naming: avoid meaningless package names (revive)
  ~ var-naming: a rule of revive
lint-{what} pylint any
  / ^\S+\.py:\d+:\d+: [CRWEF]\d{4}: .*\(([a-z]+(?:-[a-z]+)+)\)$
  + reef/buoy.py:7:0: C0114: Missing module docstring (missing-module-docstring)
  ~ reef/buoy.py:7: AssertionError (no-tide)
lint-{what} ruff any
  / ^\S+\.pyi?:\d+:\d+:? ((?!E9)[A-Z]{1,4}\d{3,4})\s
  + reef/buoy.py:7:80: E501 Line too long (130 > 100) ~~ reef/buoy.py:7: in tide, code E501
lint-{what} ruff any
  / ^((?!E9)[A-Z]{1,4}\d{3,4}) (?:\[\*\] )?\S.{6,150}\n\s*--> \S+\.pyi?:\d+
  + F401 [*] `os` imported but unused\n --> reef/buoy.py:1:8 ~~ F401 is the frame --> reef
lint-{what} mypy any
  / ^\S+\.pyi?:\d+(?::\d+)?: error: .*\[(no-untyped-def|no-untyped-call|type-arg|no-any-return
  / |import-untyped|unused-ignore|no-redef|redundant-cast|explicit-override)\]$
  + reef/buoy.py:7: error: Function is missing a type annotation  [no-untyped-def]
  ~ reef/buoy.py:7: error: Name is not defined  [name-defined]
lint-{what} ESLint any
  / ^ {0,9}\d+:\d+ * (?:error|warning|✖|⚠)  *\S.{0,300}? {2,9}
  / (@?[a-z][a-z0-9-]*(?:/[a-z0-9-]+){0,2})$
  +   7:13  error  'tide' is assigned a value but never used  no-unused-vars
  ~   7:13  error  Parsing error: unexpected token
lint-{what} oxlint any
  / [⚠×] (?:eslint|typescript-eslint|unicorn|oxc|react|import)\(([a-z-]+)\):\s
  +   ⚠ eslint(no-unused-vars): Variable 'tide' is declared but never used.
  ~ import(reef): loads the reef
lint-{what} Biome any
  / (?:^|\s)lint/([a-z0-9]+/[A-Za-z]+)(?=\s+(?:FIXABLE\s+)?━|$)
  + reef/buoy.ts:7:13 lint/suspicious/noExplicitAny ━━━━━━━━━ ~~ see lint/rules for more
lint-{what} Clippy any
  / (?:#\[(?:warn|deny)\(|`-[DWF] |master/index\.html#)(?:clippy(?:::|-))?((?!warnings|all
  / |pedantic|nursery)[a-z]+(?:[_-][a-z]+)+)
  +    = note: `-D clippy::needless-return` implied by `-D warnings`
  ~ #[allow(clippy::needless_return)]
lint-{what} ShellCheck any
  / \b(SC[123]\d{3})(?=\]| \((?:error|warning|info|style)\):)
  +    ^-- SC2086 (info): Double quote to prevent globbing and word splitting.
  ~ # shellcheck disable=SC2086
lint-{what} RuboCop any
  / ^\S+\.rb:\d+:\d+: [CWEFR]: (?:\[Correctable\] )?([A-Z]\w+/\w+):\s
  + reef/buoy.rb:7:3: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings.
  ~ reef/buoy.rb:7:in `tide': no Style/StringLiterals
lint-{what} hadolint any
  / \b(DL[34]\d{3}) (?:error|warning|info|style):\s
  + Dockerfile:7 DL3008 warning: Pin versions in apt get install. ~~ # hadolint ignore=DL3008
lint-{what} commitlint any
  / ^✖   .*\[([a-z]+(?:-[a-z]+)+)\]$
  + ✖   subject may not be empty [subject-empty] ~~ ✖   found 2 problems, 0 warnings
lint-{what} yamllint any
  / ^ {0,9}\d+:\d+ * (?:error|warning)   *\S.{0,300} \(([a-z-]+)\)$
  +   7:81      error    line too long (99 > 80 characters)  (line-length)
  ~   7:81      error    line too long
lint-{what} the_linter_of_the_JVM_code any
  / ^\S+\.(?:kts?|java):\d+(?::\d+)?: .*[\[(](standard:[a-z-]+|[A-Z][a-z]+[A-Z]\w+)[\])]\.?$
  + reef/Buoy.kt:7:1: Unexpected blank line(s) (standard:no-consecutive-blank-lines)
  ~ reef/Buoy.java:7: error: cannot find symbol
lint-{what} SwiftLint any
  / \.swift:\d+:\d+: (?:warning|error): .*\(([a-z]+(?:_[a-z]+)*)\)$
  + /srv/Buoy.swift:7:1: warning: Line should be 120 characters or less (line_length)
  ~ /srv/Buoy.swift:7:1: error: cannot find 'tide' in scope
lint-{what} clang-tidy any
  / ^\S+\.(?:c|cc|cpp|cxx|h|hpp):\d+:\d+: (?:warning|error): .*\[((?:bugprone|cert
  / |cppcoreguidelines|google|misc|modernize|performance|readability)-[\w.-]+)[\],]
  + reef.cpp:7:3: warning: use nullptr [modernize-use-nullptr]
  ~ reef.cpp:7:3: warning: unused variable 'tide' [-Wunused-variable]
lint-{what} the_analyser any
  / \.cs\(\d+,\d+\): (?:error|warning) ((?:CA|IDE|SA|RCS)\d{4}):\s
  + Buoy.cs(7,3): warning CA1822: Member 'Tide' does not access instance data
  ~ Buoy.cs(7,3): error CS0103: The name 'tide' does not exist
lint-{what} the_type_checker hook
  / error (TS\d{4,5}):\s
  + src/buoy.ts(7,3): error TS2345: Argument of type 'string' is not assignable.
  ~ the error TS gave
hook-{what} pre-commit any
  ! Run `pre-commit run {what}` on what you changed before committing.
  / Failed\s*\n- hook id: ([a-z][\w.-]{1,40})$
  + trim trailing whitespace.......Failed\n- hook id: trailing-whitespace
  ~ check yaml.......Passed\n- hook id: check-yaml
"""
_FORMATTERS: Final = r"""
format-prettier prettier_--write any
  / Code style issues (?:found )?in\s
  + [warn] Code style issues found in 2 files. Run Prettier to fix. ~~ Code style issues are rare
format-mix mix_format any
  / [Rr]un '?`?mix format|mix format failed
  + ** (Mix) mix format failed due to --check-formatted. ~~ mix format is quick
format-python ruff_format`_or_`black any
  / ^[Ww]ould reformat:? \S
  + would reformat reef/buoy.py ~~ it would reformat nothing
format-isort isort any
  / Imports are incorrectly sorted
  + ERROR: buoy.py Imports are incorrectly sorted and/or formatted. ~~ Imports are sorted
format-rust cargo_fmt any
  / ^Diff in \S+\.rs
  + Diff in /srv/reef/buoy.rs:7: ~~ Diff in the reef
format-biome biome_format_--write any
  / Formatter would have printed
  + × Formatter would have printed the following content: ~~ the Formatter printed
format-go gofmt_-w any
  / is not `?gofmt`?-ed
  + reef/buoy.go is not gofmt-ed ~~ gofmt is not run
format-deno deno_fmt any
  / error: Found \d+ not formatted file
  + error: Found 2 not formatted files in 9 files ~~ no not formatted file
"""
# Credo prints no id with its findings, so the part of its sentence in braces stands for one.
_CREDO: Final = """
nesting Function body {is nested too deep} (max depth is 2, was 3).
  Keep function bodies at [{limit} ]nesting levels at most: extract private helpers
alias {Nested modules could be aliased} at the top of the invoking module.
  Alias nested modules at the top of the module instead of calling them by full name
alias-order The alias `Reef.Buoy` {is not alphabetically ordered among its group}.
  Keep aliases in alphabetical order
length {Using `length/1` is expensive}, prefer comparing against an empty list.
  Compare with an empty list, or match on `[_ | _]`, instead of testing `length/1`
complexity Function is too complex ({cyclomatic complexity is} 10, max is 9).
  Keep the cyclomatic complexity of functions[ at {limit}] or less: split them into clauses
implicit-try Prefer {using an implicit `try`} rather than explicit `try`.
  Put `rescue` at function level instead of an explicit `try` block
moduledoc Modules {should have a @moduledoc tag}.
  Give every module a `@moduledoc`
pipe-start {Pipe chain should start with} a raw value.
  Start a pipe chain with a raw value
map-join `{Enum.map_join}/3` is more efficient than `Enum.map/2 |> Enum.join/2`.
  Use `Enum.map_join` instead of a map and a join
with-single {`with` contains only one} <- clause and an `else` branch
  Use `case` instead of a `with` of one clause and an `else`
cond-single {Cond statements should contain} at least two conditions besides `true`.
  Use `if` instead of a `cond` of one condition
arity {Function takes too many parameters} (arity is 9, max is 8).
  Give a function few parameters[, {limit} at most]
negated {Avoid negated conditions in if-else} blocks.
  Turn negated conditions of an if-else around
inspect There should be {no calls to `IO.inspect}/1`.
  Leave no `IO.inspect` in code
"""
# What to do, without its id; parts in brackets where the output says the number.
_DO: Final = """
md001 Go down one heading level at a time
md004 Use one list marker throughout a Markdown file
md007 Indent nested Markdown lists by the width the linter asks for[: {limit}]
md009 Leave no spaces at the end of Markdown lines
md010 Indent Markdown with spaces, never tabs
md012 Leave one blank line, never several, between Markdown blocks
md013 Lint Markdown from the repository root so that its own line length applies, and wrap
md022 Put blank lines around Markdown headings
md024 Give each heading of a Markdown file its own text
md025 Keep to one top-level heading a Markdown file
md026 End no Markdown heading with punctuation
md029 Number ordered Markdown lists as the linter expects
md031 Put blank lines around fenced code blocks
md032 Put blank lines around Markdown lists
md033 Write no inline HTML in Markdown
md034 Write no bare URL in Markdown: link it or put it in angle brackets
md036 Use a heading, not bold text, for a heading
md040 Name the language of every fenced code block
md041 Begin a Markdown file with a top-level heading
md046 Use one style of code block in Markdown
md047 End every Markdown file with one newline
md051 Check that every link to a heading of the page still has its target
md055 Begin and end every row of a Markdown table with a pipe
md056 Give each row of a Markdown table as many cells as its header
md058 Put blank lines around Markdown tables
md060 Pad the cells of Markdown tables so that every pipe lines up with the header
nolintlint Name the linter and the reason in every `//nolint:linter // reason`
errcheck Handle every returned error, in tests too, instead of dropping it or naming it `_`
dupl Fold near-identical functions, tests too, into one table-driven test or shared helper
goconst Name a string that comes up several times as a constant, in tests too
maintidx Keep functions, tests too, short and simple: split long ones into helpers or subtests
gosec Write files with mode 0600, and explain each wanted exception, such as a variable path
g306 Write files with mode 0600 unless a wider one is explained
g304 Explain each file that is opened by a variable path
gocyclo Keep the cyclomatic complexity of functions low[, {limit} at most]
cyclop Keep the cyclomatic complexity of functions low[, {limit} at most]
gocognit Keep the cognitive complexity of functions low[, {limit} at most]
nestif Nest conditions less: return early or move the inner part to a helper
funlen Keep functions short[, {limit} at most]: move parts to helpers
lll Keep lines within the limit[ of {limit} characters]
gofmt Format Go files with `gofmt` before linting or committing
gofumpt Format Go files with `gofumpt` before linting or committing
goimports Order Go imports with `goimports` before linting or committing
gci Order Go imports in the sections that `gci` is set up for
unused Delete functions, fields and constants that nothing uses any more
unparam Drop parameters and results that are always the same
ineffassign Drop assignments whose value is never read
misspell Spell words in code and comments as the spell check does
wrapcheck Wrap an error of another package before returning it
errorlint Compare errors with `errors.Is` and `errors.As`, and wrap them with `%w`
err113 Return wrapped static errors instead of making new ones in place
noctx Pass a context to calls that can take one
bodyclose Close the body of every response
paralleltest Call `t.Parallel` in every test
testpackage Put tests in a package of their own, with the `_test` suffix
govet Heed `go vet`: shadowed variables, copied locks, wrong format verbs
intrange Range over an integer instead of counting by hand
perfsprint Use `strconv` or joining instead of a plain `fmt.Sprintf`
usetesting Use `t.Context` and `t.TempDir` in tests
var-naming Give packages and variables names the linter accepts, none of the standard library
mnd Name numbers as constants instead of writing them in place
exhaustive List every case of an enumeration in a switch
depguard Import only the packages that the linter allows
e501 Keep Python lines within the limit[ of {limit} characters]
f401 Remove imports that nothing uses in the same edit
f841 Remove variables that nothing reads
i001 Let the linter sort imports (`ruff check --fix`) before committing
e402 Put all imports at the top of the file
e722 Name the exceptions that are caught
b904 Raise from the exception that was caught (`raise … from error`)
c901 Keep the complexity of functions low[, {limit} at most]
plr0911 Keep the number of return statements low[, {limit} at most]
plr0912 Keep the number of branches low[, {limit} at most]
plr0913 Give a function few arguments[, {limit} at most]
plr0915 Keep functions short[, {limit} statements at most]
plr2004 Name numbers in comparisons as constants
s101 Use no `assert` outside tests
t201 Use the logger instead of `print`
no-untyped-def Annotate every function, tests too, with its types
type-arg Give generic types their arguments
no-any-return Return a typed value instead of `Any`
import-untyped Install the stubs of untyped packages or declare them in the settings
unused-ignore Drop `type: ignore` comments that are no longer needed
no-unused-vars Remove variables and imports that nothing uses in the same edit
@typescript-eslint/no-unused-vars Remove variables and imports that nothing uses
@typescript-eslint/no-explicit-any Name the type instead of writing `any`, in tests too
suspicious/noExplicitAny Name the type instead of writing `any`, in tests too
@typescript-eslint/no-floating-promises Await every promise or mark it with `void`
no-console Use the logger instead of `console`
prefer-const Declare with `const` what is never assigned again
react-hooks/exhaustive-deps List everything a hook reads among its dependencies
import/order Order imports in the groups that the linter asks for
ts6133 Remove declarations and imports that nothing uses in the same edit
ts7006 Give every parameter a type
sc2086 Quote variables in shell scripts
sc2155 Declare and assign shell variables in two steps
uninlined_format_args Put variables inside the braces of format strings
too_many_arguments Give a function few arguments, or pass a struct
subject-case Write the subject of commit messages in the case the check wants
type-enum Begin commit messages with one of the types that the check allows
header-max-length Keep the first line of commit messages within the limit
body-max-line-length Wrap the body of commit messages at the limit
subject-empty Write commit messages as `type: subject`
type-empty Write commit messages as `type: subject`
trailing-whitespace Leave no space at line ends
end-of-file-fixer End every file with one newline
no-commit-to-branch Commit on a branch of its own, never on the main one
"""

KNOWN_WORTH: Final = 0.85
OTHER_WORTH: Final = 0.7
ROUTINE_WORTH: Final = 0.4
_ROUTINE: Final = re.compile(r"(?<!im)unused|^(?:ts6133|f401|f841)$", re.IGNORECASE)
"""What a change leaves unused on its way is put right in the next step, by everybody."""
KNOWN: Final = dict(line.split(" ", 1) for line in _DO.strip().split("\n"))


def _shape(motif: Motif) -> Motif:
    """Return an entry of the table of shapes with the words for an id that nobody knows."""
    return msgspec.structs.replace(
        motif,
        topic="lint",
        worth=OTHER_WORTH,
        symptom=f"{motif.topic} rejects what was written for `{{what}}`, again in a later session.",
        rule=motif.rule
        or f"Run {motif.topic} on every change and keep to its rule `{{what}}` from the start.",
    )


def _formatter(motif: Motif) -> Motif:
    return msgspec.structs.replace(
        motif,
        topic="lint",
        worth=0.8,
        symptom="The format check rejects the change: the code was not formatted first.",
        rule=f"Run `{motif.topic}` on what you changed before every check or commit.",
    )


def _credo(text: str) -> Motif:
    said, rule = text.split("\n  ")
    name, _, sentence = said.partition(" ")
    plain = sentence.replace("{", "").replace("}", "")
    symptom = plain.partition(" (")[0].rstrip(".")
    return Motif(
        name=f"lint-credo-{name}",
        topic="lint",
        when="any",
        worth=KNOWN_WORTH,
        pattern=re.escape(sentence.partition("{")[2].partition("}")[0]),
        symptom=f"Credo rejects the change: {symptom[0].lower()}{symptom[1:]}.",
        rule=f"{rule}: Credo rejects it.",
        sees=f"[F] → lib/reef.ex:7:3 {plain}",
        passes=f"the {name} of a reef",
    )


SHAPES: Final = tuple(map(_shape, parse(Motif, _SHAPES)))
SENTENCES: Final = (
    *map(_credo, re.split(r"\n(?=\S)", _CREDO.strip())),
    *map(_formatter, parse(Motif, _FORMATTERS)),
)
MOTIFS: Final = (*SENTENCES, *SHAPES)


def tell(name: str, members: Sequence[Excerpt]) -> Told | None:
    """Return the words for a linter's finding: its own where the id is known, else generic ones."""
    for sentence in SENTENCES:
        if name == sentence.name:
            return sentence.tell(name, members)
    shape = next((s for s in SHAPES if _recognises(s, name, members)), None)
    if shape is None:
        return None
    found = name.partition("-")[2]
    if do := KNOWN.get(found, KNOWN.get(found.replace("-", "_"))):
        shape = msgspec.structs.replace(shape, rule=f"{do} (`{{what}}`).", worth=KNOWN_WORTH)
    spelled = re.sub(r"^(?!md)([a-z]{1,4}\d{3,5})$", lambda m: m[1].upper(), found)
    if _ROUTINE.search(found):
        shape = msgspec.structs.replace(shape, worth=ROUTINE_WORTH)
    told = shape.tell(name.removesuffix(found) + spelled, members)
    return msgspec.structs.replace(told, slug=slug(name)) if told else None


def _recognises(shape: Motif, name: str, members: Sequence[Excerpt]) -> bool:
    return any(name in dict(shape.find(words(member), "")) for member in members)
