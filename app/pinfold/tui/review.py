"""The card that says that a compaction waits for the user."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.widgets import Static

from pinfold.numbers import tokens
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.agent.compaction.trigger import CompactionTrigger
    from pinfold.agent.session import Session


def why_now(session: Session, trigger: CompactionTrigger) -> str:
    """Why the window is to be compacted, in a sentence."""
    reading = session.reading()
    used, limit = tokens(reading.used), tokens(reading.limit)
    match trigger.cause:
        case "model":
            return f"It does not fit {one_line(session.model.name)}: {used} of {limit} tokens."
        case "overflow":
            return f"The provider says it is too long: {used} of {limit} tokens."
        case _:
            return f"It has passed its threshold: {used} of {limit} tokens."


class ReviewCard(Static):
    """Shown above the prompt; takes no key: what is typed continues into the prompt.

    `wanted` is whether the user wants the preview.
    """

    DEFAULT_CSS = """
    ReviewCard {
        height: auto;
        border: round $warning;
        border-title-style: bold;
        border-title-color: $foreground;
        border-subtitle-color: $foreground 60%;
        padding: 0 1;
        background: $background;
    }
    """

    def __init__(self, why: str, keys: str) -> None:
        """`keys` says which open the preview and leave it."""
        super().__init__(why, markup=False)
        self.border_title = "Compact the window?"
        self.border_subtitle = keys
        self.wanted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def answer(self, *, wanted: bool) -> None:
        if not self.wanted.done():
            self.wanted.set_result(wanted)

    def on_click(self) -> None:
        self.answer(wanted=True)
