"""Has a model write a text: requests beside the turns, with or without a session."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeVar

from pinfold.agent.requests.retry import insist
from pinfold.ports.clock import Clock
from pinfold.ports.errors import ContextOverflow, MalformedStream, ProviderError, RequestRejected
from pinfold.ports.provider import (
    Compacted,
    ModelInfo,
    PartDone,
    Progress,
    Provider,
    Request,
    ResponseDone,
    TextDelta,
)
from pinfold.rollout.context import Context
from pinfold.rollout.items import Item
from pinfold.rollout.values import Usage
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, count_item
from pinfold.tokens.prices import Price, cost

RETRIES = 2
"""What asks for a text has something to fall back on: it does not insist."""
LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is not waited for."""
ENVELOPE = 64
"""Tokens that a chat template may put around instructions and text."""
LEAST_ANSWER = 256
"""Tokens that an answer may have, however full the window."""

Answer = TypeVar("Answer")
Step = Callable[[str, float], None]
"""Told where the work stands: a name, and a share in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote."""

    text: str
    usage: Usage
    stop: Literal["stop", "tool_calls", "length"] = "stop"
    """`length`: it was cut off."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one request ended, for a journal."""

    number: int
    """From 1."""
    status: str
    """`ok`, `interrupted` or the name of the error."""
    error: str
    usage: Usage | None
    seconds: float
    estimate: int
    """Input tokens as counted here, not calibrated."""


Journal = Callable[[Attempt], Awaitable[None]]


def _with_instruction(items: Sequence[Item], instruction: str) -> tuple[Item, ...]:
    return (*items, Item(n=0, kind="user", content=instruction))


def _untold(*_: object) -> None:
    """Report no progress."""


def _uncalibrated() -> float:
    return 1.0


