"""The user's own commands at certain moments: JSON on standard input, an exit code and JSON back.

Exit code 0 continues, 2 stops what was about to happen, for the reason on standard error; any other
is a warning. On standard output a hook may print `{"stop": "why"}` or `{"context": "text"}`.
"""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal

import msgspec
from msgspec import Struct

from pinfold.agent.record import Record
from pinfold.ports.tool import ToolError
from pinfold.sanitize import one_line
from pinfold.tools.process import output_of
from pinfold.window.refused import Refused

Moment = Literal[
    "session_start",
    "user_prompt",
    "pre_tool",
    "post_tool",
    "pre_compact",
    "post_compact",
    "stop",
    "notification",
]

STOP = 2
"""The exit code that stops."""
MAX_OUTPUT = 65_536
"""Bytes that are read of what a hook prints."""
MAX_CONTEXT = 8_000
"""Characters that a hook may add to the window."""
_REASON = 300
"""Characters of a reason that are told."""


class Stopped(Refused):
    """A hook said no."""


class HookOutcome(Struct, frozen=True):
    """What the hooks of a moment returned."""

    stop: str = ""
    """Why not; empty continues."""
    context: str = ""
    """Text for the window."""


@dataclass(eq=False)
class Hooks:
    """Runs the commands of a moment, one after another."""

    _record: Record
    _cwd: Path
    _commands: Mapping[str, Sequence[str]]
    """Shell commands by moment."""
    _timeout: float
    """Seconds, for each of them."""
    _started: set[asyncio.Task[HookOutcome]] = field(default_factory=set, init=False)

    def start(self, moment: Moment, **told: Any) -> None:
        """Run the hooks of that moment in the background; their answers are ignored."""
        if self.wanted(moment):
            task = asyncio.create_task(self.run(moment, **told))
            self._started.add(task)
            task.add_done_callback(self._started.discard)

    async def close(self) -> None:
        """End what runs in the background."""
        for task in self._started:
            task.cancel()
        await asyncio.gather(*self._started, return_exceptions=True)

    def wanted(self, moment: Moment) -> bool:
        return bool(self._commands.get(moment))

    async def run(self, moment: Moment, **told: Any) -> HookOutcome:
        """Run the hooks of that moment, up to the first that says stop."""
        contexts: list[str] = []
        for command in self._commands.get(moment, ()):
            payload = {
                "event": moment,
                "session_id": self._record.state.id,
                "cwd": str(self._cwd),
                "rollout": str(self._record.journal.path),
                **told,
            }
            outcome = await self._run_hook(command, msgspec.json.encode(payload))
            if outcome.context:
                contexts.append(outcome.context[:MAX_CONTEXT])
            if outcome.stop:
                return HookOutcome(one_line(outcome.stop)[:_REASON], "\n".join(contexts))
        return HookOutcome("", "\n".join(contexts))

    async def _run_hook(self, command: str, payload: bytes) -> HookOutcome:
        try:
            with TemporaryFile() as stdin, TemporaryFile() as stderr:
                stdin.write(payload)
                stdin.seek(0)
                async with asyncio.timeout(self._timeout):
                    code, printed = await self._run(command, stdin, stderr)
                said = _output_head(stderr).strip()
        except TimeoutError:
            self._warn(command, f"took longer than {self._timeout:g} s and was stopped")
            return HookOutcome()
        except (ToolError, OSError) as error:
            self._warn(command, str(error))
            return HookOutcome()
        if code == STOP:
            return HookOutcome(stop=said or f"the hook {command!r} says so")
        if code != 0:
            self._warn(command, f"exit code {code}. {said}")
            return HookOutcome()
        if not printed.strip():
            return HookOutcome()
        try:
            return msgspec.json.decode(printed, type=HookOutcome)
        except ValueError:
            self._warn(command, "its output is not valid JSON for a hook")
            return HookOutcome()

    async def _run(self, command: str, stdin: IO[bytes], stderr: IO[bytes]) -> tuple[int, bytes]:
        argv = [shutil.which("bash") or "/bin/sh", "-c", command]
        return await output_of(argv, self._cwd, MAX_OUTPUT, stdin=stdin, stderr=stderr.fileno())

    def _warn(self, command: str, why: str) -> None:
        self._record.warn(f"Hook {one_line(command)[:80]}: {one_line(why)[:_REASON]}")


def _output_head(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_OUTPUT).decode(errors="replace")
