"""The scripted model: it works with tools, counts in its own way, and fails as servers do."""

import asyncio
import json
from collections import Counter as Tally
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from random import Random

from tests.fakes.summaries import answer

from pinfold.ports.errors import (
    AuthenticationFailed,
    ConnectTimedOut,
    ContentRefused,
    ContextOverflow,
    FirstByteTimedOut,
    IdleTimedOut,
    MalformedStream,
    NetworkError,
    Overloaded,
    ProviderError,
    RateLimited,
    RequestRejected,
)
from pinfold.ports.provider import (
    CallDelta,
    Compacted,
    Delta,
    PartDone,
    ReasoningDelta,
    Request,
    ResponseDone,
    TextDelta,
)
from pinfold.rollout.values import Usage
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, count_item

Call = tuple[str, str]
"""A tool's name and its arguments."""

FILES = [f"src/part_{n}.py" for n in range(8)]
SMALL, MIDDLE, LARGE, HUGE = (1, 40), (40, 150), (150, 500), (700, 2_000)
"""Lines that a tool prints; some 10 tokens each, and the window takes 8,192."""
FAULTS: dict[str, int] = {
    "none": 160,
    "429": 8,
    "overloaded": 2,
    "no connection": 2,
    "no answer": 2,
    "dropped stream": 6,
    "silent stream": 2,
    "unfinished stream": 4,
    "malformed stream": 4,
    "overflow": 4,
    "cut reply": 2,
    "empty reply": 1,
    "refused": 1,
    "signed out": 1,
    "outage": 1,
}
"""What becomes of a request, of two hundred."""
OUTAGE = 9
"""Requests that fail from one on that begins an outage: more than are tried again."""
FATAL = {"overflow", "refused", "signed out", "outage"}
"""What may end a turn."""
BROKEN: dict[str, tuple[type[ProviderError], str]] = {
    "dropped stream": (NetworkError, "The connection broke."),
    "silent stream": (IdleTimedOut, "The stream went silent."),
    "malformed stream": (MalformedStream, "The server sent what is no event."),
}
"""What ends a stream in its midst."""


