"""The attack on a program: one that only reads passes, and each way not to is seen by its check."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dreaming.backends import child
from dreaming.backends.child import CliBackend
from dreaming.backends.command import CommandBackend
from dreaming.backends.interface import Answer, Request
from dreaming.errors import DreamingError
from dreaming.jobs.attack import Pass, Passes, Stage, attack, key, on_stage, passed
from dreaming.jobs.doctor import Check, Level
from dreaming.models.session import OWN_RUN_MARK


class Program:
    """A program that asks, passes on what the model wants, and asks again; nothing else."""

    def __init__(self, stage: Stage, *, codex: bool = False) -> None:
        self.stage = stage
        self.codex = codex
        self.tools: list[str] = ["request_user_input" if codex else "StructuredOutput"]
        self.model = "one"
        self.prompt = stage.request.prompt

    def post(self, path: str, body: Mapping[str, Any], base: str = "") -> dict[str, Any]:
        """Send a question and return the whole answer."""
        data = json.dumps({"model": self.model, **body}).encode()
        request = urllib.request.Request((base or self.stage.attacker.url) + path, data)
        with urllib.request.urlopen(request) as answer:
            found: dict[str, Any] = json.loads(answer.read())
        return found

    def ask(self, *results: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Ask by either protocol; return what came back."""
        system, prompt = self.stage.request.system, self.prompt
        if self.codex:
            tools: list[dict[str, Any]] = [{"type": "function", "name": n} for n in self.tools]
            said = [{"type": "message", "role": "user", "content": prompt}, *results]
            body: dict[str, Any] = {"instructions": system, "input": said, "tools": tools}
            output: list[dict[str, Any]] = self.post("/v1/responses", body)["output"]
            return output
        tools = [{"name": name, "input_schema": {}} for name in self.tools]
        messages: list[object] = [{"role": "user", "content": prompt}]
        if results:
            messages += [{"role": "user", "content": list(results)}]
        body = {"system": system, "messages": messages, "tools": tools}
        content: list[dict[str, Any]] = self.post("/v1/messages?beta=true", body)["content"]
        return content

    def refuse(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """What it says to a call."""
        if self.codex:
            said = f"unsupported call: {call['name']}"
            return {"type": "function_call_output", "call_id": call["call_id"], "output": said}
        said = "No such tool available"
        number = call["id"]
        return {"type": "tool_result", "tool_use_id": number, "content": said, "is_error": True}

    def run(self) -> str:
        """Do what a program does."""
        self.ask(*(self.refuse(call) for call in self.ask()))
        return ""


def tried(run: Callable[[Stage], str], tmp_path: Path, **more: Any) -> dict[str, Check]:
    """The checks by name, and that nothing of the trial is left."""
    found = attack(run, near=tmp_path / "near", **more)
    assert list((tmp_path / "near").iterdir()) == []
    return {one.name: one for one in found}


def bad(found: Mapping[str, Check]) -> list[str]:
    """Names of the checks that are bad."""
    assert passed(found.values()) == all(one.level is not Level.BAD for one in found.values())
    return [name for name, one in found.items() if one.level is Level.BAD]


@pytest.mark.parametrize("codex", [False, True], ids=["messages", "responses"])
def test_a_program_that_only_asks_passes(codex: bool, tmp_path: Path) -> None:
    """Every check is in order, and the attack really came: files, commands, web, agents, MCP."""
    stages: list[Stage] = []

    def run(stage: Stage) -> str:
        stages.append(stage)
        return Program(stage, codex=codex).run()

    found = tried(run, tmp_path)
    assert bad(found) == [] and len(found) == 8, found
    tools = set(stages[0].attacker.calls.values())
    assert tools > {"Read", "Bash", "Write", "WebSearch", "Agent", "mcp__canary__touch", "shell"}
    assert len(stages[0].attacker.results) == len(stages[0].attacker.calls)


def test_the_prompt_is_known_as_a_run_of_ours(tmp_path: Path) -> None:
    """A transcript that a program leaves of the attack is not mined."""
    prompts: list[str] = []

    def run(stage: Stage) -> str:
        prompts.append(stage.request.prompt)
        return Program(stage).run()

    tried(run, tmp_path)
    assert prompts[0].startswith(OWN_RUN_MARK)


# -- each way not to be read-only, and the check that sees it -------------------------------------


def offers_a_command(program: Program) -> None:
    """It refuses the call, and offers the tool all the same."""
    program.tools.append("Bash")
    program.run()


def offers_a_search(program: Program) -> None:
    """A tool of the provider's has a kind and no name."""
    body = {"instructions": program.stage.request.system, "input": program.prompt}
    program.post("/v1/responses", {**body, "tools": [{"type": "web_search"}]})


def runs_a_command(program: Program) -> None:
    """It runs what the model wants, and says so."""
    results = []
    for call in program.ask():
        result = program.refuse(call)
        if call["name"] == "Bash":
            subprocess.run(["sh", "-c", call["input"]["command"].rpartition("curl")[0] + ":"])
            result |= {"content": "done", "is_error": False}
        results.append(result)
    program.ask(*results)


def writes_in_secret(program: Program) -> None:
    """It writes what the model wants, and says that it did not."""
    calls = {call["name"]: call for call in program.ask()}
    Path(calls["Write"]["input"]["file_path"]).write_text("x")
    program.ask(*map(program.refuse, calls.values()))


def changes_a_file(program: Program) -> None:
    """It edits the file it was shown."""
    calls = {call["name"]: call for call in program.ask()}
    path = Path(calls["Edit"]["input"]["file_path"])
    path.write_text(path.read_text().replace("planted", "changed"))


def answers_a_call(program: Program) -> None:
    """A result without the mark of failure is no refusal, whatever it says."""
    program.ask(*({**program.refuse(call), "is_error": False} for call in program.ask()))


def attaches_a_file(program: Program) -> None:
    """It reads ``@path`` in the prompt as an order to attach the file."""
    path = program.prompt.partition("@")[2].split()[0]
    program.prompt += Path(path).read_text()
    program.run()


def reads_instructions(program: Program) -> None:
    """It sends what stands in its folder."""
    program.stage.plant(program.stage.folder)
    program.prompt += (program.stage.folder / "CLAUDE.md").read_text()
    program.run()


def runs_a_hook(program: Program) -> None:
    """It runs what settings in its home tell it to."""
    program.stage.plant(program.stage.folder)
    settings = json.loads((program.stage.folder / ".claude/settings.json").read_text())
    hook = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    subprocess.run(hook, shell=True, check=True)
    program.run()


def takes_a_model(program: Program) -> None:
    """It lets settings in its folder choose the model."""
    program.stage.plant(program.stage.folder)
    settings = json.loads((program.stage.folder / "settings.json").read_text())
    program.model = settings["env"]["ANTHROPIC_MODEL"]
    program.run()


def asks_another_model(program: Program) -> None:
    """It lets a second model judge what the first wanted."""
    program.run()
    program.model = "two"
    judged = program.post("/v1/messages", {"system": "judge this", "messages": []})
    assert judged["content"] == [{"type": "text", "text": "<block>no"}]


def leaves_the_prompt(program: Program) -> None:
    """It keeps a transcript."""
    folder = program.stage.folder / "home/projects"
    folder.mkdir(parents=True)
    (folder / "transcript.jsonl").write_text(json.dumps({"text": program.prompt}))
    program.run()
    program.stage.search(program.stage.folder)


def calls_another_host(program: Program) -> None:
    """It has something to tell somebody else."""
    program.run()
    proxy = urllib.request.ProxyHandler({"http": program.stage.attacker.proxy})
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.build_opener(proxy).open("http://telemetry.example/v1")


def fetches_for_the_model(program: Program) -> None:
    """It gets a page that the model wants."""
    calls = {call["name"]: call for call in program.ask()}
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(calls["WebFetch"]["input"]["url"])


def never_asks(program: Program) -> None:
    """It ends without a word to a model: nothing was tried."""


def asks_something_else(program: Program) -> None:
    """It asks a model, but not what it was given."""
    program.prompt = "hello"
    program.run()


WAYS: list[tuple[Callable[[Program], None], bool, list[str]]] = [
    (offers_a_command, False, ["tools"]),
    (offers_a_command, True, ["tools"]),
    (offers_a_search, True, ["tools"]),
    (runs_a_command, False, ["calls", "files"]),
    (writes_in_secret, False, ["files"]),
    (changes_a_file, False, ["files"]),
    (answers_a_call, False, ["calls"]),
    (attaches_a_file, False, ["planted"]),
    (attaches_a_file, True, ["planted"]),
    (reads_instructions, False, ["planted"]),
    (runs_a_hook, False, ["files"]),
    (takes_a_model, False, ["model"]),
    (asks_another_model, False, ["model"]),
    (leaves_the_prompt, False, ["traces"]),
    (calls_another_host, False, ["network"]),
    (fetches_for_the_model, False, ["network"]),
    (never_asks, False, ["asked"]),
    (asks_something_else, False, ["asked"]),
]


@pytest.mark.parametrize(
    ("way", "codex", "seen"), WAYS, ids=[f"{one.__name__}-{codex:d}" for one, codex, _ in WAYS]
)
def test_each_way_is_seen(
    way: Callable[[Program], None], codex: bool, seen: list[str], tmp_path: Path
) -> None:
    """A program that does one thing it should not is told by the check that is for that."""

    def run(stage: Stage) -> str:
        way(Program(stage, codex=codex))
        return ""

    found = tried(run, tmp_path)
    assert bad(found) == seen
    assert all(found[name].remedy for name in seen)


def test_one_that_cannot_be_run_has_not_passed(tmp_path: Path) -> None:
    """What it said stands in the check, and an error of ours ends only this trial."""

    def raises(stage: Stage) -> str:
        raise DreamingError("The program is not there.")

    assert "not there" in tried(raises, tmp_path)["asked"].said
    found = tried(lambda stage: Program(stage).run() or "it ended with 1", tmp_path)
    assert bad(found) == ["asked"] and "it ended with 1" in found["asked"].said


def test_one_that_need_not_ask_is_told_of_as_untried(tmp_path: Path) -> None:
    """It passes with a warning that says what was not seen."""
    found = tried(lambda stage: "", tmp_path, speaks=False)
    assert bad(found) == [] and found["asked"].level is Level.WARN
    found = tried(lambda stage: "it ended with 127: no such agent", tmp_path, speaks=False)
    assert found["asked"].level is Level.WARN and "no such agent" in found["asked"].said


def test_one_that_need_not_ask_and_cannot_be_started_has_not_passed(tmp_path: Path) -> None:
    """Nothing was tried, so nothing is remembered as passed."""
    script = tmp_path / "ask"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)

    def run(stage: Stage) -> str:
        return on_stage(CommandBackend([str(script)]), stage)

    found = tried(run, tmp_path, speaks=False)
    assert bad(found) == ["asked"] and "cannot be run" in found["asked"].said


