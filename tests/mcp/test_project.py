"""What a project's `.mcp.json` may say."""

import json
from pathlib import Path
from typing import Any

import pytest

from pinfold.mcp.answers import named_files, start_hash
from pinfold.mcp.definition import Definition
from pinfold.mcp.project import project_servers


def read(folder: Path, servers: Any) -> tuple[list[Definition], dict[str, str]]:
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return project_servers(folder)


def test_a_server_is_read_as_others_write_it(tmp_path: Path) -> None:
    entry = {"type": "stdio", "command": "x", "args": ["${A}"], "env": {"B": "${C:-d}"}, "new": 1}
    (found,), problems = read(tmp_path, {"one": entry})
    assert not problems
    assert (found.source, found.sandbox, found.network) == ("project", True, False)
    assert (found.line, found.variables) == ("x ${A}", ("A", "C"))


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (3, "must be an object"),
        ({"command": "x", "args": "y"}, "args must be a list"),
        ({"type": "sse", "url": "https://x.example"}, "old transport"),
        ({}, "needs a command or a url"),
        ({"command": "x", "url": "https://x.example"}, "needs a command or a url"),
        ({"url": "file:///etc/passwd"}, "must begin with http"),
        ({"command": "x\0y"}, "NUL"),
    ],
)
def test_what_cant_be_used_is_named(tmp_path: Path, entry: Any, why: str) -> None:
    found, problems = read(tmp_path, {"good": {"command": "x"}, "bad": entry})
    assert [one.name for one in found] == ["good"]
    assert why in problems["bad"]


@pytest.mark.parametrize(
    ("text", "why"),
    [("[" * 3000, "nested too deeply"), ("{", "not valid JSON"), ("[]", "no object mcpServers")],
)
def test_a_file_that_cant_be_read_is_named(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / ".mcp.json").write_text(text)
    found, problems = project_servers(tmp_path)
    assert not found
    assert why in problems[".mcp.json"]


def test_the_hash_covers_the_files_that_a_command_names(tmp_path: Path) -> None:
    for name in ("run.sh", "a.js", "b.json", "other"):
        (tmp_path / name).write_text(name)
    definition = Definition("x", command="./run.sh", args=("a.js", "--config=b.json", "-y"))
    assert [path.name for path in named_files(definition, tmp_path, {})] == [
        "a.js",
        "b.json",
        "run.sh",
    ]
    before = start_hash(definition, tmp_path, {}, confined=True)
    (tmp_path / "other").write_text("changed")
    assert start_hash(definition, tmp_path, {}, confined=True) == before
    assert start_hash(definition, tmp_path, {}, confined=False) != before
    (tmp_path / "b.json").write_text("changed")
    assert start_hash(definition, tmp_path, {}, confined=True) != before


@pytest.mark.parametrize("words", [("-m", "app.main"), ("-mapp",), ("./app",)])
def test_the_hash_covers_a_folder_that_is_run_as_a_program(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    for name in ("app/__main__.py", "app/part/tool.py", "app/__pycache__/tool.pyc", "docs/a.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    definition = Definition("x", command="python", args=(*words, ".", "docs"))
    before = start_hash(definition, tmp_path, {}, confined=True)
    for name in ("docs/a.md", "app/__pycache__/tool.pyc", "a.py"):
        (tmp_path / name).write_text("changed")
    assert start_hash(definition, tmp_path, {}, confined=True) == before
    (tmp_path / "app/part/tool.py").write_text("changed")
    assert start_hash(definition, tmp_path, {}, confined=True) != before


@pytest.mark.parametrize(
    ("cwd", "words"),
    [
        ("", ("sh", "${NOT_SET:-run.sh}")),
        ("${NOT_SET:-.}", ("sh", "run.sh")),
        ("${SUB}", ("sh", "../run.sh")),
        ("", ("sh", "-c", "x=1; exec './run.sh' --fast")),
    ],
)
def test_a_file_is_named_however_it_is_written(
    tmp_path: Path, cwd: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "run.sh").write_text("true")
    definition = Definition("x", command=words[0], args=words[1:], cwd=cwd)
    assert named_files(definition, tmp_path, {"SUB": "sub"}) == [tmp_path / "run.sh"]
