"""Commands in a process group of their own, which never outlives its `async with` block."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pinfold.ports import ToolError

GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
DRAIN = 1.0
"""Seconds for which output is still read after the group has ended."""
CHUNK = 1 << 16


class Command:
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
    ) -> None:
        self._argv = argv
        self._folder = folder
        self._env = env
        self._stdin = stdin
        self._stderr = stderr

    async def __aenter__(self) -> Self:
        # A pipe of our own: asyncio's would keep `wait()` until all who inherited it are gone.
        source, target = os.pipe()
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

    async def _connect(self, source: int) -> asyncio.ReadTransport:
        self._reader = asyncio.StreamReader(CHUNK)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), os.fdopen(source, "rb", 0)
        )
        return transport

    async def _start(self, target: int) -> asyncio.subprocess.Process:
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *self._argv,
                cwd=self._folder,
                env=self._env,
                stdin=self._stdin,
                stdout=target,
                stderr=self._stderr,
                start_new_session=True,
            )
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await _end_group((await starting).pid)
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.cancel()
        self._pipe.close()
        await _end_group(self._process.pid)
        await self._process.wait()

    async def output(self) -> AsyncIterator[bytes]:
        """Output as it comes, until the command has ended."""
        while chunk := await self._reader.read(CHUNK):
            yield chunk

    async def exit_code(self) -> int:
        """The exit code, or minus the number of the signal that ended it."""
        return await self._process.wait()

    async def _end_with_leader(self) -> None:
        await self._process.wait()
        await _end_group(self._process.pid)
        # A process that left the group may hold the pipe open for ever.
        await asyncio.sleep(DRAIN)
        self._pipe.close()


async def _end_group(group: int) -> None:
    if not _signal(group, signal.SIGTERM):
        return
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                while _signal(group, 0):  # noqa: ASYNC110 - nobody tells when a group is gone
                    await asyncio.sleep(0.02)
    finally:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Whether there was anyone in the group to get it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
