"""Commands that run in the background of a session."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pinfold.ports.tool import ToolContext, ToolError
from pinfold.rollout.events import KILLED
from pinfold.tools.output import MAX_FILE, new_file
from pinfold.tools.process import RunningCommand
from pinfold.tools.sandbox.places import moved
from pinfold.tools.workspace import size_text

MOST = 8
"""Commands that run at the same time."""
Ended = Callable[["BackgroundJob"], Awaitable[None]]


@dataclass(slots=True, eq=False)
class BackgroundJob:
    """A command in the background."""

    number: int
    command: str
    path: Path
    """The file that its output goes to."""
    begun: float
    """As `time.monotonic` has it; so is `over`."""
    over: float | None = None
    exit_code: int | None = None
    """None while it runs, and where it was killed."""
    reason: str = ""
    """Why it was killed."""
    size: int = 0
    """Bytes in the file."""
    seen: int = 0
    """Those of them that the model has read."""
    notes: list[str] = field(default_factory=list)
    """Notes on its output and on guarded places that it made in its sandbox."""

    @property
    def runs(self) -> bool:
        return self.over is None

    @property
    def seconds(self) -> float:
        return (time.monotonic() if self.over is None else self.over) - self.begun

    @property
    def ending(self) -> str:
        """How it ended, for a model; how long it has run, while it does."""
        if self.runs:
            said = f"[background command {self.number} has run for {self.seconds:.1f} s]"
        elif self.exit_code is None:
            said = f"[{self.reason} after {self.seconds:.1f} s]"
        else:
            said = f"[exit code {self.exit_code}, {self.seconds:.1f} s]"
        return "\n".join([*self.notes, said])


class BackgroundJobs:
    """Starts, reads and ends background commands. All end with pinfold, even if it is killed."""

    def __init__(self, last: int, ended: Ended) -> None:
        """`last` is the highest number that was given away; `ended` hears of each that is over."""
        self._last = last
        self._ended = ended
        self._jobs: dict[int, BackgroundJob] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._commands: dict[int, RunningCommand] = {}
        """Commands that run, by number."""
        self.beside: list[Callable[[], AbstractAsyncContextManager[None]]] = []
        """The `apart` of others that run besides."""

    @property
    def known(self) -> list[BackgroundJob]:
        """All that were started since the session was opened, in that order."""
        return list(self._jobs.values())

    @property
    def running(self) -> list[BackgroundJob]:
        return [job for job in self._jobs.values() if job.runs]

    async def start(
        self, command: str, argv: Sequence[str], env: Mapping[str, str], context: ToolContext
    ) -> BackgroundJob:
        """Run `argv`, which the user knows as `command`. Raises `ToolError`."""
        if len(self.running) >= MOST:
            raise ToolError(
                f"{MOST} commands are already running in the background: end one of them."
            )
        self._last += 1
        running = RunningCommand(
            argv, context.workspace, env=env, sandbox=context.sandbox, watched=True
        )
        async with AsyncExitStack() as undoing:
            try:
                path, file = await asyncio.to_thread(new_file, context.folder, f"job-{self._last}")
            except OSError as error:
                raise ToolError(f"Its output could not be kept: {error.strerror}") from error
            undoing.enter_context(file)
            await undoing.enter_async_context(running)
            job = BackgroundJob(self._last, command, path, time.monotonic())
            work = self._run(job, running, file, undoing.pop_all(), context.workspace)
        self._jobs[job.number], self._commands[job.number] = job, running
        self._tasks[job.number] = asyncio.create_task(work)
        await asyncio.sleep(0)  # one that is cancelled before its first step ends nothing
        return job

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[None]:
        """Around what others change in guarded places: see `RunningCommand.apart`."""
        async with AsyncExitStack() as entered:
            for apart in (*(command.apart for command in self._commands.values()), *self.beside):
                await entered.enter_async_context(apart())
            yield

    async def output(self, number: int, seconds: float, most: int) -> tuple[BackgroundJob, str]:
        """What it has printed since the last time, at most the last `most` bytes of it, once it
        has ended or so many seconds have passed. Raises `ToolError`."""
        job = self._job(number)
        if job.runs and seconds:
            await asyncio.wait([self._tasks[number]], timeout=seconds)
        before, job.seen = job.seen, job.size
        first = max(before, job.size - most)
        text = await asyncio.to_thread(_read, job.path, first, job.seen)
        if first > before:
            text = text[text.find("\n") + 1 :]  # a whole line, where lines are not endless
            text = f"[... {size_text(first - before)} left out; all is in {job.path} ...]\n{text}"
        return job, text

    async def kill(self, number: int, reason: str = KILLED) -> BackgroundJob:
        """End it. Raises `ToolError`."""
        job = self._job(number)
        if not job.runs:
            raise ToolError(f"Background command {number} has ended: {job.ending}")
        job.reason = reason
        self._tasks[number].cancel()
        await asyncio.wait([self._tasks[number]])
        return job

    async def close(self) -> None:
        """End all of them."""
        reason = "the session was closed"
        await asyncio.gather(*(self.kill(job.number, reason) for job in self.running))

    def _job(self, number: int) -> BackgroundJob:
        if number in self._jobs:
            return self._jobs[number]
        known = ", ".join(map(str, self._jobs)) or "none"
        raise ToolError(f"There is no background command {number}. There are: {known}.")

    async def _run(
        self,
        job: BackgroundJob,
        command: RunningCommand,
        file: IO[bytes],
        entered: AsyncExitStack,
        workspace: Path,
    ) -> None:
        code: int | None = None
        try:
            with suppress(asyncio.CancelledError):
                async with entered:
                    async for chunk in command.output():
                        await asyncio.to_thread(_write, job, file, chunk)
                    code = await command.exit_code()
        finally:
            del self._commands[job.number]
            job.exit_code, job.over = code, time.monotonic()
            job.reason = job.reason if code is None else ""
            job.notes += [moved(place, workspace) for place in command.set_aside]
            await self._ended(job)


def _write(job: BackgroundJob, file: IO[bytes], data: bytes) -> None:
    piece = data[: MAX_FILE - job.size]
    try:
        file.write(piece)
        file.flush()
    except OSError as error:
        piece, kept = b"", f"[Not all of its output could be kept: {error.strerror}.]"
    else:
        kept = f"[Only the first {size_text(MAX_FILE)} of its output is kept.]"
    job.size += len(piece)
    if len(piece) < len(data) and kept not in job.notes:
        job.notes.append(kept)


def _read(path: Path, first: int, end: int) -> str:
    try:
        with path.open("rb") as file:
            file.seek(first)
            return file.read(end - first).decode(errors="replace")
    except OSError as error:
        raise ToolError(f"{path} can't be read: {error.strerror}") from error
