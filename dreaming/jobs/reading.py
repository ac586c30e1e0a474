"""One transcript, from bytes to what the state must learn of it: redacted excerpts, or a refusal.

The bytes are scanned for credential shapes while they are parsed. Only when the whole transcript
is clean are its turns redacted and excerpts taken from them; otherwise nothing of it goes on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from dreaming.known.habit import deeds
from dreaming.models.decision import Words
from dreaming.models.finding import Excerpt, KeptExcerpt
from dreaming.models.report import REFUSED, Verdict
from dreaming.models.session import Session, SessionKind, Turn
from dreaming.redaction.engine import (
    MOST_HITS,
    RULES_VERSION,
    Hit,
    Redactor,
    ScanFailed,
    Scanner,
    Severity,
)
from dreaming.redaction.pseudonyms import PSEUDONYMS_VERSION
from dreaming.signals import MINING_VERSION
from dreaming.signals import excerpts as find_excerpts
from dreaming.signals import terms as find_terms
from dreaming.stores.archive import Archived
from dreaming.stores.interface import Cursor, Found, Origin, Project, Settlement, Stamp
from dreaming.stores.projects import Projects
from dreaming.stores.workspace import Pseudonymizer
from dreaming.transcripts.interface import Block, Source, Transcript
from dreaming.transcripts.reading import blocks

NO_SESSION: Final = "no session in it"
OTHER_PROJECT: Final = "another project's"
OWN_RUN: Final = "a model run of dreaming"
VANISHED: Final = "gone before it was read"
NOT_SCANNED: Final = "cannot be scanned for credentials"
TOO_MANY: Final = "more hits than are listed"
WIDE: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""What text in two or four bytes a character begins with: no rule could see anything in it."""
_LINES: Final = 32
"""Bits for the lines within one text, which are not told."""
UNIQUE: Final = 12
"""Shortest record identity, in characters, that no two conversations share by chance."""
IN_REFUSED: Final = "(in refused transcripts)"
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Reading(msgspec.Struct):
    """What reading one transcript gave."""

    settlement: Settlement
    new_bytes: int = 0
    unreadable_lines: int = 0
    unknown_records: dict[str, int] = msgspec.field(default_factory=dict)
    """``agent version: type`` with its number; lines no record could be recovered from too."""
    redacted: Session | None = None
    """What excerpts were taken from; its turns' folders are ids of projects. For the archive."""
    projects: Mapping[str, Project] = msgspec.field(default_factory=dict)


