"""A request while the user types, which opens the connection and fills the prompt cache."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress

from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.metadata import Metadata
from pinfold.agent.updates import Appended, PhaseChanged, Update
from pinfold.ports.clock import Clock
from pinfold.ports.provider import Request, ResponseDone
from pinfold.rollout.events import RequestFinished, TurnFinished, WindowReplaced
from pinfold.rollout.values import Usage


class Prewarm:
    """At most one request for each window; it generates nothing and is no turn."""

    def __init__(
        self,
        record: Record,
        clock: Clock,
        metadata: Metadata,
        connection: Callable[[], Connection],
        *,
        wanted: bool,
    ) -> None:
        self._record = record
        self._clock = clock
        self._metadata = metadata
        self._connection = connection
        self._due = wanted
        self._wanted = wanted
        self._task: asyncio.Task[None] | None = None
        record.subscribe(self._hear)

    def typed(self) -> None:
        """The user types."""
        record = self._record
        idle = record.phase == "idle" and not record.journal.read_only
        if self._due and idle and record.window.shown and not record.window.open_calls:
            self._due = False
            self._task = asyncio.create_task(self._warm())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _hear(self, update: Update) -> None:
        match update:
            case PhaseChanged(phase="requesting"):
                self.stop()
                self._due = False
            case Appended(event=event) if isinstance(event.data, TurnFinished | WindowReplaced):
                self._due = self._wanted

    async def _warm(self) -> None:
        record, connection = self._record, self._connection()
        model = connection.model
        started, estimate = self._clock.monotonic(), record.gauge.estimate
        through, window_id = record.state.seq, self._metadata.window_id
        request = Request(
            model,
            record.state.context.context,
            record.window.items,
            headers=self._metadata.headers("prewarm"),
            cache_key=self._metadata.cache_key,
            max_output=1,
        )
        status, usage = "ok", None
        try:
            usage = await _end_of(connection, request)
        except Exception as error:  # the turn's own request will tell
            status = type(error).__name__
        except asyncio.CancelledError:
            status = "interrupted"
        finished = RequestFinished(
            purpose="prewarm",
            provider=model.provider,
            model=model.name,
            response=0,
            through_seq=through,
            estimate=estimate,
            status=status,
            usage=usage,
            seconds=round(self._clock.monotonic() - started, 3),
            window_id=window_id,
        )
        with suppress(Exception):  # a full disk will be told by what matters
            await record.append(finished)

    async def close(self) -> None:
        """Stop, and wait until it has."""
        task = self._task
        self.stop()
        if task is not None:
            await asyncio.wait([task])


async def _end_of(connection: Connection, request: Request) -> Usage | None:
    async with aclosing(connection.provider.stream(request)) as stream:
        async for delta in stream:
            if isinstance(delta, ResponseDone):
                return delta.usage
    return None
