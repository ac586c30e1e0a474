from __future__ import annotations

import re
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.redaction.engine import Redactor
from tests.rules.redaction_samples import KEY, REDACTOR

UUID = "6b1d2c1e-8a44-4f0e-9c3e-0a4f0f6f7f10"
PSEUDONYM = re.compile(r"<[A-Za-z][^<>]{0,40}>")
ALICE = Redactor(KEY, names=("alice", "wonder-mbp.lan"))


def redact(text: str) -> str:
    """One text on its own, redacted."""
    (out,) = REDACTOR.redact([text])
    return out


HOMES = [
    ("open /home/alice/code/app.py", "open <home>/code/app.py"),
    ("/Users/alice/code", "<home>/code"),
    ("cd /Users/alice", "cd <home>"),
    ("cd /home/alice.", "cd <home>."),
    ("/var/home/alice/x", "<home>/x"),
    ("/mnt/c/Users/Alice/x", "<home>/x"),
    ("C:\\Users\\Alice\\AppData", "<home>\\AppData"),
    ("C:\\Users\\Alice Liddell\\AppData", "<home>\\AppData"),
    ("C:\\\\Users\\\\Alice\\\\AppData", "<home>\\\\AppData"),
    ("C:/Users/Alice/AppData", "<home>/AppData"),
    ("c:\\users\\alice\\x", "<home>\\x"),
    ("C:\\Documents and Settings\\alice\\x", "<home>\\x"),
    ("file:///home/alice/index.html", "file://<home>/index.html"),
    ("vscode://open?path=%2FUsers%2Falice%2Fcode", "vscode://open?path=<home>%2Fcode"),
    ("~/.claude/projects/-Users-alice-code-app/x", "~/.claude/projects/<home>-code-app/x"),
    ("~/.claude/projects/-home-alice-app/x", "~/.claude/projects/<home>-app/x"),
    ("projects/C--Users-alice-src", "projects/<home>-src"),
    ("ls /root/.ssh", "ls <home>/.ssh"),
    ("cd /root", "cd <home>"),
    ('{\\"cwd\\":\\"\\/home\\/alice\\/x\\"}', '{\\"cwd\\":\\"<home>\\/x\\"}'),
    ("line\\n/home/alice/x", "line\\n<home>/x"),
    ("PATH=/usr/bin:/home/alice/bin:/home/alice/go", "PATH=/usr/bin:<home>/bin:<home>/go"),
    ("/home/josé/x", "<home>/x"),
]


@pytest.mark.parametrize(("text", "expected"), HOMES)
def test_a_home_folder_is_replaced_whole(text: str, expected: str) -> None:
    """The prefix that names a person goes; the rest of the path stays readable."""
    assert redact(text) == expected


IDENTITIES = [
    (f"session {UUID} done", "uuid"),
    ("mail alice.liddell+x@acme.io now", "email"),
    ("?email=alice%40acme.io&n=1", "email"),
    ("Author: Alice <alice@acme.io>", "email"),
    ("ssh 52.18.7.9 uptime", "ip"),
    ("host=192.168.1.17", "ip"),
    ("peer 2a02:8071:1:2:3:4:5:6 up", "ip"),
    ("ether a4:83:e7:01:02:0f", "mac"),
    ("call +1 (415) 555-1234", "phone"),
    ("call +44 20 7946 0123 now", "phone"),
    ("call (212) 555-1234", "phone"),
    ("psql -h db-01.corp.acme.io", "host"),
    ("Alices-MacBook-Pro.local ~ %", "host"),
    ("on DESKTOP-4F7K2P1 now", "host"),
]


@pytest.mark.parametrize(("text", "kind"), IDENTITIES)
def test_what_identifies_becomes_a_pseudonym_of_its_kind(text: str, kind: str) -> None:
    """A pseudonym says what stood there; a few characters tell two of a kind apart."""
    out = redact(text)
    found = PSEUDONYM.findall(out)
    assert [p.split(":")[0] for p in found if p != "<home>"][-1] == f"<{kind}"
    length = 12 if kind == "uuid" else 4
    assert re.fullmatch(rf"<{kind}:[0-9a-f]{{{length}}}>", found[-1])


