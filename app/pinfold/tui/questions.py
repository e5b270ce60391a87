"""Cards above the prompt that wait for the user; what is being typed stays in the prompt."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget

    from pinfold.agent.session import Session
    from pinfold.ports.approver import Decision, Question
    from pinfold.ports.servers import TrustQuestion
    from pinfold.tui.approval.card import ApprovalCard
    from pinfold.tui.approval.trust import TrustCard
    from pinfold.tui.prompt.box import PromptBox
    from pinfold.tui.review import ReviewCard
    from pinfold.tui.server_cards import ServerCards

QUIET = 0.6
"""Seconds without typing after which a question about a call takes the keys."""


class Questions:
    def __init__(
        self,
        prompt: PromptBox,
        monotonic: Callable[[], float],
        key: Callable[[str], str],
        *,
        seen: float,
        pause: float,
        back: Callable[[], Widget],
    ) -> None:
        """`key` names the key of an action; `seen` are the seconds for which a question is on the
        screen before it takes the keys, `pause` those after a letter in which another key turns it
        into a message; `back` gets the keys afterwards."""
        self._back = back
        self._seen = seen
        self._pause = pause
        self._prompt = prompt
        self._monotonic = monotonic
        self._key = key
        self._last_typed = -QUIET
        self._review: ReviewCard | None = None
        self.card: Widget | None = None
        """The one that can have the keys."""
        self._one = asyncio.Lock()
        """One card at a time."""
        self._trusting: TrustCard | None = None
        """The one about a server, while it is shown: it gives way to a call that waits."""
        self._gave_way = False
        self._calls = 0
        """That wait for their card."""
        self._servers: ServerCards | None = None

    def attach(self, session: Session) -> None:
        """Ask what the servers of `session` need to know."""
        if self._servers is not None:
            self._servers.close()
            self._servers = None
        if session.servers is not None:
            from pinfold.tui.server_cards import ServerCards

            self._servers = ServerCards(session, session.servers, self.trust)

    def typed(self) -> None:
        self._last_typed = self._monotonic()

    async def approve(self, question: Question) -> Decision:
        """Ask about a call."""
        from pinfold.tui.approval.card import ApprovalCard
        from pinfold.tui.approval.choices import ChoiceCard

        kind = ChoiceCard if question.choices else ApprovalCard
        if self._trusting is not None:
            self._gave_way = True
            self._trusting.action_later()
        self._calls += 1
        try:
            await self._one.acquire()
        finally:
            self._calls -= 1
        try:
            return await self._decision(kind(question, self._key, self._back(), self._pause))
        finally:
            self._one.release()

    async def trust(self, question: TrustQuestion, made: Callable[[TrustCard], None]) -> Decision:
        """Ask about a server; `made` gets the card once it is there."""
        from pinfold.tui.approval.trust import TrustCard

        while True:
            async with self._one:
                if self._calls:
                    continue
                self._trusting = card = TrustCard(question, self._key, self._back(), self._pause)
                self._gave_way = False
                made(card)
                try:
                    decision = await self._decision(card)
                finally:
                    self._trusting = None
                if not self._gave_way:
                    return decision

    async def _decision(self, card: ApprovalCard) -> Decision:
        await self._mount(card)
        card.watch(card.screen, "focused", lambda: self._prompt.wait_for(card.how))
        self.card = card
        shown_at = self._monotonic()
        self._offer_focus(card, shown_at)
        waiting = self._prompt.set_interval(QUIET / 4, lambda: self._offer_focus(card, shown_at))
        try:
            return await card.decided
        finally:
            self.card = None
            waiting.stop()
            await card.remove()
            self._prompt.wait_for("")
            self._back().focus()

    def _offer_focus(self, card: Widget, shown_at: float) -> None:
        """Let keys answer, but never those that were meant for the prompt."""
        editor, now = self._prompt.editor, self._monotonic()
        quiet = now - self._last_typed >= QUIET and now - shown_at >= self._seen
        if editor.screen.focused is editor and not editor.text and quiet:
            card.focus()

    async def offer_preview(self, why: str, leaves: str) -> bool:
        """Whether the user wants to see a compaction that is due; `why` says why it is, and
        `leaves` what Esc does.

        It has its own key: what is being typed must not answer it.
        """
        from pinfold.tui.review import ReviewCard

        card = ReviewCard(
            why,
            f"{self._key('switch_focus')} opens the preview · {self._key('interrupt')} {leaves}",
        )
        await self._mount(card)
        self._review = card
        try:
            return await card.wanted
        finally:
            self._review = None
            await card.remove()

    def review(self, *, wanted: bool) -> bool:
        """Answer whether the preview is wanted; whether that was asked."""
        if self._review is not None:
            self._review.answer(wanted=wanted)
        return self._review is not None

    async def _mount(self, card: Widget) -> None:
        await self._prompt.screen.mount(card, before=self._prompt)