class Reader:
    """Reads transcripts for one workspace."""

    def __init__(
        self,
        redactor: Redactor,
        pseudonyms: Pseudonymizer,
        projects: Projects,
        belongs: Callable[[Project], bool],
        rules: str,
        *,
        strict: bool = False,
    ) -> None:
        """``strict``: a hit of medium severity excludes, and no release holds against it."""
        self.rules = rules
        """Version of the rules a verdict depends on."""
        self.words = Words()
        """What people said about hits; a run sets it from the ledger before it reads."""
        self.strict = strict
        self._redactor = redactor
        self._pseudonyms = pseudonyms
        self._projects = projects
        self._belongs = belongs

    def read(self, source: Source, transcript: Transcript, cursor: Cursor | None) -> Reading:
        """Return what a transcript holds now. Raises nothing for what stands in the file."""
        try:
            return self._read(source, transcript, cursor)
        except FileNotFoundError:
            if cursor is not None and cursor.settled:
                return Reading(_touched(transcript, cursor))  # deleted by its agent: evidence stays
            return Reading(_settlement(transcript, Verdict.SKIPPED, VANISHED, self.rules))
        except OSError as wrong:
            reason = f"cannot be read: {wrong.strerror or type(wrong).__name__}"
        except ScanFailed as wrong:
            reason = _not_scanned(wrong)
        return self._failed(transcript, cursor, reason)

    def _failed(self, transcript: Transcript, cursor: Cursor | None, reason: str) -> Reading:
        settlement = _settlement(transcript, Verdict.FAILED, reason, self.rules)
        settlement.attempts = (cursor.attempts if cursor else 0) + 1
        if cursor is not None:
            settlement.settled, settlement.digest = cursor.settled, cursor.digest
        return Reading(settlement)

    def _read(self, source: Source, transcript: Transcript, cursor: Cursor | None) -> Reading:
        if cursor is not None and self._only_touched(transcript, cursor):
            return Reading(_touched(transcript, cursor))
        pages = _Pages(transcript.path, cursor.settled if cursor else 0)
        let_in = self._let_in(transcript.agent, transcript.path)
        scanner = self._redactor.scanner(let_in)
        parser = source.parser(transcript)
        for block in pages:
            if block.first_line == 1 and block.data.startswith(WIDE):
                raise ScanFailed("It is not in UTF-8.")
            scanner.feed(block.data, block.first_line)
            parser.feed(block)
        # A name goes as far as what stands in it: session ids are made of it.
        hits = (*scanner.finish(), *self.scan([(1, str(transcript.path))], let_in))
        session = self._named(parser.finish())
        grown = cursor is not None and cursor.settled > 0 and pages.digest_at_cut == cursor.digest
        places = _Places(self._projects, session.repository)
        reading = self._settle(transcript, session, hits, places.of)
        settlement = reading.settlement
        reading = msgspec.structs.replace(
            reading,
            new_bytes=pages.settled - (cursor.settled if cursor and grown else 0),
            unreadable_lines=session.unreadable_lines,
            unknown_records=_unknown(session, refused=settlement.verdict in REFUSED),
        )
        settlement.settled = pages.settled
        settlement.digest = pages.digest.hexdigest()
        return reading

    def reread(
        self, kept: Archived | None, transcript: Transcript, cursor: Cursor | None
    ) -> Reading:
        """Return what an archived session comes to by the rules of today.

        Where nothing usable is kept of it, what is known stands.
        """
        if kept is None:
            if cursor is None:
                return Reading(_settlement(transcript, Verdict.SKIPPED, VANISHED, self.rules))
            return Reading(_touched(transcript, cursor))
        let_in = self._let_in(transcript.agent, transcript.path)
        try:
            hits = self.scan(_texts_and_names(kept.session), let_in)
            reading = self._settle(transcript, kept.session, hits, kept.projects.__getitem__)
        except ScanFailed as wrong:
            return self._failed(transcript, cursor, _not_scanned(wrong))
        reading.settlement.settled, reading.settlement.digest = kept.settled, kept.digest
        return reading

    def scan(
        self, texts: Iterable[tuple[int, str]], let_in: Collection[str] = frozenset()
    ) -> tuple[Hit, ...]:
        """Return the credential shapes in texts, each with the number it is known by.

        What a person ``let_in`` is told once. Raises ``ScanFailed``.
        """
        scanner: Scanner = self._redactor.scanner(let_in)
        for number, text in texts:
            scanner.feed(text.encode("utf-8", "surrogatepass") + b"\n\0\n", number << _LINES)
        hits = (
            msgspec.structs.replace(hit, record=hit.record >> _LINES) for hit in scanner.finish()
        )
        return tuple(dict.fromkeys(hits))

    def id(self, agent: str, path: Path) -> str:
        """Return the keyed id by which a person releases a transcript."""
        return self._pseudonyms.transcript(agent, str(path))

    def refusal(
        self, agent: str, path: Path, hits: Sequence[Hit | Found]
    ) -> tuple[Verdict, str] | None:
        """Return the verdict that these hits lead to, and the rule's name as its reason.

        ``None`` where there are none, or a person's word stands against each.
        """
        let_in = self._let_in(agent, path)
        left = [
            hit
            for hit in hits
            if hit.fingerprint not in self.words.allowed
            and not (hit.severity == Severity.MEDIUM and hit.fingerprint in let_in)
        ]
        high = sorted(hit.rule for hit in left if hit.severity == Severity.HIGH)
        if high or (left and self.strict):
            return Verdict.EXCLUDED, (high or sorted(hit.rule for hit in left))[0]
        if left:
            return Verdict.HELD, min(hit.rule for hit in left)
        return (Verdict.EXCLUDED, TOO_MANY) if len(hits) >= MOST_HITS else None

    def _let_in(self, agent: str, path: Path) -> frozenset[str]:
        """Return the fingerprints that a person's word lets into this transcript."""
        released = () if self.strict else self.words.released.get(self.id(agent, path), ())
        return self.words.allowed.union(released)

    def _only_touched(self, transcript: Transcript, cursor: Cursor) -> bool:
        """Whether the bytes that are there are the settled ones, by their hash."""
        if cursor.rules != self.rules or cursor.verdict in (Verdict.FAILED, *REFUSED):
            return False
        if not cursor.digest or transcript.size < cursor.settled:
            return False
        pages = _Pages(transcript.path, cursor.settled)
        for _ in pages:
            if pages.settled > cursor.settled:
                return False
        return pages.settled == cursor.settled and pages.digest.hexdigest() == cursor.digest

    def _settle(
        self,
        transcript: Transcript,
        session: Session,
        hits: Sequence[Hit],
        project_of: Callable[[str], Project],
    ) -> Reading:
        refused = self.refusal(transcript.agent, transcript.path, hits)
        if refused is not None:
            reading = Reading(_settlement(transcript, *refused, self.rules))
        elif session.own_run:
            reading = Reading(_settlement(transcript, Verdict.SKIPPED, OWN_RUN, self.rules))
        elif not session.turns:
            reading = Reading(_settlement(transcript, Verdict.SKIPPED, NO_SESSION, self.rules))
        else:
            reading = self._mined(transcript, session, project_of)
        if session.turns:
            reading.settlement.origin = self._origin(session, reading.settlement)
        reading.settlement.hits = tuple(dict.fromkeys((*_found(hits), *reading.settlement.hits)))
        return reading

    def _mined(
        self, transcript: Transcript, session: Session, project_of: Callable[[str], Project]
    ) -> Reading:
        """Redact the turns that belong to the workspace and take their excerpts."""
        of_turns = [(turn, project_of(turn.folder)) for turn in session.turns]
        belonging = [(turn, project) for turn, project in of_turns if self._belongs(project)]
        session.turns = [turn for turn, _ in belonging]
        if not session.turns:
            return Reading(_settlement(transcript, Verdict.SKIPPED, OTHER_PROJECT, self.rules))
        projects = {project.id: project for _, project in belonging}
        redacted = self.redact(session)
        redacted.repository = ""  # a remote may hold a login; the projects say what it was good for
        redacted.turns = [
            msgspec.structs.replace(turn, folder=project.id)
            for turn, (_, project) in zip(redacted.turns, belonging, strict=True)
        ]
        let_in = self._let_in(transcript.agent, transcript.path)
        hits = self.scan(_texts_and_names(redacted), let_in)
        refusal = self.refusal(transcript.agent, transcript.path, hits)
        if refusal is not None:
            refused = _settlement(transcript, *refusal, self.rules)
            refused.hits = _found(hits)
            return Reading(refused)
        found = find_excerpts(redacted)
        settlement = _settlement(transcript, Verdict.PROCESSED, "", self.rules)
        settlement.hits = _found(hits)
        settlement.terms = find_terms(redacted)
        settlement.deeds = _deeds(redacted)
        part = transcript.path.stem if session.kind is SessionKind.SUBAGENT else ""
        kept: dict[str, tuple[str, str, Excerpt]] = {}
        for one in found:
            id_ = self._pseudonyms.excerpt(
                session.agent, f"{session.native_id}\0{part}", one.line, one.aspect
            )
            kept.setdefault(id_, (id_, one.folder, msgspec.structs.replace(one, folder="")))
        settlement.excerpts = tuple(kept.values())
        seen = {project for _, project, _ in settlement.excerpts}
        settlement.projects = {id_: one for id_, one in projects.items() if id_ in seen}
        return Reading(settlement, redacted=redacted, projects=projects)

    def is_clean(self, text: str) -> bool:
        """Say whether a text holds no credential shape, as far as it can be scanned."""
        try:
            return self._redactor.is_clean([text])
        except ScanFailed:
            return False

    def sendable(self, texts: Sequence[str]) -> list[str]:
        """Return what of a person's own texts may be sent: clean, and with who is named replaced.

        Raises ``ScanFailed``.
        """
        return self._redactor.redact([text for text in texts if self.is_clean(text)])

    def redact(self, session: Session) -> Session:
        """Return the session with everything that identifies replaced.

        The recorded folders are shown to the redactor too: they tell the user's name.
        """
        flat = [text for turn in session.turns for text in _turn_texts(turn)]
        folders = sorted({turn.folder for turn in session.turns})
        names = list(dict.fromkeys(name for turn in session.turns for name in _turn_names(turn)))
        clean = iter(self._redactor.redact([*flat, *names, *folders]))
        turns = [_with_texts(turn, clean) for turn in session.turns]
        renamed = {name: now for name, now in zip(names, clean, strict=False) if now is not name}
        if renamed:
            turns = [_with_names(turn, renamed) for turn in turns]
        return msgspec.structs.replace(session, turns=turns)

    def _named(self, session: Session) -> Session:
        """Return the session with what identifies replaced in the names that reports show.

        Anybody may call a record or a version whatever they like.
        """
        version, counts = session.version, session.unknown_records
        if not version and not counts:
            return session
        folders = sorted({turn.folder for turn in session.turns})
        version, *names = self._redactor.redact([version, *counts, *folders])
        unknown: dict[str, int] = {}
        for name, number in zip(names, counts.values(), strict=False):
            unknown[name] = unknown.get(name, 0) + number
        return msgspec.structs.replace(session, version=version, unknown_records=unknown)

    def _origin(self, session: Session, settlement: Settlement) -> Origin:
        """Return whose the transcript is; of a refused one nothing in clear.

        Records that gave an excerpt are identities too: a fork that left out its first records
        still repeats them.
        """
        records = {one.record for _, _, one in settlement.excerpts if len(one.record) >= UNIQUE}
        identities = (*session.kin, *sorted(f"record:{record}" for record in records))
        clean = settlement.verdict not in REFUSED
        return Origin(
            agent=session.agent if clean else "",
            session_id=self._pseudonyms.session(session.agent, session.native_id),
            native_id=session.native_id if clean else "",
            kin=tuple(self._pseudonyms.kin(f"{session.agent}\0{one}") for one in identities),
            kind=session.kind,
            version=session.version if clean else "",
        )


