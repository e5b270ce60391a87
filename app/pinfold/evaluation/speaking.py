"""A model that writes, answers and grades for an evaluation; nothing is journalled."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, cast

from pinfold.ports import (
    Clock,
    Compacted,
    Delta,
    MalformedStream,
    ModelInfo,
    PartDone,
    Provider,
    ProviderError,
    Request,
    ResponseDone,
)
from pinfold.rollout.events import Context, Usage
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import count_item
from pinfold.tokens.prices import Price, cost

RETRIES = 2
LONGEST_WAIT = 60.0
"""Seconds."""
ENVELOPE = 64
"""Tokens that a chat template may put around instructions and text."""
LEAST_ANSWER = 256
"""Tokens that an answer may have, however full the window."""

Answer = TypeVar("Answer")


class Speaker:
    """A `ports.Summarizer` over a provider, which can be asked about a window too."""

    def __init__(
        self,
        provider: Provider,
        model: ModelInfo,
        counter: Counter,
        clock: Clock,
        price: Price | None = None,
    ) -> None:
        self._provider = provider
        self._model = model
        self._counter = counter
        self._clock = clock
        self._price = price
        self._is_down = False
        self.is_busy = False
        """Whether a request is under way, or waits to be sent again."""
        self.spent = Usage()
        """Tokens of all its requests."""

    @property
    def model(self) -> ModelInfo:
        return self._model

    @property
    def name(self) -> str:
        """As a user names it."""
        return f"{self._model.provider}/{self._model.name}"

    def cost(self, usage: Usage) -> float | None:
        """US dollars, where the price is known."""
        return None if self._price is None else cost(usage, self._price)

    def room(self, max_tokens: int) -> int:
        model = self._model
        return max(0, model.context_window - min(max_tokens, model.max_output) - ENVELOPE)

    def count(self, text: str) -> int:
        return self._counter.count(text)

    async def __call__(
        self,
        instructions: str,
        text: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        """Raises `ProviderError`."""
        return await self.answer(instructions, (), text, max_tokens, schema=schema)

    async def answer(
        self,
        instructions: str,
        items: Sequence[Item],
        question: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        """What the model says to a question behind a window. Raises `ProviderError`."""
        asked = (*items, Item(n=0, kind="user", content=question))
        taken = self.count(instructions) + sum(self._tokens(item) for item in asked)
        left = max(LEAST_ANSWER, self.room(0) - taken)
        request = Request(
            self._model,
            Context(instructions=instructions),
            asked,
            schema=schema,
            max_output=min(max_tokens, self._model.max_output, left),
        )
        return await self._insist(lambda: self._read(request))

    async def compacted(self, items: Sequence[Item]) -> Compacted:
        request = Request(self._model, Context(), tuple(items))

        async def ask() -> Compacted:
            made = await self._provider.compact(request)
            self._spend(made.usage)
            return made

        return await self._insist(ask)

    def step(self, name: str, done: float) -> None:
        """Nobody watches."""

    async def _insist(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Ask, and again where that can help; one that is down is not waited for each time."""
        attempt = 0
        self.is_busy = True
        try:
            while True:
                try:
                    answer = await ask()
                except ProviderError as error:
                    wait = 2.0**attempt if error.retry_after is None else error.retry_after
                    is_last = self._is_down or attempt == RETRIES
                    if not error.retryable or is_last or wait > LONGEST_WAIT:
                        self._is_down = error.retryable
                        raise
                    await self._clock.sleep(wait)
                    attempt += 1
                else:
                    self._is_down = False
                    return answer
        finally:
            self.is_busy = False

    async def _read(self, request: Request) -> str:
        parts: list[str] = []
        done: ResponseDone | None = None
        # Providers are async generators: closing one at once closes its connection.
        stream = cast("AsyncGenerator[Delta, None]", self._provider.stream(request))
        async with aclosing(stream):
            async for delta in stream:
                if isinstance(delta, PartDone) and delta.kind == "assistant":
                    parts.append(delta.content)
                elif isinstance(delta, ResponseDone):
                    done = delta
        if done is None:
            raise MalformedStream("The reply ended without its closing event.")
        self._spend(done.usage)
        return "".join(parts)

    def _tokens(self, item: Item) -> int:
        return count_item(self._counter, item, "chat")

    def _spend(self, usage: Usage | None) -> None:
        if usage is not None:
            self.spent = sum_of(self.spent, usage)


def sum_of(one: Usage, other: Usage, less: Usage | None = None) -> Usage:
    """Both together, without `less`."""
    less = less or Usage()
    return Usage(
        input=one.input + other.input - less.input,
        cached=one.cached + other.cached - less.cached,
        output=one.output + other.output - less.output,
    )