LOOK_ALIKES = [
    "version 1.2.3.4-rc1 and 10.15.7 and numpy==1.26.4",
    "icon@2x.png and @types/node@20.1.2 and @pytest.fixture",
    "std::vector<int> a::b; 12:34:56 and ::before",
    "timestamp 1789993842 build 20261130 id 4155551234567890",
    "git@github.com:acme/repo.git, user@example.com, noreply@anthropic.com",
    "/home/runner/work, /Users/Shared/x, /home/node/app, C:\\Users\\Public",
    "127.0.0.1:3000 0.0.0.0 255.255.255.0 192.0.2.4 localhost ::1 2001:db8::1",
    "decorator @app.route('/x') matrix a@b.T",
    "oid 1.3.6.1.4.1.311 section 4.3.2.1",
    "src/home/index.tsx /home/page.html app/Users/list",
    "00000000-0000-0000-0000-000000000000",
    "self.internal, config.local, host.docker.internal, settings.local.json",
    "@@ -1,3 +1,4 @@\n+4155551234\n",
    "SHA256 md5 a4:83:e7:01:02:0f:11:22:33:44:55:66:77:88:99:aa",
    "<home> and <uuid:3f2a> and <email:91bc>",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_stay(text: str) -> None:
    """Versions, sections, loopback, placeholders and other people's robots identify no one."""
    (out,) = REDACTOR.redact([text])
    assert out is text


def test_text_without_identities_is_the_same_object() -> None:
    """Nothing is copied that need not be."""
    texts = ["plain words only", "", "and " * 500]
    out = REDACTOR.redact(texts)
    assert all(a is b for a, b in zip(texts, out, strict=True))


def test_a_name_is_learned_from_a_home_folder_and_replaced_in_all_texts() -> None:
    """Texts of one session share what is learned from one of them, whatever their order."""
    out = REDACTOR.redact(["drwxr-xr-x 5 wonderalice staff", "cd /home/wonderalice/x"])
    assert "wonderalice" not in "".join(out)
    assert out[1] == "cd <home>/x"


@pytest.mark.parametrize(
    "text",
    [
        "/home/{}/x",
        "/srv/backup/home/{}/x",
        "/Users/{}",
        "C:\\Users\\{}\\x",
        "C:\\\\Users\\\\{}",
        "%2Fhome%2F{}%2Fx",
        "-Users-{}-code",
        "-home-{}-my-strange-folder",
        "ls -l {} staff",
        "{}@some-box:~$",
        "user={} uid=501",
        "origin/{}/feature",
    ],
)
@pytest.mark.parametrize("name", ["alice", "priya.r", "j_doe", "sofia-l", "tom"])
def test_a_known_name_is_left_nowhere(text: str, name: str) -> None:
    """The machine's own user is replaced in every spelling of a folder, and alone."""
    (out,) = Redactor(KEY, names=(name,)).redact([text.format(name)])
    assert name not in out
    (out,) = Redactor(KEY, names=(name,)).redact([text.format(re.sub(r"\W|_", "-", name))])
    assert re.sub(r"\W|_", "-", name) not in out


def test_a_name_that_is_a_word_is_replaced_only_where_it_is_a_name() -> None:
    """A user called max does not take the maximum out of every text."""
    (out,) = Redactor(KEY, names=("max",)).redact(["/home/max/x: max_tokens is the max"])
    assert out == "<home>/x: max_tokens is the max"


def test_a_system_account_of_this_machine_has_a_home_too() -> None:
    """Where this machine's user is called runner, its home folder goes; the word stays."""
    (out,) = Redactor(KEY, names=("runner",)).redact(["/home/runner/work by the test runner"])
    assert out == "<home>/work by the test runner"


def test_pseudonyms_are_stable_for_one_key_and_differ_for_another() -> None:
    """What belonged together still does; another workspace's pseudonyms tell nothing."""
    upper = UUID.upper()
    one, same = REDACTOR.redact([f"a {UUID}", f"b {upper}"])
    assert one[2:] == same[2:]
    other = Redactor(b"another key").redact([f"a {UUID}"])[0]
    assert other != one


def test_what_a_replacement_uncovers_is_replaced_as_well() -> None:
    """Redaction goes on until nothing identifying is left."""
    out = redact("/home/alice/home/bob/x 52.18.7.9@52.18.7.10")
    assert "alice" not in out
    assert "bob" not in out
    assert redact(out) == out


def test_a_user_named_like_a_pseudonym_breaks_none() -> None:
    """A pseudonym is never redacted again, whatever the names are."""
    out = Redactor(KEY, names=("cafe", "uuid")).redact([f"cafe <user:cafe> {UUID} cafe"])
    again = Redactor(KEY, names=("cafe", "uuid")).redact(out)
    assert out == again
    assert "<user:cafe>" in out[0]


def test_broken_text_is_no_obstacle() -> None:
    """Lone surrogates and control characters pass through unharmed."""
    assert redact("\ud800 /home/alice/x \x00 \x1b[0m") == "\ud800 <home>/x \x00 \x1b[0m"


FRAGMENTS = st.sampled_from(
    [text for text, _ in HOMES + IDENTITIES]
    + LOOK_ALIKES
    + [
        "alice",
        " ",
        "/",
        "\\",
        "\n",
        "<",
        ">",
        ":",
        "-",
        ".",
        "@",
        "é",
        "\\n",
        "home",
        "/home/",
        "1",
    ]
)


@given(st.lists(st.lists(FRAGMENTS, max_size=8).map("".join), max_size=4))
def test_redacting_twice_changes_nothing_more(texts: list[str]) -> None:
    """Redaction is idempotent, keeps the number of texts, and leaves no known name."""
    once = ALICE.redact(texts)
    assert len(once) == len(texts)
    assert ALICE.redact(once) == once


@given(st.sampled_from(HOMES), st.text(max_size=12), st.text(max_size=12))
def test_a_known_home_folder_never_survives(home: tuple[str, str], before: str, after: str) -> None:
    """Whatever stands around it, the path of a known user's home folder is gone."""
    text = f"{before} /home/alice/{after}"
    (out,) = ALICE.redact([text])
    assert "/home/alice/" not in out
    encoded = urllib.parse.quote(f"/home/alice/{after}", safe="", errors="replace")
    assert "%2Fhome%2Falice%2F" not in ALICE.redact([encoded])[0]
