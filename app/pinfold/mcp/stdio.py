"""The transport to a server that is a process; the SDK's own trusts what it reads."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from pinfold.mcp.lines import LARGE, TOO_LONG, LineSplitter, Unreadable, decode
from pinfold.mcp.log import Log
from pinfold.mcp.sift import FLOODS, PASSED, Allowance, sift
from pinfold.ports.tool import Sandbox
from pinfold.tools.output import keep
from pinfold.tools.process import CHUNK, RunningCommand

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

FAREWELL = 0.5
"""Seconds that a server has to end by itself, once its input is closed."""
MOST_NOISE = 64_000_000
"""Bytes on standard output that are no message, after which the server is ended."""
PROBE_SHARE = 0.4
"""Of the time to start, that the question for the newest revision may take: servers of before may
never answer it."""
PARSE_ERROR, METHOD_NOT_FOUND = -32700, -32601


class Stdio:
    """A process in its watcher, which ends it with all that it has started."""

    def __init__(
        self,
        argv: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        log: Log,
        *,
        sandbox: Sandbox | None = None,
        startup: float = 10.0,
    ) -> None:
        self._argv, self._folder, self._env = argv, folder, env
        self._log = log
        self._sandbox = sandbox
        self._startup = startup
        self._undoing = AsyncExitStack()
        self._lines = LineSplitter()
        self._asked: dict[str, int | str] = {}
        """The ids of requests that wait for their answer, by their text: some servers make a text
        of a number."""
        self._noise = 0
        self._allowance = Allowance()
        self.heard = False
        self.unsigned = False
        self.ended = asyncio.Event()
        self.why = ""
        """Why pinfold ended it; empty if it did not."""

    @property
    def ending(self) -> str:
        """Why it has ended: the end of a sentence."""
        last = f": {self._log.last}" if self._log.last else ""
        return self.why or f"it ended{last}"

    async def __aenter__(self) -> "TransportStreams":
        """Raises `ToolError` where it can't be started."""
        import anyio
        from mcp.shared.message import SessionMessage

        async with AsyncExitStack() as undoing:
            await asyncio.to_thread(self._log.open)
            undoing.callback(self._log.close)
            said, says = _pipe()
            undoing.callback(says.close)
            await self._follow(said, undoing)
            hears, told = _pipe()
            undoing.callback(hears.close)
            self._input = await _writer(told)
            undoing.callback(self._input.close)
            self.process = RunningCommand(
                self._argv,
                self._folder,
                env=self._env,
                stdin=hears,
                stderr=says.fileno(),
                sandbox=self._sandbox,
                watched=True,
            )
            await undoing.enter_async_context(self.process)
            hears.close()
            says.close()
            self._in, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            write, out = anyio.create_memory_object_stream[SessionMessage](0)
            undoing.callback(read.close)
            undoing.callback(write.close)
            self._reading = asyncio.create_task(self._read())
            undoing.push_async_callback(_cancel, self._reading)
            undoing.push_async_callback(_cancel, asyncio.create_task(self._write(out)))
            self._undoing = undoing.pop_all()
        return read, write

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._input.close()
        # What it still says is read, so that it can end; nobody waits for it.
        await asyncio.wait([self._reading], timeout=FAREWELL)
        await self._undoing.aclose()

    async def _follow(self, source: IO[bytes], undoing: AsyncExitStack) -> None:
        reader = asyncio.StreamReader(CHUNK)
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), source
        )
        undoing.callback(pipe.close)

        async def follow() -> None:
            while chunk := await reader.read(CHUNK):
                self._log.write(chunk)
                await asyncio.sleep(0)

        undoing.push_async_callback(_cancel, asyncio.create_task(follow()))

    async def _read(self) -> None:
        try:
            async for chunk in self.process.output():
                for line in self._lines.feed(chunk):
                    await self._take(line)
                    if self.why:
                        return
                await asyncio.sleep(0)  # a flood leaves others their turn
        finally:
            self.ended.set()
            self._in.close()

    async def _take(self, line: bytes | None) -> None:
        if line is None:
            self._drop(LARGE)
            await self._fail(TOO_LONG)
        elif line.lstrip()[:1] == b"{":
            try:
                if len(line) > LARGE:
                    await self._pass(await asyncio.to_thread(decode, line, self._keep))
                else:
                    await self._pass(decode(line, self._keep))
            except Unreadable as problem:
                self._drop(len(line))
                await self._fail(str(problem))
        else:
            self._drop(len(line))
            self._log.write(line + b"\n")

    def _keep(self, line: bytes) -> str:
        """Save a whole message; its path, or why there is none. Blocking."""
        try:
            return str(keep(self._log.path.parent.parent, self._log.path.stem, line))
        except OSError as error:
            return f"no file: {error.strerror}"

    def _drop(self, size: int) -> None:
        self._noise += size
        if self._noise > MOST_NOISE:
            self.why = "it was stopped: it flooded its output with text that is not a message"

    async def _pass(self, message: dict[str, Any]) -> None:
        """Hand a message to the SDK. Raises `Unreadable`."""
        from mcp_types import jsonrpc_message_adapter
        from pydantic import ValidationError

        self.heard = True
        method, result = message.get("method"), message.get("result")
        if method is not None and not self._allowance.take(asyncio.get_running_loop().time()):
            self.why = FLOODS
            return
        if "id" not in message and method not in PASSED:
            return
        if method is None and self._asked.pop(str(message.get("id")), None) is None:
            return  # nobody waits for it any more
        if isinstance(result, dict) and (problem := sift(result)):
            await self._answer(message.get("id"), problem)
            return
        try:
            checked = jsonrpc_message_adapter.validate_python(message)
        except ValidationError as error:
            raise Unreadable("a message that breaks the protocol") from error
        await self._send(checked)

    async def _fail(self, sent: str) -> None:
        """Fail all open requests: their answers may be lost."""
        asked, self._asked = self._asked, {}
        for number in asked.values():
            await self._answer(number, sent)

    async def _answer(self, number: Any, sent: str) -> None:
        await self._refuse(number, PARSE_ERROR, f"it sent {sent}")

    async def _refuse(self, number: Any, code: int, why: str) -> None:
        from mcp_types import ErrorData, JSONRPCError

        await self._send(
            JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=why))
        )

    async def _send(self, message: Any) -> None:
        import anyio
        from mcp.shared.message import SessionMessage

        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._in.send(SessionMessage(message))

    async def _write(self, out: Any) -> None:
        from mcp_types import JSONRPCRequest

        async with AsyncExitStack() as undoing:
            undoing.callback(out.close)
            async for sent in out:
                message = sent.message
                if isinstance(message, JSONRPCRequest):
                    self._asked[str(message.id)] = message.id
                    if message.method == "server/discover":
                        probe = asyncio.create_task(self._give_up_on(message.id))
                        undoing.push_async_callback(_cancel, probe)
                line = message.model_dump_json(by_alias=True, exclude_unset=True)
                with suppress(OSError):  # it has ended, which the reader notices
                    self._input.write(line.encode() + b"\n")
                    await self._input.drain()

    async def _give_up_on(self, probe: int | str) -> None:
        await asyncio.sleep(self._startup * PROBE_SHARE)
        if self._asked.pop(str(probe), None) is not None:
            await self._refuse(probe, METHOD_NOT_FOUND, "no answer")


def _pipe() -> tuple[IO[bytes], IO[bytes]]:
    source, target = os.pipe()
    return os.fdopen(source, "rb", 0), os.fdopen(target, "wb", 0)


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])


async def _writer(target: IO[bytes]) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    pipe, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, target)
    return asyncio.StreamWriter(pipe, protocol, None, loop)
