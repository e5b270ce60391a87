"""Arguments as models write them out of habit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinfold.ports.tool import Tool, ToolError

Run = Callable[..., Any]


async def test_a_path_has_other_names(run: Run, work: Path) -> None:
    await run("write_file", file_path="a.txt", contents="one\n")
    assert (work / "a.txt").read_text() == "one\n"
    await run("read_file", filename="a.txt")
    await run("edit_file", file_path="a.txt", old_str="one", new_str="two")
    assert (work / "a.txt").read_text() == "two\n"


@pytest.mark.parametrize(
    "command",
    [["bash", "-lc", "echo $((1 + 1))"], ["/bin/sh", "-c", "echo 2"], ["printf", "%s\n", "2"]],
)
async def test_a_command_may_be_a_list(run: Run, command: list[str]) -> None:
    outcome = await run("shell", command=command, description="adds")
    assert outcome.output.startswith("2\n[exit code 0")


def test_a_list_is_reviewed_as_the_command_that_runs(tools: dict[str, Tool], context: Any) -> None:
    review = tools["shell"].review('{"command": ["rm", "-rf", "a b"]}', context)
    assert review.command == "rm -rf 'a b'"


async def test_a_patch_may_be_the_input(run: Run, work: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: b.txt\n+new\n*** End Patch"
    outcome = await run("apply_patch", input=patch)
    assert outcome.ok
    assert (work / "b.txt").read_text() == "new\n"


async def test_a_plan_may_be_one_of_another_tool(run: Run) -> None:
    steps = [{"step": "Look", "status": "completed"}, {"content": "Do", "status": "pending"}]
    outcome = await run("update_plan", plan=steps, explanation="two steps")
    assert outcome.detail["plan"] == [
        {"text": "Look", "status": "done"},
        {"text": "Do", "status": "pending"},
    ]


async def test_of_two_names_for_one_thing_none_is_guessed(run: Run) -> None:
    with pytest.raises(ToolError, match="file_path"):
        await run("read_file", path="a", file_path="b")


async def test_the_model_is_told_of_one_name_alone(tools: dict[str, Tool]) -> None:
    told = str([tool.schema for tool in tools.values()])
    assert "file_path" not in told
    assert "'input'" not in told


async def test_a_mask_takes_the_body_by_either_name(tools: dict[str, Tool]) -> None:
    assert tools["apply_patch"].bodies == ("patch", "input")
    assert "contents" in tools["write_file"].bodies
