"""The `shell` tool."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.events import JobStarted
from pinfold.tools import workspace
from pinfold.tools.arguments import Arguments, as_command, parse, schema, title_line
from pinfold.tools.output import Capture, Live
from pinfold.tools.process import RunningCommand
from pinfold.tools.sandbox.denied import NOT_MADE, ways
from pinfold.tools.sandbox.places import SetAside, moved
from pinfold.tools.terminal_command import TerminalCommand

LENT = b"[it had the user's terminal]\n"
"""What the output says of the time for which it did."""
ATTEMPTS = 3
"""To make a sandbox."""
ENVIRONMENT = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "NO_COLOR": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


class ShellArguments(Arguments):
    also: ClassVar = {"cmd": "command", "run_in_background": "background", "description": ""}

    command: Annotated[str, BeforeValidator(as_command)] = Field(
        min_length=1, description="run by bash, or by sh if there is none"
    )
    timeout: int = Field(default=120, ge=1, le=600, description="seconds")
    outside: str = Field(
        default="",
        max_length=500,
        description="if commands run in a sandbox: why this one has to run outside it",
    )
    background: bool = Field(
        default=False, description="return at once; read on with shell_output, no timeout"
    )


class ShellTool(Tool):
    schema = schema(
        "shell",
        "Run a command in the working directory. Standard input is empty. Long output is cut in "
        "the middle. Processes left in the background are ended with the command.",
        ShellArguments,
    )
    kind: ToolKind = "command"
    editable = "command"

    def __init__(self, hidden: Collection[str] = ()) -> None:
        """`hidden` are variables that commands don't see."""
        self._hidden = hidden

    def review(self, arguments: str, context: ToolContext) -> Review:
        given = self._parse(arguments)
        return Review(
            "command",
            f"$ {title_line(given.command)}",
            (context.workspace,),
            given.command,
            given.background,
            outside=title_line(given.outside) if context.sandbox else "",
        )

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        given = self._parse(arguments)
        if given.background:
            return await self._begin(given, context)
        for _ in range(ATTEMPTS):
            ended = await self._run(given, context)
            # A file that was to be hidden may have gone away meanwhile.
            if not (context.sandbox and ended.code == 1 and ended.text.startswith(NOT_MADE)):
                break
        detail: dict[str, Any] = {
            "command": given.command,
            "exit_code": ended.code,
            "seconds": round(ended.seconds, 2),
            "timed_out": ended.code is None,
        }
        if ended.whole is not None:
            detail["spill"] = str(ended.whole)
        if context.sandbox:
            detail["sandbox"] = "network" if context.sandbox.network else "no network"
        if denied := ways(ended.text, ended.code, context.sandbox):
            detail["denied"] = denied
        notes = [moved(place, context.workspace) for place in ended.set_aside]
        ending = "\n".join([*notes, _ending(ended.code, ended.seconds, given.timeout)])
        output = _with_ending(ended.text, ending)
        detail["host"] = [[len(output) - len(ending), len(output)]]
        seen = workspace.observe_command(given.command, output)
        return ToolOutcome(output, ended.code == 0, (seen,), detail)

    async def _begin(self, given: ShellArguments, context: ToolContext) -> ToolOutcome:
        if context.jobs is None:
            raise ToolError("Nothing can run in the background here.")
        job = await context.jobs.start(
            given.command, _argv(given.command), self._environment(), context
        )
        output = f"[background command {job.number} has started; its output goes to {job.path}]"
        detail = {"command": given.command, "job": job.number, "host": [[0, len(output)]]}
        started = JobStarted(job=job.number, command=given.command, output=str(job.path))
        return ToolOutcome(output, detail=detail, events=(started,))

    def _environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in os.environ if name not in self._hidden}
        return {**inherited, **ENVIRONMENT}

    async def _run(self, given: ShellArguments, context: ToolContext) -> "_Ended":
        started = time.monotonic()
        capture = Capture(context.folder, context.call_id, context.max_output)
        live = Live(context.on_output)
        code: int | None = None
        command = _command(_argv(given.command), self._environment(), context)
        lending: asyncio.Task[None] | None = None
        try:
            async with command:
                try:
                    async with asyncio.timeout(given.timeout) as limit:
                        if isinstance(command, TerminalCommand):
                            lending = asyncio.create_task(
                                command.lend(lambda: limit.reschedule(None))
                            )
                        async for chunk in command.output():
                            live.feed(chunk)
                            await asyncio.to_thread(capture.feed, chunk)
                        code = await command.exit_code()
                except TimeoutError:
                    pass
                finally:
                    if lending is not None:
                        lending.cancel()
            if isinstance(command, TerminalCommand) and command.lent is not None:
                capture.feed(command.lent + LENT)
        finally:
            live.close()
            capture.close()
        seconds = time.monotonic() - started
        return _Ended(code, seconds, capture.text(), capture.path, command.set_aside)

    def _parse(self, arguments: str) -> ShellArguments:
        given = parse(ShellArguments, arguments)
        if "\0" in given.command or not given.command.strip():
            raise ToolError("The command is empty or has a NUL character.")
        return given


@dataclass(frozen=True, slots=True)
class _Ended:
    code: int | None
    """None where it was timed out."""
    seconds: float
    text: str
    whole: Path | None
    """The file with all of its output, where that is long."""
    set_aside: Sequence[SetAside]


def _argv(command: str) -> list[str]:
    return [shutil.which("bash") or "/bin/sh", "-c", command]


def _command(argv: Sequence[str], env: Mapping[str, str], context: ToolContext) -> RunningCommand:
    if context.terminal is not None:
        env = {**env, "TERM": os.environ.get("TERM", "dumb"), "GIT_TERMINAL_PROMPT": "1"}
        return TerminalCommand(argv, context.workspace, env=env, terminal=context.terminal)
    alone = context.sandbox is None
    return RunningCommand(
        argv, context.workspace, env=env, sandbox=context.sandbox, watched=alone, daemons=alone
    )


def _ending(exit_code: int | None, seconds: float, timeout: int) -> str:
    if exit_code is None:
        return f"[timed out after {timeout} s and was killed]"
    if exit_code < 0:
        return f"[killed by {_signal_name(-exit_code)} after {seconds:.1f} s]"
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
