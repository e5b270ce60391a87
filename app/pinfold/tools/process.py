"""Starts every command, hook and search.

Each has a process group of its own, which never outlives its `async with` block.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pinfold.ports.tool import Sandbox, ToolError
from pinfold.tools import watcher
from pinfold.tools.sandbox.confine import Confined, confine
from pinfold.tools.sandbox.places import SetAside

GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
DRAIN = 1.0
"""Seconds for which output is still read after the group has ended."""
CHUNK = 1 << 16
WATCHER = [str(Path(sys.executable).resolve()), "-I", "-S", watcher.__file__]
WATCHER_SECONDS = 10.0
"""Time to end everything that it watches."""


class RunningCommand:
    """A running command. What it leaves in the background ends with it.

    Entering raises `ToolError` where it cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        folder: Path,
        *,
        env: Mapping[str, str] | None = None,
        stdin: IO[bytes] | int = asyncio.subprocess.DEVNULL,
        stderr: int = asyncio.subprocess.STDOUT,
        sandbox: Sandbox | None = None,
        watched: bool = False,
        daemons: bool = False,
    ) -> None:
        """With `watched` it ends with pinfold, too, however that ends; what has left its process
        group does so on Linux alone. With `daemons` that may outlive the command. Other sandboxes
        than bubblewrap do not end what runs in them, so that they are watched always."""
        self._argv = argv
        self._folder = folder
        self._env = env
        self._stdin = stdin
        self._stderr = stderr
        self._sandbox = sandbox
        self._watched = watched or (sandbox is not None and sandbox.kind != "bubblewrap")
        self._daemons = daemons
        self._held: int | None = None
        """The end of the pipe that the watcher waits on."""
        self._confined: Confined | None = None
        self.set_aside: list[SetAside] = []
        """Guarded places that it made in its sandbox."""

    async def __aenter__(self) -> Self:
        if self._sandbox is not None:
            await self._confine(self._sandbox)
        # A pipe of our own: asyncio's would keep `wait()` until all who inherited it are gone.
        source, target = self._channel()
        try:
            self._pipe = await self._connect(source)
            try:
                self._process = await self._start(target)
            except BaseException:
                self._pipe.close()
                raise
        except OSError as error:
            raise ToolError(f"{self._argv[0]} could not be started: {error}") from error
        finally:
            os.close(target)
        self._ending = asyncio.create_task(self._end_with_leader())
        return self

    def _channel(self) -> tuple[int, int]:
        """File descriptors: one to read its output, one to write it."""
        return os.pipe()

    def _closed(self) -> None:
        """Called once it has ended."""

    async def _confine(self, sandbox: Sandbox) -> None:
        try:
            confined = await asyncio.to_thread(
                confine, sandbox, self._argv, self._folder, self._env
            )
        except OSError as error:
            raise ToolError(f"The sandbox could not be created: {error}") from error
        self._confined, self._env = confined, confined.env

    async def _connect(self, source: int) -> asyncio.ReadTransport:
        self._reader = asyncio.StreamReader(CHUNK)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), os.fdopen(source, "rb", 0)
        )
        return transport

    async def _start(self, target: int) -> asyncio.subprocess.Process:
        confined = self._confined
        if confined is None or not confined.reports:
            return await self._run(confined.argv if confined else self._argv, target)
        source, report = os.pipe()
        with os.fdopen(source, "rb") as info:
            try:
                process = await self._run(confined.reporting_to(report), target, report)
            finally:
                os.close(report)
            try:
                await asyncio.to_thread(confined.started, info)
            except asyncio.CancelledError:
                await _end_group(process.pid, lambda: process.returncode is not None)
                raise
        return process

    async def _run(
        self, argv: Sequence[str], target: int, *handed: int
    ) -> asyncio.subprocess.Process:
        if not self._watched:
            return await self._spawn(argv, target, *handed)
        source, self._held = os.pipe()
        try:
            end = f"{source}+" if self._daemons else str(source)
            return await self._spawn([*WATCHER, end, *argv], target, source, *handed)
        except BaseException:
            self._release_watcher()
            raise
        finally:
            os.close(source)

    def _release_watcher(self) -> None:
        """Have the watcher end everything."""
        held, self._held = self._held, None
        if held is not None:
            os.close(held)

    async def _spawn(
        self, argv: Sequence[str], target: int, *handed: int
    ) -> asyncio.subprocess.Process:
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *argv,
                cwd=self._folder,
                env=self._env,
                stdin=self._stdin,
                stdout=target,
                stderr=self._stderr,
                start_new_session=True,
                pass_fds=handed,
            )
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            group = (await starting).pid
            await _end_group(group, lambda: not _signal(group, 0))
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.cancel()
        self._pipe.close()
        await self._end()
        await self._process.wait()
        self._closed()
        await self._settle()

    async def _settle(self) -> None:
        """Set guarded places aside that it has made so far in its sandbox."""
        if self._confined is not None:
            self.set_aside += await asyncio.to_thread(self._confined.settle)

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[None]:
        """Around what others change in guarded places with the user's consent: that is not set
        aside when this ends, as what it made itself is."""
        await self._settle()
        try:
            yield
        finally:
            if self._confined is not None:
                with suppress(OSError):
                    await asyncio.to_thread(self._confined.accept)

    async def output(self) -> AsyncIterator[bytes]:
        """Output as it comes, until the command has ended."""
        while chunk := await self._reader.read(CHUNK):
            yield chunk

    async def exit_code(self) -> int:
        """The exit code, or minus the number of the signal that ended it."""
        return await self._process.wait()

    async def _end_with_leader(self) -> None:
        await self._process.wait()
        await self._end()
        # A process that left the group may hold the pipe open for ever.
        await asyncio.sleep(DRAIN)
        self._pipe.close()

    async def _end(self) -> None:
        """End the leader and all that it has started."""
        leader = self._process
        if self._held is not None:
            self._release_watcher()
            with suppress(TimeoutError):
                async with asyncio.timeout(WATCHER_SECONDS):
                    await leader.wait()
        if self._confined is None:
            await _end_group(leader.pid, lambda: not _signal(leader.pid, 0))
            return
        # What ended in a sandbox may stay in the group until somebody reaps it.
        await _end_group(leader.pid, lambda: leader.returncode is not None)
        await asyncio.to_thread(self._confined.end)


async def output_of(
    argv: Sequence[str],
    folder: Path,
    most: int,
    *,
    env: Mapping[str, str] | None = None,
    stdin: IO[bytes] | int = asyncio.subprocess.DEVNULL,
    stderr: int = asyncio.subprocess.STDOUT,
    sandbox: Sandbox | None = None,
) -> tuple[int, bytes]:
    """Run a command to its end: its exit code, and at most `most` bytes of its output.

    Raises `ToolError` where it cannot be started.
    """
    printed = bytearray()
    async with RunningCommand(
        argv, folder, env=env, stdin=stdin, stderr=stderr, sandbox=sandbox
    ) as running:
        async for piece in running.output():
            printed += piece[: most - len(printed)]
        return await running.exit_code(), bytes(printed)


async def _end_group(group: int, gone: Callable[[], bool]) -> None:
    if not _signal(group, signal.SIGTERM):
        return
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                while not gone():  # noqa: ASYNC110 - nobody tells when a group is gone
                    await asyncio.sleep(0.02)
    finally:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Whether the group has any process."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
