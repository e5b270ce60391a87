"""Whatever a command prints, wherever that comes from, drives no terminal and deceives nobody."""

import json
import sys
from pathlib import Path

import pytest

from fakes.hostile import (
    NAME,
    TEXT,
    WRITABLE,
    claude_lines,
    codex_lines,
    leaks,
    messages,
    rollout,
    session_folder,
    toml,
)
from fakes.openai_server import Call, FakeOpenAI, Reply
from fakes.process import Pinfold
from pinfold.__main__ import main

ID = "0197f3a2"
CONFIG = f"""
[model]
name = {toml(WRITABLE)}
provider = {toml(WRITABLE)}
context_window = 8192

[ui]
theme = {toml(WRITABLE)}

[keys]
{toml(WRITABLE)} = "f8"

[providers.{toml(WRITABLE)}]
base_url = "http://127.0.0.1:9/v1"
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files to look at; it, and all settings and sessions, are hostile."""
    work = tmp_path / NAME
    work.mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "user" / NAME))
    for name in ("PINFOLD_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name / NAME))
    config = tmp_path / "user" / NAME / "pinfold" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(CONFIG)
    session_folder(tmp_path / "PINFOLD_HOME" / NAME)
    sessions = tmp_path / "CODEX_HOME" / NAME / "sessions" / "2026" / "03" / "01"
    sessions.mkdir(parents=True)
    (sessions / "rollout-2026-03-01T12-00-00-x.jsonl").write_bytes(codex_lines())
    project = tmp_path / "CLAUDE_CONFIG_DIR" / NAME / "projects" / NAME
    project.mkdir(parents=True)
    (project / "s-1.jsonl").write_bytes(claude_lines())
    files = {"own": rollout(), "codex": codex_lines(), "claude": claude_lines()}
    for name, content in files.items():
        (work / f"{name}.jsonl").write_bytes(content)
    (work / "messages.json").write_bytes(messages())
    (work / f"{NAME}.jsonl").write_bytes(b"no session\n")
    monkeypatch.chdir(work)
    return work


FILES = ["own.jsonl", "codex.jsonl", "claude.jsonl", "messages.json"]
SHOWN = [
    "sessions",
    "doctor",
    "local",
    "adopt",
    "adopt nothing-of-the-kind",
    f"context {ID}",
    f"context {ID} --sort size",
    f"compact {ID} --dry-run --verbose",
    f"compact {ID} --dry-run --strategy prune",
    f"compact {ID} --dry-run --text",
    f"compact {ID}",
    f"checkpoint {ID}",
    f"history {ID}",
    f"history {ID} --show 0",
    f"history {ID} --diff 0 1",
    f"restore {ID} 0",
    *(f"export {ID} -f {name} -o -" for name in ("md", "html", "messages", "codex", "jsonl")),
    *(f"adopt {file} --no-open" for file in FILES),
    *(f"context {file}" for file in FILES),
    *(f"compact {file} --dry-run" for file in FILES),
    *(f"checkpoint {file}" for file in FILES),
    *(f"replay {file}" for file in FILES),
    "replay own.jsonl --strategy checkpoint --threshold 0.5",
    "export own.jsonl",
    "export codex.jsonl -f jsonl",
    "eval own.jsonl codex.jsonl claude.jsonl messages.json",
    "eval . --html report.html",
]
JSON = [
    "sessions --json",
    "adopt --json",
    f"context {ID} --json",
    f"compact {ID} --dry-run --json",
    f"compact {ID} --json",
    f"checkpoint {ID} --json",
    f"history {ID} --json",
    f"history {ID} --show 0 --json",
    f"history {ID} --diff 0 1 --json",
    f"export {ID} -f messages -o -",
    f"export {ID} -f codex -o -",
    "replay own.jsonl --json",
    "eval own.jsonl codex.jsonl --json",
]
WRONG = [
    [TEXT],
    ["--approvals", TEXT, "sessions"],
    [f"--{TEXT}"],
    ["-C", NAME, "sessions"],
    ["-c", TEXT, "sessions"],
    ["-c", f"model.{WRITABLE}=1", "sessions"],
    ["-c", f"model.context_window={WRITABLE}", "sessions"],
    ["context", NAME],
    ["context", f"./{NAME}"],
    ["context", f"{NAME}.jsonl"],
    ["resume", NAME],
    ["replay", f"{NAME}.jsonl"],
    ["replay", "own.jsonl", "--strategy", NAME],
    ["restore", ID, NAME],
    ["compact", ID, "--strategy", NAME, "--dry-run"],
    ["compact", ID, "--keep-roles", NAME],
    ["export", ID, "-o", NAME],
    ["export", ID, "-o", f"{NAME}.jsonl"],
    ["eval", f"{NAME}.jsonl"],
    ["eval", "--strategy", NAME],
    ["adopt", NAME, NAME],
    ["exec", "--resume", NAME, "go"],
]


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    """What leaves, in spite of the test's own ends of the pipes."""
    main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    return capfd.readouterr()


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("command", SHOWN)
def test_what_is_shown(capfd: pytest.CaptureFixture[str], command: str) -> None:
    out, err = printed(capfd, *command.split())
    assert out or err
    assert "bug in pinfold" not in err
    assert leaks(out) == set()
    assert leaks(err) == set()


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("command", JSON)
def test_json_says_all_of_it_in_escapes(capfd: pytest.CaptureFixture[str], command: str) -> None:
    out, err = printed(capfd, *command.split())
    assert leaks(out) == set(), err
    told = [json.loads(out)] if out.startswith("{\n") else [*map(json.loads, out.splitlines())]
    assert told
    if "\\u" in out:
        texts = json.dumps(told, ensure_ascii=False)
        assert "\x9b31m" in texts
        assert "\u202e" in texts


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("arguments", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong(capfd: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    out, err = printed(capfd, *arguments)
    assert err or out
    assert leaks(out) == set()
    assert leaks(err) == set()


@pytest.mark.parametrize("name", ["md", "html", "messages", "codex", "jsonl"])
def test_what_is_written_to_a_file(work: Path, name: str) -> None:
    assert main(["export", ID, "-f", name, "-o", f"out.{name}"]) == 0
    text = (work / f"out.{name}").read_text(encoding="utf-8")
    assert leaks(text) == set()


def test_what_stands_in_a_report(work: Path) -> None:
    name = f"./2{NAME}.jsonl"
    (work / name).write_bytes(rollout())
    assert main(["eval", name, "--budget", "600", "--html", "report.html"]) == 0
    text = (work / "report.html").read_text(encoding="utf-8")
    assert "52;c" in text
    assert leaks(text) == set()


@pytest.mark.parametrize(
    "broken", ["[model\n", f"[{toml(WRITABLE)}]\nx = 1\n", "[model]\nname = 1\n"]
)
def test_what_is_wrong_in_a_config_file(
    work: Path, capfd: pytest.CaptureFixture[str], broken: str
) -> None:
    own = work / ".pinfold" / "config.toml"
    own.parent.mkdir()
    own.write_text(broken + f"# {WRITABLE}\n" + f"{toml(WRITABLE)} = {toml(WRITABLE)}\n")
    for command in ("sessions", "doctor"):
        out, err = printed(capfd, command)
        assert out or err
        assert leaks(out + err) == set()


ERROR = {"error": {"message": TEXT, "code": TEXT, "type": TEXT}}
TURN = [
    Reply(status=429, body=ERROR, headers={"retry-after": "0.1"}),
    Reply(calls=(Call(f"shell{WRITABLE}", "{}", f"c{WRITABLE}"),)),
    Reply(calls=(Call("shell", json.dumps({"command": f"echo '{WRITABLE}'"}), "c1"),)),
    Reply(WRITABLE, calls=(Call("read_file", json.dumps({"path": NAME}), "c2"),)),
    Reply(f"answer {WRITABLE}"),
]
ENDS = {
    "400": Reply(status=400, body=ERROR),
    "404": Reply(status=404, body=WRITABLE),
    "stream": Reply("answer", finish=WRITABLE),
}


async def said_by(tmp_path: Path, script: list[Reply], *flags: str) -> str:
    """What `exec` prints in a hostile folder, on a server whose models have hostile names."""
    models = {"object": "list", "data": [{"id": f"m{WRITABLE}", "object": "model"}]}
    async with FakeOpenAI(script, pages={"/v1/models": models}) as server:
        pinfold = Pinfold(tmp_path, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="sk-test")
        pinfold.work = tmp_path / NAME
        pinfold.work.mkdir()
        pinfold.env["PINFOLD_MODEL__CONTEXT_WINDOW"] = "8192"
        ended = await pinfold.run("exec", "--approvals", "full", *flags, "go")
    assert "Traceback" not in ended.err
    assert leaks(ended.out) == set()
    assert leaks(ended.err) == set()
    return ended.out


async def test_what_a_turn_says(tmp_path: Path) -> None:
    assert "answer <<␛]52;c" in await said_by(tmp_path, TURN)


async def test_what_a_turn_says_as_json(tmp_path: Path) -> None:
    lines = (await said_by(tmp_path, TURN, "--json")).splitlines()
    texts = json.dumps([json.loads(line) for line in lines], ensure_ascii=False)
    assert "\x9b31m" in texts


@pytest.mark.parametrize("name", ENDS)
async def test_what_ends_a_turn(tmp_path: Path, name: str) -> None:
    await said_by(tmp_path, [ENDS[name]] * 9)
