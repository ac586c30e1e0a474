"""The state database's schema, one step a function: appended, never edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations


def m001_initial(db: Database) -> None:
    """Everything the first version keeps."""
    for statement in _INITIAL.strip().split(";\n"):
        db.conn.execute(statement)


def m002_kept(db: Database) -> None:
    """What a candidate was when a person decided it."""
    db.conn.execute(_KEPT)


def m003_deeds(db: Database) -> None:
    """What sessions did, so that a habit can be seen."""
    db.conn.execute(_DEEDS)


def m004_memory(db: Database) -> None:
    """What spares the next grouping most of its work; one row."""
    db.conn.execute("create table memory (id integer primary key, body blob not null)")


def m005_hits(db: Database) -> None:
    """Which rules of redaction found something in which transcript; never what."""
    db.conn.execute(_HITS)
    db.conn.execute("create index hits_fingerprint on hits (fingerprint)")


STEPS = (m001_initial, m002_kept, m003_deeds, m004_memory, m005_hits)


def migrations() -> Migrations:
    """Return the steps as sqlite-utils applies them, each in one transaction with its record."""
    from sqlite_utils.migrations import Migrations

    steps = Migrations("dreaming")
    for step in STEPS:
        steps()(step)
    return steps


_INITIAL = """
create table meta (key text primary key, value text not null) without rowid;
create table transcripts (
  id integer primary key,
  agent text not null,
  path blob not null,
  session_agent text not null default '',
  session_id text not null default '',
  native_id text not null default '',
  kind text not null default '',
  version text not null default '',
  kin text not null default '[]',
  unique (agent, path)
);
create index transcripts_session on transcripts (session_id);
create table cursors (
  transcript integer not null references transcripts (id),
  purpose text not null,
  settled integer not null,
  digest text not null,
  verdict text not null,
  reason text not null,
  rules text not null,
  attempts integer not null,
  device integer not null,
  inode integer not null,
  size integer not null,
  modified_ns integer not null,
  changed_ns integer not null,
  looked_at real not null,
  primary key (transcript, purpose)
) without rowid;
create table excerpts (
  transcript integer not null references transcripts (id),
  id text not null,
  project text not null,
  body blob not null,
  primary key (transcript, id)
);
create index excerpts_id on excerpts (id);
create table findings (
  id integer primary key,
  request text not null,
  session_id text not null,
  slug text not null,
  topic text not null,
  symptom text not null,
  rule text not null,
  evidence text not null,
  backend text not null,
  unique (request, session_id, slug, evidence)
);
create index findings_session on findings (session_id);
create table requests (
  hash text primary key,
  base text not null,
  at real not null,
  outcome text not null,
  sessions text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cost real not null
) without rowid;
create index requests_base on requests (base);
create table vocabulary (
  transcript integer primary key references transcripts (id),
  terms blob not null
);
create table frequency (term integer primary key, sessions integer not null);
create table projects (
  id text primary key,
  identity text not null,
  folder text not null
) without rowid;
create table published (
  candidate text primary key,
  members text not null,
  at real not null
) without rowid;
create table runs (
  id integer primary key,
  started real not null,
  outcome text not null,
  report text not null
)
"""

_DEEDS = """
create table deeds (
  transcript integer not null references transcripts (id),
  project text not null,
  at real not null,
  packed blob not null,
  primary key (transcript, project)
) without rowid
"""

_KEPT = """
create table kept (
  decision text primary key,
  candidate text not null,
  body text not null,
  excerpts integer not null,
  sessions text not null
) without rowid
"""

_HITS = """
create table hits (
  transcript integer not null references transcripts (id),
  record integer not null,
  rule text not null,
  severity text not null,
  fingerprint text not null,
  since real not null,
  primary key (transcript, record, rule, fingerprint)
) without rowid
"""
