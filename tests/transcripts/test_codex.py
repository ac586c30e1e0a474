from __future__ import annotations

import json
from typing import Any

import pytest

from dreaming.models.session import (
    OWN_RUN_MARK,
    Denier,
    ResultStatus,
    Session,
    SessionKind,
    Speaker,
    Tool,
    TurnKind,
)
from tests.transcripts.transcript_samples import DATA, codex, head, jsonl, read, said, shown, user


def thread(*records: Any, **more: Any) -> Session:
    """Return the thread that these lines become."""
    return read("codex", jsonl(head(**more), *records))


def human(found: Session) -> list[str]:
    """Return what a person said."""
    return [
        turn.text
        for turn in found.turns
        if turn.kind is TurnKind.USER and turn.speaker is Speaker.HUMAN
    ]


def item(kind: str, **payload: Any) -> dict[str, Any]:
    """Return a response item."""
    return codex("response_item", type=kind, **payload)


def event(kind: str, **payload: Any) -> dict[str, Any]:
    """Return an event."""
    return codex("event_msg", type=kind, **payload)


def completed(kind: str, text: str) -> dict[str, Any]:
    """Return the event that an item was completed."""
    return event("item_completed", item={"type": kind, "content": [{"type": "Text", "text": text}]})


@pytest.mark.parametrize("dialect", ["bare", "wrapped", "paginated"])
def test_a_thread_of_each_dialect_becomes_these_turns(dialect: str) -> None:
    """The whole of a small thread in the words of each era, and nothing unknown in it."""
    found = read("codex", (DATA / "codex" / f"{dialect}.jsonl").read_bytes())
    assert shown(found) == (DATA / "codex" / f"{dialect}.turns.txt").read_text("utf-8")
    assert (found.unknown_records, found.unreadable_lines) == ({}, 0)


@pytest.mark.parametrize(
    "records",
    [
        [event("user_message", message="go"), said("go")],
        [said("go"), event("user_message", message="go")],
        [completed("UserMessage", "go"), said("go")],
        [event("user_message", message="go"), completed("UserMessage", "go"), said(" go\n")],
        [event("user_message", message="go")],
        [completed("UserMessage", "go")],
        [said("go")],
    ],
)
def test_words_that_stand_in_several_forms_are_heard_once(records: list[Any]) -> None:
    """Events, completed items and messages of one text are one turn, in any order."""
    assert human(thread(*records)) == ["go"]


def test_saying_the_same_twice_is_two_turns() -> None:
    """A person may say yes as often as they like."""
    both = [event("user_message", message="yes"), said("yes")]
    assert human(thread(*both, said("Next?", "assistant"), *both)) == ["yes", "yes"]


def test_the_models_words_are_heard_once() -> None:
    """What the model said and the event that repeats it are one turn."""
    found = thread(event("agent_message", message="Done."), said("Done.", "assistant", id="m1"))
    assert [(turn.kind, turn.text, turn.record) for turn in found.turns] == [
        (TurnKind.ASSISTANT, "Done.", "m1")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>",
        "<user_instructions>\n\nBe brief.\n\n</user_instructions>",
        "<recommended_plugins>\nx\n</recommended_plugins>",
        "<skill>\n<name>x</name>\n</skill>",
        '<subagent_notification>\n{"agent_path": "x"}\n</subagent_notification>',
        "<codex_internal_context kind='x'>y</codex_internal_context>",
        "<goal_context>y</goal_context>",
        '<hook_prompt hook_run_id="1">tests are red</hook_prompt>',
        "<user_action>x</user_action>",
        "<user_shell_command>ls</user_shell_command>",
        "The following is the Codex agent history whose request action you are assessing.",
        "Warning: The maximum number of unified exec processes you can keep open is 60",
    ],
)
def test_what_the_harness_injects_is_nobodys_words(text: str) -> None:
    """Instructions, environment, skills and notices leave no turn."""
    assert thread(said(text)).turns == []


def test_instructions_of_the_developer_are_no_turn() -> None:
    """The developer's role is the harness."""
    assert thread(said("Be kind.", role="developer")).turns == []


