"""The transcript: the whole conversation as one widget that draws only the lines in view."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.timer import Timer

from pinfold.tui.transcript.column import Block
from pinfold.tui.transcript.reader import Reader
from pinfold.tui.transcript.search import Match, Needle
from pinfold.tui.transcript.standing import Standings

if TYPE_CHECKING:
    from pinfold.agent.children.status import ChildStatus
    from pinfold.ports.provider import Delta
    from pinfold.rollout.items import Item
    from pinfold.tui.transcript.conversation import Agents
    from pinfold.window.window import Boundary

FRAME = 1 / 15
"""Seconds between two paints of what streams in."""
PAUSE = 0.005
"""Seconds for all else between two pieces of the past."""


class Transcript(Reader):
    """Items from the first to the last, with what streams in below them."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-color: $foreground 20%;
        scrollbar-color-hover: $foreground 35%;
        scrollbar-color-active: $foreground 50%;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._dirty: dict[Block, None] = {}
        self._frame: Timer | None = None
        self._digging: Timer | None = None
        self._opened: Block | None = None
        """What was opened to show a match; it is closed when the search continues."""

    # What is shown

    async def warm(self) -> None:
        """Make ready, beside the event loop, what takes long the first time."""

        def warm() -> None:
            from pinfold.tui.transcript import code, conversation, markdown  # noqa: F401

            markdown.warm()
            code.warm()

        await asyncio.to_thread(warm)

    def load(
        self,
        items: Iterable[Item],
        window: Standings | None = None,
        agents: Agents | None = None,
    ) -> None:
        """Show these items instead of all that is shown; `window` says how they are in it,
        `agents` gives the status of agents."""
        self._stop_frame()
        self._dirty.clear()
        self.end_find()
        self._column.window = window
        self._conversation.agents = agents
        self._conversation.load(items, window.boundaries if window else ())
        self._move_cursor(None)
        self._follow = True
        self._arrange()
        self.refresh()
        self._dig_later()

    def _dig_later(self) -> None:
        """Put up the rest of the past piece by piece, above what is in view."""
        if not self._conversation.past:
            return
        if not self.is_attached:
            self._conversation.unearth_all()
        elif self._digging is None:
            self._digging = self.set_timer(PAUSE, self._load_earlier)

    def _load_earlier(self) -> None:
        self._digging = None
        self._change(self._conversation.unearth)
        self._dig_later()

    def append(self, item: Item) -> None:
        """Show an item that is in the journal, in place of what was streamed of it."""
        self.flush()
        gutter = self._column.gutter
        self._change(lambda: self._conversation.append(item))
        if (block := self._conversation.find(item.n)) is not None:
            self._search.add(block)
        if self._column.gutter != gutter:
            self.refresh()

    def stream(self, delta: Delta) -> None:
        """Take a piece of the response under way; it is painted with the next frame."""
        if block := self._conversation.stream(delta):
            self._mark_dirty(block)

    def drop_stream(self) -> None:
        """What was streamed since the last item is void."""
        self._stop_frame()
        self._dirty.clear()
        self._change(self._conversation.drop_stream)

    def tool_started(self, call_id: str, name: str, title: str) -> None:
        """A call runs."""
        self._change(lambda: self._conversation.tool_started(call_id, name, title))

    def tool_output(self, call_id: str, text: str) -> None:
        """Take live output of a running call; it is painted with the next frame."""
        if block := self._conversation.tool_output(call_id, text):
            self._mark_dirty(block)

    def agents_changed(self, agents: Iterable[ChildStatus]) -> None:
        """These agents work, or have ended."""
        self._change(lambda: [self._conversation.agent_changed(agent) for agent in agents])

    def replace_window(self, boundary: Boundary, inserted: Iterable[Item]) -> None:
        """The window ended, and the next one begins with what was `inserted`."""
        self.flush()
        self._change(lambda: self._conversation.divide(boundary))
        for item in inserted:
            self.append(item)
        self.refresh_marks()

    def refresh_marks(self) -> None:
        """Show how items are in the window now."""
        column, top = self._column, self.scroll_offset.y
        changed = set(column.mark())
        for i in column.between(top, top + self.size.height):
            if column.blocks[i] in changed:
                self._refresh_rows(column.top(i), column.top(i + 1))

    def note(self, text: str, level: str = "info") -> None:
        """Show a message of the shell: `info`, `warning` or `error`."""
        self._change(lambda: self._conversation.note(text, level))

    def flush(self) -> None:
        """Paint what has come since the last frame."""
        self._stop_frame()
        if self._dirty:
            blocks, self._dirty = list(self._dirty), {}
            self._change(lambda: blocks)

    def _mark_dirty(self, block: Block) -> None:
        self._dirty[block] = None
        if self._frame is None and self.is_attached:
            self._frame = self.set_timer(FRAME, self.flush)

    def _stop_frame(self) -> None:
        if self._frame is not None:
            self._frame.stop()
            self._frame = None

    # Finding

    @property
    def tally(self) -> tuple[int, int]:
        """Which match the view follows, counted from 1 (0: none), and how many there are."""
        at = self._search.at
        return 0 if at is None else at + 1, self._search.total

    async def find(self, text: str) -> None:
        """Show the nearest match of `text`. Cancel it when the user types on."""
        if not text:
            self.end_find()
            return
        self._unearth_all()
        if self._origin is None and self._column.blocks:
            self._origin = self._column.blocks[self._column.index_at(self.scroll_offset.y)]
        await self._search.run(Needle(text), self._origin)
        self._show_match()

    def find_next(self, step: int) -> None:
        """Go to another match."""
        self._search.step(step)
        self._show_match()
        self._origin = match.block if (match := self._search.match) else None

    def end_find(self) -> None:
        """Stop marking matches; the view stays."""
        self._search.clear()
        self._shown = self._origin = self._opened = None
        self.refresh()

    def _show_match(self) -> None:
        match, self._shown = self._search.match, None
        if self._opened is not None and (match is None or match.block is not self._opened):
            self._set_closed(self._opened, True)
            self._opened = None
        if match is not None:
            self._show(match)
        self.refresh()

    def _show(self, match: Match) -> None:
        block = match.block
        self._column.draw(self._column.index_of(block))
        if block.entry.closed and self._drawn(block) < match.of:
            self._set_closed(block, False)
            self._opened = block
        row, drawn = 0, self._drawn(block)
        if drawn:
            nth = min(match.nth, drawn - 1)
            row = next(row for row, hits in self._search.drawn(block).items() if nth <= hits[-1][0])
            self._shown = (block, nth)
        self._move_cursor(block if block.entry.items else None)
        self._show_row(block, row)

    def _drawn(self, block: Block) -> int:
        return sum(len(hits) for hits in self._search.drawn(block).values())

    def _set_closed(self, block: Block, closed: bool) -> None:
        if block not in self._column:
            return
        block.entry.closed = closed
        self._follow = False
        self._change(lambda: block)
        self._column.draw(self._column.index_of(block))

    def _show_row(self, block: Block, row: int) -> None:
        """Scroll where need be, so that what is around the row can be read too."""
        y = self._column.top(self._column.index_of(block)) + block.gap + row
        top, height = self.scroll_offset.y, self.size.height
        if not top <= y < top + height:
            self.scroll_to(y=y - height // 3, immediate=True)