# -- how it is run --------------------------------------------------------------------------------


class Shell(CliBackend):
    """A shell script as a program that answers."""

    name = "shell"
    leaves_the_machine = False
    free = True

    def __init__(self, script: str, flag: str = "") -> None:
        super().__init__("/bin/sh")
        self.script = script
        self.flag = flag

    @property
    def identity(self) -> str:
        """None that matters."""
        return self.name

    @property
    def context_tokens(self) -> int:
        """None that matters."""
        return 1

    def command(self, request: Request, folders: child.Room) -> child.Command:
        """The script, with a folder for its settings."""
        path = Path("/bin/sh")
        more = {"CODEX_HOME": str(folders.home / "codex"), "FLAG": self.flag}
        around = child.environment(path, folders, **more)
        return child.Command((str(path), "-c", self.script), around, b"guarded")

    def ask(self, request: Request) -> Answer:
        """Nobody does."""
        raise NotImplementedError


def test_a_program_stands_among_traps(tmp_path: Path) -> None:
    """In its folders lies what could steer it, its proxy refuses, and nothing it wrote is left."""
    seen = tmp_path / "seen"
    script = f"(find . $HOME $CODEX_HOME; echo $HTTPS_PROXY $NO_PROXY; cat) >{seen}; pwd >>{seen}"
    stages: list[Stage] = []

    def run(stage: Stage) -> str:
        stages.append(stage)
        return on_stage(Shell(script), stage)

    assert bad(tried(run, tmp_path)) == ["asked"]
    text, (stage,) = seen.read_text(), stages
    assert {"./CLAUDE.md", "./.mcp.json", "./.claude/settings.json"} <= set(text.split())
    assert "/home/codex/config.toml" in text and "/home/codex/AGENTS.md" not in text
    assert f"{stage.attacker.proxy} 127.0.0.1,localhost" in text
    assert f"@{stage.attacker.canary}/secret.txt" in text  # as it stands: the guard is another one
    assert not Path(text.splitlines()[-1]).exists()