class Writer:
    """A `Summarizer` over one model. Several requests may be under way at once.

    `context` tells what is before the window and `effort` how hard the model thinks where it
    is that of a session. `headers` go with each request, `journal` hears how each ended, those
    that are sent again included. `left` tells the tokens that may still be used, `rate` how the
    server's counts compare with `counter`'s.
    """

    def __init__(
        self,
        provider: Provider,
        model: ModelInfo,
        counter: Counter,
        clock: Clock,
        *,
        context: Callable[[], Context] | None = None,
        effort: str | None = None,
        headers: Mapping[str, str] | None = None,
        cache_key: str = "",
        journal: Journal | None = None,
        price: Price | None = None,
        rate: Callable[[], float] = _uncalibrated,
        left: Callable[[], int] | None = None,
        told: Step = _untold,
    ) -> None:
        self._provider = provider
        self._model = model
        self._counter = counter
        self._clock = clock
        self._context = context
        self._effort = effort
        self._headers = headers or {}
        self._cache_key = cache_key
        self._journal = journal
        self._price = price
        self._rate = rate
        self._left = left
        self._told = told
        self._rng = Random()  # noqa: S311  jitter
        self._step, self._share = "", 0.0
        self._is_down = False
        self._running = 0
        self.spent = Usage()
        """Tokens of all its requests."""

    @property
    def model(self) -> ModelInfo:
        return self._model

    @property
    def name(self) -> str:
        """As a user names it."""
        return f"{self._model.provider}/{self._model.name}"

    @property
    def is_busy(self) -> bool:
        """Whether a request is under way, or waits to be sent again."""
        return self._running > 0

    def cost(self, usage: Usage) -> float | None:
        """US dollars, where the price is known."""
        return None if self._price is None else cost(usage, self._price)

    def room(self, max_tokens: int) -> int:
        model = self._model
        return max(0, model.context_window - min(max_tokens, model.max_output) - ENVELOPE)

    def count(self, text: str) -> int:
        return self._calibrated(self._counter.count(text))

    def step(self, name: str, done: float) -> None:
        self._step, self._share = name, done
        self._told(name, done)

    async def __call__(
        self,
        instructions: str,
        text: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        context = Context(instructions=instructions)
        return (await self.write(context, (), text, max_tokens, schema=schema)).text

    async def write(
        self,
        context: Context,
        items: Sequence[Item],
        instruction: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Written:
        """What the model answers to `instruction` behind `items`; calls of tools are dropped.

        With `schema` it is JSON that obeys it where the server can do that. Raises
        `ContextOverflow`, also unsent where more is counted than the window has, and
        `ProviderError`.
        """
        return await self._write(
            context, _with_instruction(items, instruction), max_tokens, schema=schema
        )

    def conversation_room(self, items: Sequence[Item], instruction: str) -> int:
        if self._context is None:
            return 0
        taken = self._calibrated(
            self._estimate(self._context(), _with_instruction(items, instruction))
        )
        return min(self._model.max_output, max(0, self.room(0) - taken))

    async def in_conversation(
        self, items: Sequence[Item], instruction: str, max_tokens: int
    ) -> str:
        assert self._context is not None, "only the session's own model has the conversation"
        # A schema would be before all else, and the cache would be lost.
        asked = _with_instruction(items, instruction)
        return (await self._write(self._context(), asked, max_tokens, live=True)).text

    async def _write(
        self,
        context: Context,
        asked: Sequence[Item],
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
        live: bool = False,
    ) -> Written:
        model = self._model
        estimate = self._estimate(context, asked)
        taken = self._calibrated(estimate)
        if taken > model.context_window:
            raise ContextOverflow(
                f"The request has {taken:,} tokens; the window of {self.name} has "
                f"{model.context_window:,}.",
                limit=model.context_window,
                tokens=taken,
            )
        room = max(LEAST_ANSWER, self.room(0) - taken)
        request = Request(
            model,
            context,
            tuple(asked),
            self._effort if live else None,
            headers=self._headers,
            cache_key=self._cache_key if live else "",
            schema=schema,
            max_output=min(max_tokens, model.max_output, room),
            text_only=live,
        )

        async def ask() -> tuple[Written, Usage | None]:
            return await self._read(request)

        return await self._insist(ask, estimate, request.max_output or 0)

    async def compacted(self, items: Sequence[Item]) -> Compacted:
        context = self._context() if self._context else Context()
        request = Request(
            self._model, context, tuple(items), headers=self._headers, cache_key=self._cache_key
        )

        async def ask() -> tuple[Compacted, Usage | None]:
            compacted = await self._provider.compact(request)
            return compacted, compacted.usage

        return await self._insist(ask, self._estimate(context, items), 0)

    async def _insist(
        self,
        ask: Callable[[], Awaitable[tuple[Answer, Usage | None]]],
        estimate: int,
        max_output: int,
    ) -> Answer:
        """Ask, with retries; not for a server that was down the last time."""

        async def attempt(number: int) -> Answer:
            if self._left is not None and estimate + max_output > self._left():
                raise RequestRejected("The token limit for this is used up.")
            started = self._clock.monotonic()
            status, told, usage = "ok", "", None
            try:
                answer, usage = await ask()
            except ProviderError as error:
                status, told = type(error).__name__, str(error)
                raise
            except asyncio.CancelledError:
                status = "interrupted"
                raise
            finally:
                self.spent += usage or Usage()
                if self._journal is not None:
                    seconds = round(self._clock.monotonic() - started, 3)
                    await self._journal(Attempt(number, status, told, usage, seconds, estimate))
            return answer

        self._running += 1
        try:
            answer = await insist(
                attempt,
                self._clock,
                self._rng,
                retries=0 if self._is_down else RETRIES,
                longest_wait=LONGEST_WAIT,
                waiting=lambda error, *_: self._add(f"{error}; trying again"),
            )
        except ProviderError as error:
            self._is_down = error.retryable
            raise
        else:
            self._is_down = False
            return answer
        finally:
            self._running -= 1

    async def _read(self, request: Request) -> tuple[Written, Usage | None]:
        parts: list[str] = []
        streamed = 0
        done: ResponseDone | None = None
        async with aclosing(self._provider.stream(request)) as stream:
            async for delta in stream:
                match delta:
                    case TextDelta():
                        streamed += 1
                        if streamed % 50 == 0:
                            self._add(f"{streamed:,} tokens written")
                    case Progress(note=note, done=share):
                        self._add(note if share is None else f"{note} {share:.0%}")
                    case PartDone(kind="assistant", content=content):
                        parts.append(content)
                    case ResponseDone():
                        done = delta
        if done is None:
            raise MalformedStream("The reply ended without its closing event.")
        return Written("".join(parts), done.usage or Usage(), done.stop), done.usage

    def _add(self, detail: str) -> None:
        """Report progress within the step."""
        self._told(f"{self._step}, {detail}", self._share)

    def _estimate(self, context: Context, items: Sequence[Item]) -> int:
        """Input tokens of a request, not calibrated."""
        tokens = sum(context_parts(self._counter, context, "chat").values())
        return tokens + sum(count_item(self._counter, item, "chat") for item in items)

    def _calibrated(self, tokens: int) -> int:
        return round(tokens * max(1.0, self._rate()))
