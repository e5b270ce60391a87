"""What servers ask of the user, as cards: one for each question, once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pinfold.agent.updates import ServerChanged, Update
from pinfold.tui.approval.trust import TrustCard

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pinfold.agent.servers.in_session import SessionServers
    from pinfold.agent.session import Session
    from pinfold.ports.approver import Decision
    from pinfold.ports.servers import TrustQuestion


class ServerCards:
    """Listens to one session until `close`."""

    def __init__(
        self,
        session: Session,
        servers: SessionServers,
        ask: Callable[[TrustQuestion, Callable[[TrustCard], None]], Awaitable[Decision]],
    ) -> None:
        """`ask` gives the card to its second argument before it is answered."""
        self._servers = servers
        self._show = ask
        self._asked: dict[str, TrustQuestion] = {}
        """The question of each server that has had its card."""
        self._cards: dict[str, TrustCard] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._unsubscribe = session.subscribe(self._hear)
        for name in servers.port.names():
            self._look(name)

    def close(self) -> None:
        self._unsubscribe()
        for card in tuple(self._cards.values()):
            card.action_later()

    def _hear(self, update: Update) -> None:
        if isinstance(update, ServerChanged):
            self._look(update.name)

    def _look(self, name: str) -> None:
        question = self._servers.port.state(name).question
        card = self._cards.get(name)
        if card is not None and card.asked != question:
            card.action_later()  # answered elsewhere, or about other texts by now
        if question is not None and self._asked.get(name) != question:
            self._asked[name] = question
            task = asyncio.create_task(self._ask(name, question))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _ask(self, name: str, question: TrustQuestion) -> None:
        def made(card: TrustCard) -> None:
            self._cards[name] = card  # another one each time that it is shown
            if self._servers.port.state(name).question != question:
                card.action_later()

        try:
            decision: Decision = await self._show(question, made)
        finally:
            self._cards.pop(name, None)
        now = self._servers.port.state(name).question
        if decision.verdict in ("yes", "no") and now == question:
            await self._servers.port.answer(name, yes=decision.verdict == "yes")