class _Pages:
    """The blocks of a file with the hash of all of them, and of those up to a cut."""

    def __init__(self, path: Path, cut: int) -> None:
        self._blocks = blocks(path, split_at=cut)
        self._cut = cut
        self.digest = hashlib.sha256()
        self.digest_at_cut = ""
        self.settled = 0

    def __iter__(self) -> Iterator[Block]:
        for block in self._blocks:
            self.digest.update(block.data)
            self.settled += len(block.data)
            if self.settled == self._cut:
                self.digest_at_cut = self.digest.hexdigest()
            yield block


class _Places:
    """The project of each folder a session recorded; a turn without one is where the last was.

    The repository that a transcript names is that of the folder it began in and what is below.
    """

    def __init__(self, projects: Projects, repository: str) -> None:
        self._projects = projects
        self._repository = repository
        self._last = self._first = ""

    def of(self, folder: str) -> Project:
        """Return the project of a folder."""
        self._last = folder or self._last
        self._first = self._first or self._last
        beyond = self._last.removeprefix(self._first)
        inside = self._last.startswith(self._first) and beyond[:1] in ("", "/", "\\")
        return self._projects.of(self._last, self._repository if inside else "")


def rules_version(project_filter: str) -> str:
    """Return what a verdict depends on: redaction rules, mining rules, the filter of projects."""
    parts = f"{RULES_VERSION}\0{PSEUDONYMS_VERSION}\0{MINING_VERSION}\0{project_filter}"
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def stamp(transcript: Transcript) -> Stamp:
    """Return what the listing saw of the file."""
    return Stamp(
        transcript.device,
        transcript.inode,
        transcript.size,
        transcript.modified_ns,
        transcript.changed_ns,
    )


