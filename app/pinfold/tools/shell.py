"""The `shell` tool."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Collection
from typing import Any

from pydantic import Field

from pinfold.ports import Review, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ActKind
from pinfold.tools import workspace
from pinfold.tools.arguments import Arguments, one_line, parse, schema
from pinfold.tools.output import Capture, Live
from pinfold.tools.process import Command

ENVIRONMENT = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "NO_COLOR": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


class ShellArguments(Arguments):
    command: str = Field(min_length=1, description="run by bash, or sh where there is none")
    timeout: int = Field(default=120, ge=1, le=600, description="seconds")


class Shell:
    schema = schema(
        "shell",
        "Run a command in the working directory. Standard input is empty. Long output is cut in "
        "the middle. Processes left in the background are ended with the command.",
        ShellArguments,
    )
    read_only = False
    act: ActKind = "command"

    def __init__(self, hidden: Collection[str] = ()) -> None:
        """`hidden` are variables that commands don't see."""
        self._hidden = hidden

    def review(self, arguments: str, context: ToolContext) -> Review:
        command = self._parse(arguments).command
        return Review("command", f"$ {one_line(command)}", (context.workspace,), command)

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        given = self._parse(arguments)
        shell = shutil.which("bash") or "/bin/sh"
        started = time.monotonic()
        capture, live = Capture(context.folder, context.call_id), Live(context.on_output)
        exit_code: int | None = None
        inherited = {name: os.environ[name] for name in os.environ if name not in self._hidden}
        env = {**inherited, **ENVIRONMENT}
        try:
            async with Command([shell, "-c", given.command], context.workspace, env=env) as command:
                try:
                    async with asyncio.timeout(given.timeout):
                        async for chunk in command.output():
                            live.feed(chunk)
                            await asyncio.to_thread(capture.feed, chunk)
                        exit_code = await command.exit_code()
                except TimeoutError:
                    pass
        finally:
            live.close()
            capture.close()
        seconds = time.monotonic() - started
        detail: dict[str, Any] = {
            "command": given.command,
            "exit_code": exit_code,
            "seconds": round(seconds, 2),
            "timed_out": exit_code is None,
        }
        if capture.path is not None:
            detail["spill"] = str(capture.path)
        ending = _ending(exit_code, seconds, given.timeout)
        output = _with_ending(capture.text(), ending)
        detail["host"] = [[len(output) - len(ending), len(output)]]
        seen = workspace.observe_command(given.command, output)
        return ToolOutcome(output, exit_code == 0, (seen,), detail)

    def _parse(self, arguments: str) -> ShellArguments:
        given = parse(ShellArguments, arguments)
        if "\0" in given.command or not given.command.strip():
            raise ToolError("The command is empty or has a NUL character.")
        return given


def _ending(exit_code: int | None, seconds: float, timeout: int) -> str:
    if exit_code is None:
        return f"[timed out after {timeout} s and was ended]"
    if exit_code < 0:
        return f"[ended by {_signal_name(-exit_code)} after {seconds:.1f} s]"
    return f"[exit code {exit_code}, {seconds:.1f} s]"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _with_ending(text: str, ending: str) -> str:
    if not text:
        return ending
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{ending}"