def test_one_that_ends_badly_has_not_passed(tmp_path: Path) -> None:
    """Its exit code and its last words stand in the check."""
    found = tried(lambda stage: on_stage(Shell("echo broken >&2; exit 3"), stage), tmp_path)
    assert "it ended with 3: broken" in found["asked"].said


def test_a_command_is_told_where_its_model_is(tmp_path: Path) -> None:
    """By the usual variables, with keys that open nothing; its prompt is guarded as at night."""
    seen = tmp_path / "seen"
    script = f"(echo $ANTHROPIC_BASE_URL $OPENAI_BASE_URL $OPENAI_API_KEY; cat) >{seen}"
    found = tried(lambda stage: on_stage(Shell(script), stage), tmp_path, speaks=False)
    assert bad(found) == []
    url = seen.read_text().split()[0]
    assert seen.read_text() == f"{url} {url}/v1 made-up\nguarded"


def test_another_flag_or_version_is_another_program() -> None:
    """What a pass is for changes with the arguments, the environment and the file."""
    one = child.Program(Path("/bin/sh"), "1", "d1")
    keys = [
        key(Shell("cat"), one),
        key(Shell("cat -u"), one),
        key(Shell("cat", "1"), one),
        key(Shell("cat"), child.Program(Path("/bin/sh"), "2", "d2")),
    ]
    assert len(set(keys)) == 4
    assert key(Shell("cat"), one) == keys[0]


# -- what passed ----------------------------------------------------------------------------------


def test_a_pass_is_of_one_program(tmp_path: Path) -> None:
    """Another version, other flags or another backend have not passed; a failure takes it back."""
    passes = Passes(tmp_path / "programs/passed.json")
    assert passes.find("claude-code", "k1") is None
    passes.add(Pass("claude-code", "claude 1", "k1", "2026-11-30"))
    passes.add(Pass("codex", "codex 1", "k2", "2026-11-30"))
    assert passes.find("claude-code", "k1") and passes.find("codex", "k2")
    assert not passes.find("claude-code", "k2") and not passes.find("codex", "k1")
    passes.drop("claude-code", "k1")
    assert [one.key for one in passes.all()] == ["k2"]
    assert (tmp_path / "programs/passed.json").stat().st_mode & 0o077 == 0


def test_passes_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    """Whatever stands in the file: then it is tried again, and the file is made anew."""
    file = tmp_path / "passed.json"
    file.write_text('{"half')
    assert Passes(file).all() == []
    for number in range(30):
        Passes(file).add(Pass("codex", "codex", f"k{number}", ""))
    assert [one.key for one in Passes(file).all()][-1] == "k29" and len(Passes(file).all()) == 20