def kept(settlement: Settlement) -> list[KeptExcerpt]:
    """Return a settlement's excerpts with their place, each session its own root."""
    origin = settlement.origin
    if origin is None:
        return []
    return [
        KeptExcerpt(
            id=id_,
            session_id=origin.session_id,
            root=origin.session_id,
            agent=origin.agent,
            native_id=origin.native_id,
            project=project,
            headless=origin.kind == SessionKind.HEADLESS,
            excerpt=excerpt,
        )
        for id_, project, excerpt in settlement.excerpts
    ]


def _deeds(session: Session) -> dict[str, tuple[float, bytes]]:
    """What was done in each project, which stands as each turn's folder, and when that began."""
    turns: dict[str, list[Turn]] = {}
    for turn in session.turns:
        turns.setdefault(turn.folder, []).append(turn)
    began = {id_: min((t.at for t in of if t.at), default=0.0) for id_, of in turns.items()}
    packed = {id_: deeds(of) for id_, of in turns.items()}
    return {id_: (began[id_], done) for id_, done in packed.items() if done and began[id_]}


def _settlement(transcript: Transcript, verdict: Verdict, reason: str, rules: str) -> Settlement:
    return Settlement(
        agent=transcript.agent,
        path=transcript.path,
        stamp=stamp(transcript),
        verdict=verdict,
        reason=reason,
        rules=rules,
    )


