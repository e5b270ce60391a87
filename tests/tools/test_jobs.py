import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.process import alive, until
from pinfold.ports.tool import Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.events import JobStarted
from pinfold.tools import watcher
from pinfold.tools.jobs import MOST, BackgroundJob, BackgroundJobs


class Background:
    """Background commands, and those of which it was told that they ended."""

    def __init__(self, context: ToolContext, tools: dict[str, Tool]) -> None:
        self.jobs = BackgroundJobs(0, self._ended)
        self.ended: list[BackgroundJob] = []
        self._context = replace(context, jobs=self.jobs)
        self._tools = tools

    async def _ended(self, job: BackgroundJob) -> None:
        self.ended.append(job)

    async def call(self, name: str, **arguments: Any) -> ToolOutcome:
        written = json.dumps(arguments)
        self._tools[name].review(written, self._context)
        return await self._tools[name].run(written, self._context)

    async def begin(self, command: str) -> ToolOutcome:
        return await self.call("shell", command=command, background=True)


@pytest.fixture
async def background(context: ToolContext, tools: dict[str, Tool]) -> AsyncIterator[Background]:
    found = Background(context, tools)
    yield found
    await found.jobs.close()


async def test_a_command_runs_on_and_its_output_is_read_as_it_comes(
    background: Background, work: Path
) -> None:
    outcome = await background.begin("echo first; until [ -e go ]; do sleep 0.02; done; echo last")
    path = outcome.detail["host"] and background.jobs.running[0].path
    assert outcome.output == f"[background command 1 has started; its output goes to {path}]"
    assert isinstance(outcome.events[0], JobStarted)
    await until(lambda: path.read_text() == "first\n")
    read = await background.call("shell_output", job=1)
    assert read.output.startswith("first\n[background command 1 has run for ")
    (work / "go").touch()
    read = await background.call("shell_output", job=1, wait=20)
    assert read.output.startswith("last\n[exit code 0, ")
    assert [job.exit_code for job in background.ended] == [0]
    read = await background.call("shell_output", job=1)
    assert read.output.startswith("[exit code 0, ")


async def test_a_killed_command_ends_with_all_that_it_started(
    background: Background, work: Path
) -> None:
    """What left the group and the session, and ignores SIGTERM, too."""
    stubborn = "trap '' TERM; echo $$ > pid.tmp; mv pid.tmp pid; while :; do sleep 1; done"
    await background.begin(
        f'(setsid bash -c "{stubborn.replace("$", chr(92) + "$")}" &) ; sleep 60'
    )
    await until((work / "pid").exists)
    pid = int((work / "pid").read_text())
    outcome = await background.call("shell_kill", job=1)
    assert outcome.output.startswith("[killed after ")
    assert not alive(pid)
    assert [job.reason for job in background.ended] == ["killed"]
    with pytest.raises(ToolError, match="1 has ended"):
        await background.call("shell_kill", job=1)


async def test_what_a_command_leaves_behind_ends_with_it(
    background: Background, work: Path
) -> None:
    await background.begin("(setsid sleep 600 & echo $! > pid); exit 3")
    outcome = await background.call("shell_output", job=1, wait=20)
    assert outcome.output.startswith("[exit code 3, ")
    assert not alive(int((work / "pid").read_text()))


async def test_of_much_output_the_end_is_shown_and_the_file_named(background: Background) -> None:
    await background.begin("seq 1 20000")
    outcome = await background.call("shell_output", job=1, wait=20)
    head, _, rest = outcome.output.partition("\n")
    assert head == f"[... 92.9 kB left out; all is in {background.ended[0].path} ...]"
    assert rest.startswith("1")
    assert "\n20000\n[exit code 0" in rest
    assert background.ended[0].path.read_text().startswith("1\n2\n")


async def test_what_cannot_be_is_said(background: Background) -> None:
    with pytest.raises(ToolError, match=r"no background command 7\. There are: none"):
        await background.call("shell_output", job=7)
    for _ in range(MOST):
        await background.begin("sleep 60")
    with pytest.raises(ToolError, match="8 commands are already running in the background"):
        await background.begin("sleep 60")


async def test_closing_ends_all(background: Background, work: Path) -> None:
    await background.begin("echo $$ > pid.tmp; mv pid.tmp pid; sleep 600")
    await until((work / "pid").exists)
    await background.jobs.close()
    assert not alive(int((work / "pid").read_text()))
    assert [job.reason for job in background.ended] == ["the session was closed"]


def test_the_watcher_gives_the_exit_code_and_no_signal_is_ignored(tmp_path: Path) -> None:
    source, target = os.pipe()
    try:
        ended = subprocess.run(
            [
                sys.executable,
                "-I",
                watcher.__file__,
                str(source),
                "bash",
                "-c",
                "grep SigIgn /proc/self/status; kill -9 $$",
            ],
            check=False,
            pass_fds=(source,),
            start_new_session=True,
            capture_output=True,
            text=True,
        )
    finally:
        os.close(source)
        os.close(target)
    assert ended.returncode == 128 + signal.SIGKILL
    ignored = int(ended.stdout.split()[1], 16)
    own = sum(1 << (number - 1) for number in (signal.SIGPIPE, signal.SIGXFSZ))
    assert not ignored & own  # Python ignores these; others may be ignored where the tests run


HOLDER = """
import asyncio, sys, os
from pathlib import Path
from pinfold.ports.tool import ToolContext
from pinfold.tools.jobs import Jobs

async def main():
    async def ended(job): ...
    work = Path(sys.argv[1])
    context = ToolContext(work, work / "session", "c", print)
    jobs = Jobs(0, ended)
    loop = "trap '' TERM HUP; echo $$ >> pids; while :; do sleep 1; done"
    command = f'bash -c "{loop}" & (setsid bash -c "{loop}" &) ; (nohup bash -c "{loop}" &); wait'
    command = command.replace("$$", chr(92) + "$$")
    await jobs.start("x", ["bash", "-c", command], dict(os.environ), context)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


async def killed_with_its_job(work: Path) -> None:
    """Have a process that holds a job killed once all of the job runs; nothing of it stays."""
    work.mkdir()
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDER, str(work))
    pids = work / "pids"
    await until(lambda: pids.exists() and len(pids.read_text().split()) == 3)
    holder.kill()
    await holder.wait()
    found = [int(pid) for pid in pids.read_text().split()]
    await until(lambda: not any(map(alive, found)))


@pytest.mark.slow
async def test_nothing_is_left_when_pinfold_is_killed(tmp_path: Path) -> None:
    for number in range(20):
        await killed_with_its_job(tmp_path / str(number))