class Model:
    """A `ports.Provider`. All that it does follows from its seed and the requests."""

    name = "scripted"

    def __init__(self, rng: Random, counter: Counter) -> None:
        self.looks: Callable[[Request], None]
        """Is shown every request of a turn."""
        self.meanwhile: Callable[[], Awaitable[None]]
        """What happens elsewhere while a reply streams."""
        self.tally: Tally[str] = Tally()
        """Requests by what became of them."""
        self.fatal = False
        """Whether a fault since this was last set ends its turn."""
        self._rng = rng
        self._counter = counter
        self._steps = 0
        """Responses with calls that this turn still has."""
        self._calls = 0
        self._outage = 0
        """Requests that the outage under way still fails."""

    def begin(self) -> None:
        """A turn begins."""
        self._steps, self.fatal = self._rng.choice([0, 1, 1, 2, 3]), False

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        tokens = self.size(request)
        summarising = request.max_output is not None
        self.tally["requests"] += 1
        if not summarising:
            self.looks(request)
        if tokens > request.model.context_window:
            self.tally["too large"] += 1
            limit = request.model.context_window
            raise ContextOverflow("This model's maximum context length is exceeded.", limit=limit)
        fault = self._rng.choices(list(FAULTS), list(FAULTS.values()))[0]
        if fault == "outage":
            self._outage = OUTAGE
        if self._outage:
            self._outage, fault = self._outage - 1, "outage"
        self.tally[fault] += 1
        await self.meanwhile()
        if error := _refusal(fault):
            self.fatal = self.fatal or (not summarising and fault in FATAL)
            raise error
        if fault == "empty reply":
            yield ResponseDone(Usage(input=tokens), "stop")
            return
        deltas = self._summary(request) if summarising else self._work(request)
        for at, delta in enumerate(deltas):
            if at and fault in BROKEN:
                error_type, message = BROKEN[fault]
                raise error_type(message)
            if isinstance(delta, ResponseDone):
                if fault == "unfinished stream":
                    return
                stop = "length" if fault == "cut reply" and delta.stop == "stop" else delta.stop
                yield ResponseDone(Usage(input=tokens, cached=tokens // 2, output=40), stop)
            else:
                yield delta
            await asyncio.sleep(0)

    def size(self, request: Request) -> int:
        """Tokens of a request: this server adds words of its own, and a tenth."""
        tokens = sum(context_parts(self._counter, request.context, "chat").values())
        tokens += sum(count_item(self._counter, item, "chat") for item in request.items)
        return 50 + tokens * 11 // 10

    def _summary(self, request: Request) -> Iterator[Delta]:
        if self._rng.random() < 0.2:
            text = "I am not able to do that."  # and that is no JSON
        else:
            text = answer() if request.schema else "The parts are linked one by one."
        yield TextDelta(text)
        yield PartDone("assistant", text)
        yield ResponseDone(None, "stop")

    def _work(self, request: Request) -> Iterator[Delta]:
        rng = self._rng
        if rng.random() < 0.3:
            yield ReasoningDelta("Which part is next?")
            thought = "Which part is next? " * rng.randint(1, 20)
            yield PartDone("reasoning", thought, opaque={"field": "reasoning_content"})
        text = "So it goes. " * rng.randint(1, 60)
        yield TextDelta(text)
        yield PartDone("assistant", text)
        if not self._steps:
            yield ResponseDone(None, "stop")
            return
        self._steps -= 1
        for index in range(rng.choice([1, 1, 2, 3])):
            name, arguments = self._call(request)
            self._calls += 1
            yield CallDelta(index, name, arguments)
            yield PartDone("tool_call", arguments, f"call_{self._calls}", name)
        yield ResponseDone(None, "tool_calls")

    def _call(self, request: Request) -> Call:
        rng = self._rng
        path = rng.choice(FILES)
        sizes = rng.choices([SMALL, MIDDLE, LARGE, HUGE], [60, 25, 11, 4])[0]
        write = {"path": path, "content": "x = 1\n" * rng.randint(1, 60)}
        change = {"path": path, "old_string": "x = 1", "new_string": "x = 2"}
        fact = {
            "kind": "fact",
            "key": f"part-{rng.randint(1, 9)}",
            "value": "linked",
            "evidence": {"source": "user", "ref": f"#{request.items[-1].n}"},
        }
        made: list[tuple[int, str, object]] = [
            (40, "dump", {"part": self._calls, "lines": rng.randint(*sizes)}),
            (16, "read_file", {"path": path}),
            (10, "write_file", write),
            (4, "edit_file", change),
            (8, "recall", {"id": rng.randint(1, max(item.n for item in request.items))}),
            (4, "recall", {"query": "linked part"}),
            (4, "memory_apply", fact),
            (5, "broken", {"how": rng.randint(0, 9)}),
            (1, "hang", {}),
            (2, "shell", {"command": rng.choice(["seq 30", "ls src", "exit 3", "seq 9 >&2"])}),
            (2, "no_such_tool", {}),
        ]
        _, name, arguments = rng.choices(made, [weight for weight, _, _ in made])[0]
        written = json.dumps(arguments)
        return name, written[: len(written) // 2] if rng.random() < 0.04 else written

    async def count(self, request: Request) -> int | None:
        return self.size(request) if len(request.items) % 2 else None

    async def compact(self, request: Request) -> Compacted:
        if self._rng.random() < 0.3:
            raise RequestRejected("There is no compaction endpoint.")
        kept = {"type": "compaction", "encrypted_content": "x" * 400}
        return Compacted(kept, Usage(input=self.size(request), output=100))

    async def warm(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to close."""


def _refusal(fault: str) -> ProviderError | None:
    match fault:
        case "429":
            return RateLimited("Too many requests.", status=429, retry_after=2)
        case "overloaded" | "outage":
            return Overloaded("The server is overloaded.", status=503)
        case "no connection":
            return ConnectTimedOut("There is no connection.")
        case "no answer":
            return FirstByteTimedOut("The server does not answer.")
        case "signed out":
            return AuthenticationFailed("The key is not accepted.", status=401)
        case "overflow":
            return ContextOverflow("These are more tokens than a minute allows.", of_window=False)
        case "refused":
            return ContentRefused("The provider's filter refused the request.")
        case _:
            return None