def _touched(transcript: Transcript, cursor: Cursor) -> Settlement:
    settlement = _settlement(transcript, cursor.verdict, cursor.reason, cursor.rules)
    settlement.settled, settlement.digest = cursor.settled, cursor.digest
    settlement.keep = True
    return settlement


def _unknown(session: Session, *, refused: bool) -> dict[str, int]:
    """What nobody could make sense of, by agent and version.

    Of a refused transcript only how much: the names of its records and versions are its text too.
    """
    counts = dict(session.unknown_records)
    if session.unreadable_lines:
        counts["(unreadable line)"] = session.unreadable_lines
    if refused:
        return {IN_REFUSED: sum(counts.values())} if counts else {}
    name = f"{session.agent} {session.version or '?'}"
    return {f"{name}: {kind}": number for kind, number in counts.items()}


def _not_scanned(wrong: ScanFailed) -> str:
    return f"{NOT_SCANNED}: {wrong.message}"


def _found(hits: Iterable[Hit]) -> tuple[Found, ...]:
    return tuple(Found(hit.record, hit.rule, hit.severity, hit.fingerprint) for hit in hits)


def _turn_texts(turn: Turn) -> tuple[str, str, str, str]:
    return turn.text, turn.action, turn.before, turn.after


def _turn_names(turn: Turn) -> Iterator[str]:
    """Yield by what names a turn goes: free text too. UUIDs say nothing, and forks share them."""
    for name in (turn.tool_name, turn.call_id, turn.record):
        if name and not _UUID.fullmatch(name):
            yield name


def _with_names(turn: Turn, renamed: Mapping[str, str]) -> Turn:
    return msgspec.structs.replace(
        turn,
        tool_name=renamed.get(turn.tool_name, turn.tool_name),
        call_id=renamed.get(turn.call_id, turn.call_id),
        record=renamed.get(turn.record, turn.record),
    )


def _texts_and_names(session: Session) -> Iterator[tuple[int, str]]:
    """Yield what a session says and the names in it, once each, with their lines."""
    seen: set[str] = set()
    for turn in session.turns:
        yield from ((turn.line, text) for text in _turn_texts(turn))
        for name in _turn_names(turn):
            if name not in seen:
                seen.add(name)
                yield turn.line, name


def _with_texts(turn: Turn, clean: Iterator[str]) -> Turn:
    text, action, before, after = next(clean), next(clean), next(clean), next(clean)
    if (
        text is turn.text
        and action is turn.action
        and before is turn.before
        and after is turn.after
    ):
        return turn
    return msgspec.structs.replace(turn, text=text, action=action, before=before, after=after)
