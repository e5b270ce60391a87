import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.process import alive, until
from pinfold.ports.tool import Observation, ToolContext, ToolError
from pinfold.tools import process
from pinfold.tools.output import CAP, Capture
from pinfold.tools.shell import ShellTool
from pinfold.tools.workspace import blob_hash

Run = Callable[..., Any]


async def test_output_and_exit_code_come_back(run: Run, live: list[str]) -> None:
    outcome = await run("shell", command="echo out; echo err >&2; exit 3")
    assert outcome.output.startswith("out\nerr\n[exit code 3, ")
    assert not outcome.ok
    assert outcome.detail["exit_code"] == 3
    assert "spill" not in outcome.detail
    assert "".join(live) == "out\nerr\n"
    assert outcome.observations == (
        Observation(
            "cmd:echo out; echo err >&2; exit 3",
            "command",
            "run",
            blob_hash(outcome.output.encode()),
        ),
    )


async def test_a_command_sees_no_input_no_terminal_and_no_pager(run: Run) -> None:
    outcome = await run("shell", command='read x || echo "none $TERM $PAGER $NO_COLOR"')
    assert outcome.output.startswith("none dumb cat 1\n[exit code 0")


async def test_characters_cut_by_a_pause_come_whole(run: Run, live: list[str]) -> None:
    await run("shell", command=r"printf '\303'; sleep 0.3; printf '\251\n'")
    assert "".join(live) == "é\n"


async def test_a_timeout_ends_the_whole_group(run: Run, work: Path) -> None:
    outcome = await run(
        "shell", command="echo begun; sleep 1000 & echo $! > pid; sleep 1000", timeout=1
    )
    assert outcome.output == "begun\n[timed out after 1 s and was killed]"
    assert outcome.detail["timed_out"]
    assert not outcome.ok
    assert not alive(int((work / "pid").read_text()))


async def test_cancelling_leaves_no_process_even_a_stubborn_one(
    context: ToolContext, work: Path
) -> None:
    command = "trap '' TERM; sleep 1000 & echo $! $$ > pids.tmp; mv pids.tmp pids; wait"
    shell = ShellTool()
    task = asyncio.create_task(shell.run(json.dumps({"command": command}), context))
    await until((work / "pids").exists)
    pids = [int(pid) for pid in (work / "pids").read_text().split()]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not any(map(alive, pids)))


async def test_cancelling_at_any_step_of_the_start_leaves_no_process(
    context: ToolContext, work: Path
) -> None:
    shell = ShellTool()
    os.mkfifo(work / "fifo")
    arguments = json.dumps({"command": f"cat {work}/fifo; :"})

    async def cancelled_after(steps: int) -> None:
        task = asyncio.create_task(shell.run(arguments, context))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    await asyncio.gather(*map(cancelled_after, range(15)))
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert str(work) not in listed.stdout


async def test_what_stays_in_the_background_ends_with_the_command(run: Run, work: Path) -> None:
    outcome = await run("shell", command="sleep 1000 & echo $! > pid; echo done")
    assert outcome.output.startswith("done\n[exit code 0")
    pid = int((work / "pid").read_text())
    await until(lambda: not alive(pid))


async def test_a_process_that_left_the_group_does_not_hold_the_result_back(
    run: Run, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "DRAIN", 0.1)
    outcome = await run(
        "shell",
        command="setsid sh -c 'echo $$ > pid; exec sleep 60' & until [ -s pid ]; do :; done; pwd",
        timeout=30,
    )
    os.kill(int((work / "pid").read_text()), signal.SIGKILL)
    assert outcome.output.startswith(f"{work}\n[exit code 0")


async def test_a_signal_is_named(run: Run) -> None:
    outcome = await run("shell", command="kill -SEGV $$")
    assert outcome.output.startswith("[killed by SIGSEGV")


async def test_long_output_is_cut_in_the_middle_and_kept_whole(
    run: Run, context: ToolContext, live: list[str]
) -> None:
    outcome = await run("shell", command="seq 1 200000")
    lines = outcome.output.split("\n")
    assert len(outcome.output) < CAP + 300
    assert lines[0] == "1"
    assert lines[-2] == "200000"
    assert "left out; the whole output is in" in outcome.output
    spill = Path(outcome.detail["spill"])
    assert spill == context.folder / "outputs" / "call_1.txt"
    assert spill.read_text() == "".join(f"{n}\n" for n in range(1, 200_001))
    assert "".join(live).endswith("200000\n")


async def test_an_empty_command_is_refused(run: Run) -> None:
    for command in (" ", "echo \0"):
        with pytest.raises(ToolError, match="empty or has a NUL"):
            await run("shell", command=command)


def test_a_call_id_cannot_lead_out_of_the_folder_nor_hit_another_file(tmp_path: Path) -> None:
    for name in ("______x.txt", "______x-2.txt"):
        capture = Capture(tmp_path, "../../x")
        capture.feed(b"x" * (CAP + 1))
        capture.close()
        assert capture.path == tmp_path / "outputs" / name


def test_every_byte_is_either_shown_or_counted(tmp_path: Path) -> None:
    for number, sizes in enumerate([(CAP,), (CAP, 1), (1, CAP), (CAP * 3,), (7,) * 5000]):
        capture = Capture(tmp_path, f"c{number}")
        data = b"".join(bytes([65 + n % 26]) * size for n, size in enumerate(sizes))
        at = 0
        for size in sizes:
            capture.feed(data[at : at + size])
            at += size
        capture.close()
        text = capture.text()
        if len(data) <= CAP:
            assert text.encode() == data
            continue
        head, _, tail = text.split("\n")
        assert (head.encode(), tail.encode()) == (data[: CAP // 2], data[-CAP // 2 :])
        assert capture.path
        assert capture.path.read_bytes() == data


def test_output_that_cannot_be_kept_is_still_shown(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file where the folder should be")
    capture = Capture(tmp_path, "c")
    capture.feed(b"x" * (CAP + 1))
    assert "it could not be kept" in capture.text()
    assert capture.path is None


async def test_a_hidden_variable_is_not_in_its_environment(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "secret-1")
    monkeypatch.setenv("ANOTHER", "plain-2")
    arguments = json.dumps({"command": "env"})
    outcome = await ShellTool(hidden={"A_KEY", "NOT_THERE"}).run(arguments, context)
    assert "secret-1" not in outcome.output
    assert "ANOTHER=plain-2" in outcome.output
    assert "A_KEY=secret-1" in (await ShellTool().run(arguments, context)).output


async def test_what_leaves_the_group_outlives_the_command(run: Run, tmp_path: Path) -> None:
    """As a daemon does; that the command itself ends with pinfold changes nothing about it."""
    pid = tmp_path / "pid"
    command = f"setsid sh -c 'echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600' >&- 2>&- &"
    wait = f"until [ -e {pid} ]; do sleep 0.01; done"
    await run("shell", command=f"{command} {wait}")
    number = int(pid.read_text())
    assert alive(number)
    os.kill(number, signal.SIGKILL)