@pytest.mark.parametrize(
    ("texts", "typed"),
    [
        (
            ["# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\nfix"],
            "fix",
        ),
        (
            ["# Files mentioned by the user:\n\n## a.png\n\n## My request for Codex:\nfix it\n"],
            "fix it",
        ),
        (["<environment_context><cwd>/x</cwd></environment_context>", "fix"], "fix"),
        (["<image name=[Image #1] path=/x.png>", "</image>", "what is this?"], "what is this?"),
    ],
)
def test_a_persons_words_are_freed_from_what_surrounds_them(texts: list[str], typed: str) -> None:
    """Wrappers of editors and blocks of images are taken off."""
    content = [{"type": "input_text", "text": text} for text in texts]
    assert human(thread(item("message", role="user", content=content))) == [typed]


def test_the_kinds_of_a_messages_parts_decide_where_they_are_told() -> None:
    """What the newest releases mark as typed is typed; the rest is not."""
    content = [{"type": "input_text", "text": text} for text in ("be brief", "fix it")]
    told = {"turn_id": "t", "content_item_kinds": ["agents_md.instructions", "user.text"]}
    record = item(
        "message", role="user", content=content, internal_chat_message_metadata_passthrough=told
    )
    assert human(thread(record)) == ["fix it"]


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"source": "cli", "originator": "codex_cli_rs"}, SessionKind.INTERACTIVE),
        ({"source": "vscode", "thread_source": "user"}, SessionKind.INTERACTIVE),
        ({}, SessionKind.INTERACTIVE),
        ({"source": "exec"}, SessionKind.HEADLESS),
        ({"source": "mcp"}, SessionKind.HEADLESS),
        ({"originator": "codex_exec"}, SessionKind.HEADLESS),
        ({"source": {"subagent": "review"}}, SessionKind.SUBAGENT),
        ({"source": {"subagent": {"other": "guardian"}}}, SessionKind.SUBAGENT),
        ({"thread_source": "guardian_review"}, SessionKind.SUBAGENT),
        ({"source": {"subagent": {"thread_spawn": None}}}, SessionKind.SUBAGENT),
    ],
)
def test_who_drives_a_thread(more: dict[str, Any], kind: SessionKind) -> None:
    """Only in an interactive thread does a person speak."""
    found = thread(said("look at the parser"), **more)
    assert found.kind is kind
    assert (human(found) == ["look at the parser"]) is (kind is SessionKind.INTERACTIVE)


def test_relatives_are_kin() -> None:
    """A subagent and a fork name whom they belong to."""
    spawn = {"thread_spawn": {"parent_thread_id": "p3", "depth": 1}}
    found = thread(
        said("x"), forked_from_id="p1", parent_thread_id="p2", source={"subagent": spawn}
    )
    assert (found.native_id, found.kin) == ("t1", ("t1", "p1", "p2", "p3"))


def test_the_same_head_again_changes_nothing() -> None:
    """Programs write their head anew on each resume."""
    assert human(thread(said("a"), head(), said("b"))) == ["a", "b"]


OWN, PARENT = "019df000-0002-7000-8000-000000000000", "019df000-0001-7000-8000-000000000000"


def test_the_copy_of_a_parents_lines_is_left_out() -> None:
    """A fork's own turns begin with the first turn that is younger than the fork."""
    found = read(
        "codex",
        jsonl(
            head(OWN, forked_from_id=PARENT),
            head(PARENT),
            event("task_started", turn_id="019df000-0001-7aaa-8000-000000000000"),
            said("the parent's words"),
            event("task_started", turn_id="019df000-0003-7aaa-8000-000000000000"),
            said("my words"),
        ),
    )
    assert (human(found), found.native_id, found.kin) == (["my words"], OWN, (OWN, PARENT))


def test_an_older_copy_ends_when_time_goes_on() -> None:
    """Where turns have no ids, a copy is what was written in the fork's first second."""
    later = {**said("my words"), "timestamp": "2026-05-04T10:00:09.000Z"}
    found = read("codex", jsonl(head("f"), head("p"), said("the parent's words"), later))
    assert human(found) == ["my words"]


