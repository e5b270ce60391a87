"""Asks the provider to count the window, if it can and no report has."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.updates import Appended, PhaseChanged, Update
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import Request
from pinfold.rollout.events import (
    ItemsMarked,
    ModelChanged,
    PinsChanged,
    WindowCounted,
    WindowReplaced,
)
from pinfold.rollout.journal import JournalError


class ServerCount:
    """Asks between turns, after changes that made the last report outdated."""

    def __init__(self, record: Record, connection: Callable[[], Connection]) -> None:
        self._record = record
        self._connection = connection
        self._asking: asyncio.Task[None] | None = None
        record.subscribe(self._hear)

    def _hear(self, update: Update) -> None:
        match update:
            case PhaseChanged(phase="requesting"):
                self.stop()  # the request's own report comes soon
            case Appended(event=event):
                match event.data:
                    case ItemsMarked() | WindowReplaced() | ModelChanged():
                        self.ask()
                    case PinsChanged(items=items) if items:
                        self.ask()

    def ask(self) -> None:
        """Start asking, if there is something to count and no turn runs."""
        self.stop()
        record = self._record
        if record.phase == "idle" and record.window.shown and not record.journal.read_only:
            self._asking = asyncio.create_task(self._ask())

    def stop(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def _ask(self) -> None:
        record, connection = self._record, self._connection()
        if record.window.open_calls:
            return
        model, through, estimate = connection.model, record.state.seq, record.gauge.estimate
        request = Request(model, record.state.context.context, record.window.items)
        with suppress(ProviderError, JournalError):  # then the estimate stands
            tokens = await connection.provider.count(request)
            if tokens:
                counted = WindowCounted(
                    provider=model.provider,
                    model=model.name,
                    through_seq=through,
                    estimate=estimate,
                    tokens=tokens,
                )
                # Asked when it is written: what was being written before may have come meanwhile.
                await record.add(lambda _: [counted] if record.state.seq == through else [])
