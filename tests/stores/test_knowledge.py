"""The pen keeps every byte a person wrote; the reader sees every line of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.errors import Refused
from dreaming.stores import knowledge_reader
from dreaming.stores.knowledge_writer import Change, ChangedMeanwhile, NotThere, plan, write

LINE = "- [2026-11-30] SYMPTOM: it hangs RULE: Add a flag. <!-- dreaming:1f0c9a2b -->"


def test_a_new_topic_gets_a_heading(tmp_path: Path) -> None:
    """A topic file is a readable markdown file from its first line."""
    write(plan(tmp_path, "testing", LINE))
    assert (tmp_path / "testing.md").read_text() == f"# testing\n\n{LINE}\n"


@given(before=st.binary(max_size=200))
def test_what_stood_there_stays_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, before: bytes
) -> None:
    """Whatever a person wrote is the beginning of what stands there afterwards."""
    folder = tmp_path_factory.mktemp("kb")
    (folder / "git.md").write_bytes(before)
    write(plan(folder, "git", LINE))
    after = (folder / "git.md").read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].strip(b"\r\n") == LINE.encode()
    assert after.endswith(b"\n")


def test_line_ends_are_kept(tmp_path: Path) -> None:
    """A file with CRLF gets a line with CRLF."""
    (tmp_path / "git.md").write_bytes(b"# git\r\n")
    write(plan(tmp_path, "git", LINE))
    assert (tmp_path / "git.md").read_bytes() == b"# git\r\n" + LINE.encode() + b"\r\n"


def test_a_file_that_changed_meanwhile_is_not_touched(tmp_path: Path) -> None:
    """The writer says what it believes is there, and stops where it is not."""
    (tmp_path / "git.md").write_text("# git\n")
    change = plan(tmp_path, "git", LINE)
    (tmp_path / "git.md").write_text("# git\nby hand\n")
    with pytest.raises(ChangedMeanwhile):
        write(change)
    assert (tmp_path / "git.md").read_text() == "# git\nby hand\n"


def test_a_file_that_appeared_meanwhile_is_not_touched(tmp_path: Path) -> None:
    """Nothing is nothing only as long as it is."""
    change = plan(tmp_path, "git", LINE)
    (tmp_path / "git.md").write_text("by hand\n")
    with pytest.raises(ChangedMeanwhile):
        write(change)


@pytest.mark.parametrize(
    "topic",
    ["", "..", "../x", "a/b", "a\\b", "A", "x" * 65, "-a", ".git", "a\0b", "con.txt", "a\n"],
)
def test_a_topic_never_leaves_its_folder(tmp_path: Path, topic: str) -> None:
    """A topic is a slug, and nothing else is a topic."""
    with pytest.raises(Refused):
        plan(tmp_path, topic, LINE)


def test_a_link_out_of_the_knowledge_base_is_refused(tmp_path: Path) -> None:
    """A planted link does not make the pen write elsewhere."""
    folder = tmp_path / "kb"
    folder.mkdir()
    (tmp_path / "outside.md").write_text("mine\n")
    (folder / "git.md").symlink_to(tmp_path / "outside.md")
    with pytest.raises(Refused):
        plan(folder, "git", LINE)


def test_a_plan_names_the_hashes_of_both_ends(tmp_path: Path) -> None:
    """The ledger can say what the file was before and is after."""
    change: Change = plan(tmp_path, "git", LINE)
    assert change.before_hash == ""
    assert len(change.after_hash) == 64


def test_every_line_of_every_topic_is_read(tmp_path: Path) -> None:
    """Hand-written lines in any form count; headings, rules and the README do not."""
    (tmp_path / "README.md").write_text("format\n")
    (tmp_path / "git.md").write_text(f"# git\n\n---\nNever force-push.\n{LINE}\n")
    found = knowledge_reader.read(tmp_path)
    assert [(one.number, one.lesson is not None) for one in found] == [(4, False), (5, True)]


@given(before=st.binary(max_size=200))
def test_a_line_goes_out_as_it_came_in(
    tmp_path_factory: pytest.TempPathFactory, before: bytes
) -> None:
    """Taken out again, what a person wrote is there; at most a missing line end was added."""
    folder = tmp_path_factory.mktemp("kb")
    (folder / "git.md").write_bytes(before)
    write(plan(folder, "git", LINE))
    write(plan(folder, "git", "", LINE))
    after = (folder / "git.md").read_bytes()
    assert after.startswith(before) and after[len(before) :] in (b"", b"\n", b"\r\n")


def test_a_topic_of_nothing_but_our_heading_goes(tmp_path: Path) -> None:
    """The file that a first lesson made goes with it; one with a word by hand stays."""
    write(plan(tmp_path, "git", LINE))
    write(plan(tmp_path, "git", "", LINE))
    assert not (tmp_path / "git.md").exists()
    write(plan(tmp_path, "git", LINE))
    with (tmp_path / "git.md").open("a") as file:
        file.write("by hand\n")
    write(plan(tmp_path, "git", "", LINE))
    assert (tmp_path / "git.md").read_text() == "# git\n\nby hand\n"


def test_a_line_is_exchanged_in_its_place(tmp_path: Path) -> None:
    """Its neighbours and its line end stay."""
    (tmp_path / "git.md").write_bytes(f"one\r\n{LINE}\r\ntwo".encode())
    write(plan(tmp_path, "git", "- other", LINE))
    assert (tmp_path / "git.md").read_bytes() == b"one\r\n- other\r\ntwo"


@pytest.mark.parametrize(
    "text", ["", "# git\n", LINE.replace("flag", "switch"), f"{LINE}\n{LINE}\n"]
)
def test_only_the_line_as_written_is_taken_out(tmp_path: Path, text: str) -> None:
    """Not there, changed, or there twice: nothing is touched."""
    (tmp_path / "git.md").write_text(text)
    with pytest.raises(NotThere):
        plan(tmp_path, "git", "", LINE)
    with pytest.raises(NotThere):
        plan(tmp_path, "other", "", LINE)
    assert (tmp_path / "git.md").read_text() == text


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    """A link inside the knowledge base is followed and stays one; a file keeps its rights."""
    (tmp_path / "old.md").write_text("# old\n")
    (tmp_path / "old.md").chmod(0o640)
    (tmp_path / "git.md").symlink_to("old.md")
    write(plan(tmp_path, "git", LINE))
    assert (tmp_path / "git.md").is_symlink()
    assert (tmp_path / "old.md").read_text() == f"# old\n{LINE}\n"
    assert (tmp_path / "old.md").stat().st_mode & 0o777 == 0o640