def test_a_fork_by_reference_holds_only_its_own_lines() -> None:
    """Nothing is left out where the head says that nothing was copied."""
    more = {"forked_from_id": PARENT, "history_base": {"thread_id": PARENT}}
    assert human(thread(said("my words"), **more)) == ["my words"]


@pytest.mark.parametrize(
    ("output", "status", "denier", "text"),
    [
        (
            "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok",
            ResultStatus.OK,
            None,
            "ok",
        ),
        (
            "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 2\n"
            "Original token count: 3\nOutput:\nbad",
            ResultStatus.ERROR,
            None,
            "bad",
        ),
        (
            'Command: /bin/zsh -lc "ls\nx"\nChunk ID: a\nWall time: 0.1 seconds\n'
            "Process exited with code 1\nOutput:\nbad",
            ResultStatus.ERROR,
            None,
            "bad",
        ),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nok", ResultStatus.OK, None, "ok"),
        ("Exit code: 127\nWall time: 1 seconds\nOutput:\nbad", ResultStatus.ERROR, None, "bad"),
        ('{"output":"ok","metadata":{"exit_code":0}}', ResultStatus.OK, None, "ok"),
        ('{"output":"bad","metadata":{"exit_code":1}}', ResultStatus.ERROR, None, "bad"),
        ({"output": "bad", "exit_code": 1}, ResultStatus.ERROR, None, "bad"),
        ({"content": "ok", "success": True}, ResultStatus.OK, None, "ok"),
        ({"content": "bad", "success": False}, ResultStatus.ERROR, None, "bad"),
        (
            [
                {"type": "input_text", "text": "Script completed\nWall time 1 seconds\nOutput:\n"},
                {"type": "input_text", "text": '{"exit_code":1,"output":"bad"}'},
            ],
            ResultStatus.ERROR,
            None,
            "bad",
        ),
        (
            [
                {"type": "input_text", "text": "Script failed\nWall time 1 seconds\nOutput:\n"},
                {
                    "type": "input_text",
                    "text": "Script error:\napproval policy is X; reject command",
                },
            ],
            ResultStatus.DENIED,
            Denier.RULE,
            "Script error:\napproval policy is X; reject command",
        ),
        ("Plan updated", ResultStatus.OK, None, "Plan updated"),
        (None, ResultStatus.OK, None, ""),
        (7, ResultStatus.OK, None, "7"),
        ("exec command rejected by user", ResultStatus.DENIED, Denier.HUMAN, None),
        ("patch rejected by user", ResultStatus.DENIED, Denier.HUMAN, None),
        ("exec command rejected by user approval settings", ResultStatus.DENIED, Denier.RULE, None),
        (
            "execution error: no network\n(blocked by policy)",
            ResultStatus.DENIED,
            Denier.RULE,
            None,
        ),
        ("execution error: No such file", ResultStatus.ERROR, None, None),
        ("apply_patch verification failed: no lines", ResultStatus.ERROR, None, None),
        ("command timed out after 10 milliseconds", ResultStatus.ERROR, None, None),
        ("failed to parse function arguments: x", ResultStatus.ERROR, None, None),
        (
            "failed in sandbox X with execution error: sandbox denied exec error, exit code: 2, "
            "stdout: 1 failed, stderr: ",
            ResultStatus.ERROR,
            None,
            "1 failed, stderr: ",
        ),
        (
            "failed in sandbox X with execution error: sandbox denied exec error, exit code: 1, "
            "stdout: , stderr: touch: Operation not permitted",
            ResultStatus.DENIED,
            Denier.RULE,
            "touch: Operation not permitted",
        ),
        ("the log says: exec command rejected by user\n" * 9, ResultStatus.OK, None, None),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\npatch rejected by user", None, None, None),
    ],
    ids=lambda value: None,
)
def test_how_a_call_ended(
    output: Any, status: ResultStatus | None, denier: Denier | None, text: str | None
) -> None:
    """Every shape of output tells success, failure and denial, and its wrapper is taken off."""
    found = thread(item("function_call_output", call_id="c", output=output)).turns[0]
    assert (found.status, found.denier) == (status or ResultStatus.OK, denier)
    assert text is None or found.text == text


