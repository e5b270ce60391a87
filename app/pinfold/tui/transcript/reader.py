"""The reader: a cursor over items, and what keys and the mouse do in the transcript."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.widget import Widget

from pinfold.tui.in_order import act_at_once
from pinfold.tui.transcript.column import Block
from pinfold.tui.transcript.viewport import Viewport

if TYPE_CHECKING:
    from pinfold.rollout.items import Item
    from pinfold.tui.transcript.conversation import Conversation

Key = Literal["pin", "mask", "fold"]
"""What a key does to an item of the window; pressed again, it takes that back."""


class Reader(Viewport, can_focus=True):
    """The part of the transcript that the user moves in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Item above", show=False, id="transcript.up"),
        Binding("down,j", "cursor(1)", "Item below", show=False, id="transcript.down"),
        Binding("space", "open_or_close", "Open or close", id="transcript.toggle"),
        Binding(
            "enter",
            "enter",
            "Open or close; an agent's transcript on its card",
            id="transcript.open",
        ),
        Binding("left_square_bracket", "close_all", "Close all", id="transcript.close_all"),
        Binding("right_square_bracket", "open_all", "Open all", id="transcript.open_all"),
        Binding("c", "copy", "Copy", id="transcript.copy"),
        Binding("p", "act('pin')", "Pin the item, or unpin it", id="transcript.pin"),
        Binding("m", "act('mask')", "Mask a result, or unmask it", id="transcript.mask"),
        Binding("f", "act('fold')", "Fold it out of the window, or back in", id="transcript.fold"),
        Binding("slash", "screen.find", "Find", id="transcript.find"),
        Binding("n", "screen.find_next(1)", "Next match", id="transcript.next"),
        Binding("N", "screen.find_next(-1)", "Previous match", id="transcript.previous"),
        Binding("escape", "leave", "Back to the prompt", id="transcript.leave"),
        Binding("home,g", "scroll_home", "Top", show=False, id="transcript.home"),
        Binding("end,G", "scroll_end", "End", show=False, id="transcript.end"),
    ]

    class Selected(Message, namespace="transcript"):
        """The cursor is on another item, or on none."""

        def __init__(self, item: Item | None) -> None:
            super().__init__()
            self.item = item

    class Opened(Message, namespace="transcript"):
        """The user opened an agent's card."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class Acted(Message, namespace="transcript"):
        """The user pressed a key that changes the window."""

        def __init__(self, key: Key, item: Item) -> None:
            super().__init__()
            self.key = key
            self.item = item

    class Left(Message, namespace="transcript"):
        """The user goes back to the prompt."""

    FOCUS_ON_CLICK = False  # else a click would have what is typed next act on items

    _origin: Block | None = None
    """Where a search begins: the nearest match from there is shown."""
    writer: Widget | None = None
    """Gets what is typed while no item has the cursor, and the keys that mean nothing here."""
    _heir: Widget | None = None
    """Gets the keys, and the focus once none is on its way here."""

    @cached_property
    def _conversation(self) -> Conversation:
        # What draws entries is imported when there is something to draw: after the first paint.
        from pinfold.tui.transcript.conversation import Conversation

        return Conversation(self._column)

    @property
    def current(self) -> Item | None:
        """The item under the cursor; for a tool's card, the call."""
        return next(iter(self._marked.entry.items), None) if self._marked else None

    def jump(self, n: int) -> bool:
        """Put the cursor on item `n` and show it; whether there is such an item."""
        self._unearth_all()
        block = self._conversation.find(n)
        if block is None:
            return False
        self._move_cursor(block)
        self._reveal(block, to_top=True)
        self._origin = block
        return True

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        heir = self._heir or self.screen.focused
        if heir in (self, None) and self._is_text(event) and self.writer is not None:
            heir = self.writer
            self.hand_keys_to(heir)
        if heir is self or heir is None:
            await act_at_once(self, event)
        else:
            heir.post_message(copy(event))
            event.stop()
            event.prevent_default()

    def _is_text(self, event: events.Key) -> bool:
        """Whether the key is meant for the prompt: letters act on the item under the cursor."""
        if not event.is_printable:
            return False
        active = self.screen.active_bindings.get(event.key)
        idle = self._marked is None and self._search.needle is None
        return active is None or (active.node is self and idle)

    async def _on_paste(self, event: events.Paste) -> None:
        if self.writer is not None:
            self.hand_keys_to(self.writer)
            self.writer.post_message(copy(event))
            event.stop()

    def hand_keys_to(self, widget: Widget) -> None:
        """Give `widget` the focus, but first the keys that were typed for it already."""
        self._heir = widget
        self.call_later(self._hand_over)

    def _hand_over(self) -> None:
        if self.message_queue_size:
            self.call_later(self._hand_over)
        else:
            self.screen.set_focus(self._heir)
            self._heir = None

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
        while 0 <= index < len(blocks) and not _selects(blocks[index]):
            index += step
        if 0 <= index < len(blocks):
            self._move_cursor(blocks[index])
            self._reveal(blocks[index])
        elif step > 0:
            self._move_cursor(None)
            self.scroll_end()

    def action_leave(self) -> None:
        if self.writer is not None:
            self.hand_keys_to(self.writer)
        self.post_message(self.Left())

    def action_open_or_close(self) -> None:
        if self._marked:
            self._toggle(self._marked)

    def action_enter(self) -> None:
        if self._marked and (number := self._marked.entry.agent_number):
            self.post_message(self.Opened(number))
        else:
            self.action_open_or_close()

    def action_close_all(self) -> None:
        self._close_all(True)

    def action_open_all(self) -> None:
        self._close_all(False)

    def action_act(self, key: Key) -> None:
        if (item := self.current) is not None:
            self.post_message(self.Acted(key, item))

    def action_copy(self) -> None:
        text = self.screen.get_selected_text() or (
            self._marked.entry.source if self._marked else ""
        )
        if text:
            self.app.copy_to_clipboard(text)

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
            entry.closed = not entry.closed
            return block

        self.screen.clear_selection()
        self._follow = self._follow and entry.closed is False
        self._change(toggle)
        if self._column.top(self._column.index_of(block)) < self.scroll_offset.y:
            self._reveal(block)

    def _unearth_all(self) -> None:
        """What follows needs the whole past."""
        if self._conversation.past:
            self._change(self._conversation.unearth_all)

    def _close_all(self, closed: bool) -> None:
        self._unearth_all()
        self.screen.clear_selection()
        self._change(lambda: self._conversation.close_all(closed))

    # The mouse

    def text_select_all(self) -> None:
        """A double click selects the item under the cursor."""
        if self._marked is None:
            self._unearth_all()
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
        if _selects(block):
            self._move_cursor(block)
        if block.lines[index].toggles and event.chain == 1:
            self._toggle(block)


def _selects(block: Block) -> bool:
    """Whether the cursor can be on it."""
    return bool(block.entry.items or block.entry.agent_number)
