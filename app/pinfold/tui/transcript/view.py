"""The transcript: the whole conversation as one widget that draws only the lines in view."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.timer import Timer

from pinfold.ports import Delta
from pinfold.rollout.items import Item
from pinfold.tui.transcript.column import Block
from pinfold.tui.transcript.viewport import Viewport

if TYPE_CHECKING:
    from pinfold.tui.transcript.conversation import Conversation

FRAME = 1 / 15
"""Seconds between two paints of what streams in."""


class Transcript(Viewport, can_focus=True):
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
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Item above", show=False, id="transcript.up"),
        Binding("down,j", "cursor(1)", "Item below", show=False, id="transcript.down"),
        Binding("enter,space", "toggle_fold", "Fold", id="transcript.toggle"),
        Binding("left_square_bracket", "fold_all", "Fold all", id="transcript.fold_all"),
        Binding("right_square_bracket", "unfold_all", "Unfold all", id="transcript.unfold_all"),
        Binding("c", "copy", "Copy", id="transcript.copy"),
        Binding("home,g", "scroll_home", "Top", show=False, id="transcript.home"),
        Binding("end,G", "scroll_end", "End", show=False, id="transcript.end"),
    ]

    @dataclass
    class Selected(Message):
        """The cursor stands on another item, or on none."""

        item: Item | None

    @dataclass
    class Toggled(Message):
        """The user folded or unfolded items."""

        numbers: tuple[int, ...]
        folded: bool

    @dataclass
    class Copied(Message):
        """Text went to the clipboard."""

        text: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._dirty: dict[Block, None] = {}
        self._frame: Timer | None = None

    @cached_property
    def _conversation(self) -> "Conversation":
        # What draws entries is imported when there is something to draw: after the first paint.
        from pinfold.tui.transcript.conversation import Conversation

        return Conversation(self._column)

    # What is shown

    def load(self, items: Iterable[Item]) -> None:
        """Show these items instead of all that is shown."""
        self._stop_frame()
        self._dirty.clear()
        self._conversation.load(items)
        self._move_cursor(None)
        self._follow = True
        self._arrange()
        self.refresh()

    def append(self, item: Item) -> None:
        """Show an item that stands in the journal, in place of what was streamed of it."""
        self.flush()
        self._change(lambda: self._conversation.append(item))

    def stream(self, delta: Delta) -> None:
        """Take a piece of the response under way; it is painted with the next frame."""
        if block := self._conversation.stream(delta):
            self._soil(block)

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
            self._soil(block)

    def note(self, text: str, level: str = "info") -> None:
        """Show a message of the shell: `info`, `warning` or `error`."""
        self._change(lambda: self._conversation.note(text, level))

    def flush(self) -> None:
        """Paint what has come since the last frame."""
        self._stop_frame()
        if self._dirty:
            blocks, self._dirty = list(self._dirty), {}
            self._change(lambda: blocks)

    # The cursor

    @property
    def current(self) -> Item | None:
        """The item under the cursor; for a tool's card, the call."""
        return next(iter(self._marked.entry.items), None) if self._marked else None

    def jump(self, n: int) -> bool:
        """Put the cursor on item `n` and show it; whether there is such an item."""
        block = self._conversation.find(n)
        if block is None:
            return False
        self._move_cursor(block)
        self._reveal(block, to_top=True)
        return True

    def action_cursor(self, step: int) -> None:
        blocks = self._column.blocks
        if self._marked is None:
            index = len(blocks) if step < 0 else -1
            if step < 0 or not self._follow:
                bottom = self.scroll_offset.y + self.size.height
                index = self._column.index_at(bottom - 1) + (1 if step < 0 else -1)
        else:
            index = self._column.index_of(self._marked)
        index += step
        while 0 <= index < len(blocks) and not blocks[index].entry.items:
            index += step
        if 0 <= index < len(blocks):
            self._move_cursor(blocks[index])
            self._reveal(blocks[index])
        elif step > 0:
            self._move_cursor(None)
            self.scroll_end()

    def action_toggle_fold(self) -> None:
        if self._marked:
            self._toggle(self._marked)

    def action_fold_all(self) -> None:
        self._fold_all(True)

    def action_unfold_all(self) -> None:
        self._fold_all(False)

    def action_copy(self) -> None:
        text = self.screen.get_selected_text() or (
            self._marked.entry.source if self._marked else ""
        )
        if text:
            self.app.copy_to_clipboard(text)
            self.post_message(self.Copied(text))

    def _move_cursor(self, block: Block | None) -> None:
        if block is not self._marked:
            self._marked = block
            self.refresh()
            self.post_message(self.Selected(self.current))

    def _reveal(self, block: Block, *, to_top: bool = False) -> None:
        index = self._column.index_of(block)
        self._column.draw(index)
        top = self._column.top(index)
        bottom = top + block.gap + block.height
        view = self.scroll_offset.y
        if to_top or top < view or block.height >= self.size.height:
            self.scroll_to(y=top)
        elif bottom > view + self.size.height:
            self.scroll_to(y=bottom - self.size.height)

    def _toggle(self, block: Block) -> None:
        entry = block.entry

        def toggle() -> Block:
            entry.folded = not entry.folded
            return block

        self.screen.clear_selection()
        self._follow = self._follow and entry.folded is False
        self._change(toggle)
        if self._column.top(self._column.index_of(block)) < self.scroll_offset.y:
            self._reveal(block)
        self.post_message(self.Toggled(tuple(item.n for item in entry.items), entry.folded))

    def _fold_all(self, folded: bool) -> None:
        self.screen.clear_selection()
        self._change(lambda: self._conversation.fold_all(folded))

    def _soil(self, block: Block) -> None:
        self._dirty[block] = None
        if self._frame is None and self.is_attached:
            self._frame = self.set_timer(FRAME, self.flush)

    def _stop_frame(self) -> None:
        if self._frame is not None:
            self._frame.stop()
            self._frame = None

    # The mouse

    def text_select_all(self) -> None:
        """A double click selects the item under the cursor."""
        if self._marked is None:
            super().text_select_all()
            return
        index = self._column.index_of(self._marked)
        top = self._column.top(index) + self._marked.gap + self._drift
        bottom = top + self._marked.height - 1
        selection = Selection(Offset(0, top), Offset(self.size.width, bottom))
        self.screen.selections = {self: selection}

    def on_click(self, event: events.Click) -> None:
        found = self._column.line(event.y + self.scroll_offset.y)
        if found is None or self.text_selection is not None:
            return
        block, index = found
        if block.entry.items:
            self._move_cursor(block)
        if block.lines[index].fold and event.chain == 1:
            self._toggle(block)