@pytest.mark.parametrize(
    ("payload", "tool", "action"),
    [
        ({"name": "exec_command", "arguments": '{"cmd":"ls -l"}'}, Tool.SHELL, "ls -l"),
        ({"name": "shell", "arguments": '{"command":["bash","-lc","ls"]}'}, Tool.SHELL, "ls"),
        (
            {"name": "shell", "arguments": '{"command":["git","log -1"]}'},
            Tool.SHELL,
            "git 'log -1'",
        ),
        ({"name": "shell", "arguments": "not json"}, Tool.SHELL, "not json"),
        ({"name": "shell", "arguments": None}, Tool.SHELL, ""),
        ({"name": "shell", "arguments": '{"command":null}'}, Tool.SHELL, ""),
        ({"name": "read_file", "arguments": '{"path":"a.md"}'}, Tool.READ, "a.md"),
        ({"name": "web_search", "arguments": '{"query":"q"}'}, Tool.WEB, "q"),
        ({"name": "spawn_agent", "arguments": '{"message":"look"}'}, Tool.AGENT, "look"),
        ({"name": "update_plan", "arguments": '{"plan":[]}'}, Tool.OTHER, "[]"),
        ({"name": "exec", "arguments": "await f()"}, Tool.OTHER, "await f()"),
        (
            {"name": "exec", "arguments": 'a({cmd:"x \\"y\\""}); b({cmd: ["bash","-lc","z"]})'},
            Tool.SHELL,
            'x "y"\nz',
        ),
        (
            {
                "name": "shell",
                "arguments": json.dumps(
                    {
                        "command": [
                            "apply_patch",
                            "*** Begin Patch\n*** Add File: b.py\n+x\n*** End Patch",
                        ]
                    }
                ),
            },
            Tool.WRITE,
            "b.py",
        ),
    ],
    ids=lambda value: None,
)
def test_what_a_call_does(payload: dict[str, Any], tool: Tool, action: str) -> None:
    """Whatever its name and shape, a call becomes what somebody would retype."""
    found = thread(item("function_call", call_id="c", **payload)).turns[0]
    assert (found.tool, found.action, found.record) == (tool, action, "c")


def test_local_shells_and_searches_are_calls() -> None:
    """Calls that the service itself runs have their own types."""
    local = item("local_shell_call", call_id="a", action={"type": "exec", "command": ["ls"]})
    search = item("web_search_call", action={"type": "search", "query": "q"})
    found = thread(local, search)
    assert [(turn.tool, turn.action) for turn in found.turns] == [
        (Tool.SHELL, "ls"),
        (Tool.WEB, "q"),
    ]


def test_an_edit_by_patch_has_both_sides() -> None:
    """A patch tells its files, what was there and what is put there."""
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n keep\n-old\n+new\n*** End Patch"
    turn = thread(item("custom_tool_call", call_id="c", name="apply_patch", input=patch)).turns[0]
    assert (turn.tool, turn.action, turn.before, turn.after) == (Tool.EDIT, "a.py", "old", "new")


def test_waiting_for_a_command_is_that_command() -> None:
    """The failure of a command that ran on belongs to the command, not to the waiting."""
    running = "Chunk ID: a\nWall time: 1 seconds\nProcess running with session ID 5\nOutput:\n"
    failed = "Chunk ID: b\nWall time: 1 seconds\nProcess exited with code 1\nOutput:\nbad"
    wait = '{"session_id":5,"chars":""}'
    found = thread(
        item("function_call", call_id="c1", name="exec_command", arguments='{"cmd":"make all"}'),
        item("function_call_output", call_id="c1", output=running),
        item("function_call", call_id="c2", name="write_stdin", arguments=wait),
        item("function_call_output", call_id="c2", output=failed),
    )
    assert [turn.action for turn in found.turns] == ["make all", "", "make all", ""]
    assert found.turns[3].status is ResultStatus.ERROR


