"""The card that says that a compaction waits for the user's word."""

import asyncio

from textual.widgets import Static


class ReviewCard(Static):
    """Stands above the prompt, and takes no key: what is typed goes on into the prompt.

    `wanted` tells whether the user wants the preview.
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
