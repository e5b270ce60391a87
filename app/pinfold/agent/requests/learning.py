"""What refused requests teach of the model's context window."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindow, LearnedWindows, ModelPlace
from pinfold.agent.updates import Told
from pinfold.atomic_files import failure
from pinfold.compaction.budget import smallest_window
from pinfold.compaction.view import WindowView
from pinfold.ports.errors import ContextOverflow
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import WindowCounted
from pinfold.window.reading import GaugeReading
from pinfold.window.refused import Refused

SHRINK = 0.75
"""Of a request that was refused, that the window is taken for where the server names no limit."""
_BEFORE = {
    "config": "that context_window asks for",
    "server": "that the server reports",
    "table": "known for it",
    "assumed": "that were assumed",
    "learned": "learned before",
}


@dataclass(eq=False)
class Learning:
    """Narrows the connection's context window, and widens it again."""

    _record: Record
    _connection: Callable[[], Connection]
    _take: Callable[[Connection, str], Awaitable[None]]
    """Puts another connection in the place of the present one, and journals why."""
    _reading: Callable[[], GaugeReading]
    _view: Callable[[], Awaitable[WindowView]]
    _windows: LearnedWindows
    _accepted: dict[ModelPlace, int] = field(default_factory=dict, init=False)
    """Tokens of the largest request that each model has taken, as far as that still holds."""

    async def refused(self, error: ContextOverflow) -> bool:
        """Learn from the request that was just refused; whether anything new was learned.

        Raises `JournalError`.
        """
        if not error.of_window:
            return False
        connection = self._connection()
        model = connection.model
        counted = await self._count(error, model)
        sent = error.tokens or self._reading().used
        accepted = self._accepted.get(connection.place, 0)
        if sent <= accepted:
            accepted = self._accepted[connection.place] = 0
        least = max(smallest_window(await self._view()), accepted)
        window = taught(model.context_window, sent, error.limit, least)
        if window is None:
            return counted
        self._record.tell(
            Told(
                _learned_text(model, window, sent, told=error.limit is not None),
                "warning",
                hint="/context shows it and can forget it",
            )
        )
        connection = connection.learned(window)
        await self._take(connection, f"a request of {sent:,} tokens was refused")
        learned = LearnedWindow(connection.place, window, connection.reported)
        await self._keep(lambda: self._windows.keep(learned))
        return True

    async def _count(self, error: ContextOverflow, model: ModelInfo) -> bool:
        """Journal the server's own count for the gauge; whether it told one."""
        record, used, limit = self._record, self._reading().used, error.limit
        tokens = error.tokens
        if tokens is None and limit is not None and limit // 2 < used <= limit:
            tokens = limit + 1  # at least that, or it would have fitted
        if tokens is None or tokens == used:
            return False
        await record.append(
            WindowCounted(
                provider=model.provider,
                model=model.name,
                through_seq=record.state.seq,
                estimate=record.gauge.estimate,
                tokens=tokens,
            )
        )
        return True

    async def accepted(self, tokens: int) -> None:
        """A request of so many tokens succeeded. Raises `JournalError`."""
        connection = self._connection()
        place = connection.place
        self._accepted[place] = max(self._accepted.get(place, 0), tokens)
        if connection.unlearned is not None and tokens > connection.model.context_window:
            await self._forget(f"a request of {tokens:,} tokens succeeded")

    async def forget(self) -> str:
        """Forget what was learned, as the user asks; what holds now, in a sentence.

        Raises `Refused`, `JournalError`.
        """
        model = self._connection().model
        if self._connection().unlearned is None:
            raise Refused(f"The window of {model.context_window:,} tokens was not learned.")
        self._record.check_writable()
        return await self._forget("you forgot what was learned")

    async def _forget(self, why: str) -> str:
        old = self._connection()
        new = old.forgotten()
        await self._take(new, why)
        await self._keep(lambda: self._windows.forget(old.place))
        said = (
            f"The learned window of {old.model.context_window:,} tokens is forgotten: "
            f"{new.model.context_window:,} from now on ({new.model.window_source})."
        )
        self._record.tell(Told(said))
        return said

    async def _keep(self, write: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(write)
        except OSError as error:
            self._record.warn(
                f"Later sessions will not know this. {failure(self._windows.path, error)}"
            )


def taught(window: int, sent: int, limit: int | None, least: int) -> int | None:
    """The context window, where `window` was thought to be it and a request of `sent` tokens was
    refused; none where that is no news.

    `limit` is what the server says that it takes. Where it says nothing, the window is taken for
    smaller than the request, but where it can be for no smaller than `least`.
    """
    if limit is not None:
        return limit if limit < window else None
    if sent > window:
        return None
    shrunk = int(SHRINK * sent)
    return max(shrunk, least) if least < sent else shrunk


def _learned_text(old: ModelInfo, window: int, sent: int, *, told: bool) -> str:
    before = f"the {old.context_window:,} tokens {_BEFORE[old.window_source]}"
    if told:
        return f"The server takes {window:,} tokens, not {before}: planning with that from now on."
    return (
        f"The server refused {sent:,} tokens without saying how many it takes: planning with "
        f"{window:,} from now on, not with {before}."
    )