@pytest.mark.parametrize(
    "records",
    [
        [event("turn_aborted", reason="interrupted")],
        [said("<turn_aborted>\nThe user interrupted.\n</turn_aborted>")],
        [item("function_call_output", call_id="c", output="aborted by user after 2.0s")],
        [
            item("function_call_output", call_id="c", output="aborted by user after 2.0s"),
            item("function_call_output", call_id="d", output="aborted by user after 2.0s"),
            event("turn_aborted", reason="interrupted"),
            said("<turn_aborted>\nThe user interrupted.\n</turn_aborted>"),
        ],
        [event("thread_rolled_back", num_turns=1)],
    ],
)
def test_an_interruption_is_found_once_wherever_it_stands(records: list[Any]) -> None:
    """Events, outputs and injected text tell one interruption, a person's."""
    found = thread(said("Working.", "assistant"), *records, said("not that"))
    kinds = [turn.kind for turn in found.turns]
    assert kinds.count(TurnKind.INTERRUPTION) == 1
    assert kinds[-1] is TurnKind.USER
    assert all(t.speaker is Speaker.HUMAN for t in found.turns if t.kind is TurnKind.INTERRUPTION)


def test_a_turn_that_ended_for_its_budget_was_not_interrupted() -> None:
    """Limits of the harness are nobody's decision."""
    assert thread(event("turn_aborted", reason="budget_limited")).turns == []


def test_what_a_compaction_repeats_is_no_new_turn() -> None:
    """The replaced history is never read; the summary is the model's."""
    history = [{"type": "message", "role": "user", "content": [{"text": "old words"}]}]
    found = thread(codex("compacted", message="Summary.", replacement_history=history))
    assert [(turn.kind, turn.text) for turn in found.turns] == [(TurnKind.SUMMARY, "Summary.")]


def test_another_agents_words_are_not_a_persons() -> None:
    """A message between agents is the harness's, and an encrypted one is nothing."""
    task = "Message Type: NEW_TASK\nTask name: /root/x\nSender: /root\nPayload:\n"
    content = [{"type": "input_text", "text": task + "review it"}]
    empty = [{"type": "input_text", "text": task}, {"type": "encrypted_content"}]
    found = thread(item("agent_message", content=content), item("agent_message", content=empty))
    assert [(turn.speaker, turn.text[-9:]) for turn in found.turns] == [
        (Speaker.HARNESS, "review it")
    ]


def test_our_own_runs_are_known_by_their_first_words() -> None:
    """Instructions before the prompt do not hide it."""
    first = said("# AGENTS.md instructions\nx")
    assert thread(first, said(f"{OWN_RUN_MARK} read"), source="exec").own_run


def test_unknown_lines_items_and_events_are_counted() -> None:
    """A type nobody taught us does no harm and is told."""
    found = thread(codex("new_line"), item("new_item"), event("new_event"), said("a"))
    assert found.unknown_records == {"new_line": 1, "new_item": 1, "new_event": 1}
    assert human(found) == ["a"]


def test_a_thread_without_a_turn_is_no_session() -> None:
    """A head alone says nothing."""
    assert thread().turns == []


@pytest.mark.parametrize(
    "record",
    [
        {"type": "response_item", "payload": None},
        {"type": "response_item", "payload": "text"},
        {"type": "event_msg", "payload": {"type": "user_message", "message": ["a"]}},
        item("message", role="user", content=None),
        item("message", role="user", content=[None, 3, {"type": "input_text", "text": None}]),
        item("function_call", name=None, arguments=[1], call_id=None),
        item("function_call_output", call_id={}, output=[[], None, {"text": 5}]),
        event("item_completed", item="x"),
        codex("session_meta", id=["x"], source=5, git="x"),
    ],
)
def test_fields_of_the_wrong_type_do_no_harm(record: Any) -> None:
    """A record is read as far as it fits, and the rest of the thread is whole."""
    assert human(thread(record, said("a"))) == ["a"]


def test_plain_strings_are_content() -> None:
    """Content may be a text or a list of texts."""
    assert human(thread(item("message", role="user", content="a"))) == ["a"]
    assert human(thread(item("message", role="user", content=["a", "b"]))) == ["a\nb"]


def test_another_agents_file_gives_no_nonsense() -> None:
    """A file is judged by its records, not by its folder nor by its first line."""
    data = (DATA / "claude-code" / "session.jsonl").read_bytes()
    assert read("codex", data).turns == []
    assert human(read("codex", jsonl(user("x"), head(), said("a"), said("b")))) == ["a", "b"]
