"""The transcript: the whole conversation as one widget that draws only the lines in view."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.visual import Visual, VisualType, visualize
from textual.widget import Widget

from pinfold.ports import Delta
from pinfold.rollout.items import Item
from pinfold.tui.transcript.column import Block, Column
from pinfold.tui.transcript.conversation import Conversation
from pinfold.tui.transcript.entries import Note
from pinfold.tui.transcript.looks import CLASSES, looks_of
from pinfold.tui.transcript.selecting import extract, highlight

FRAME = 1 / 15
"""Seconds between two paints of what streams in."""


class Transcript(ScrollView, can_focus=True):
    """Items from the first to the last, with what streams in below them.

    It follows the end until the user scrolls up; `behind` then counts the rows that have
    come since.
    """

    DEFAULT_CSS = """
    Transcript {
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

        & > .transcript--plain { color: $foreground; }
        & > .transcript--dim { color: $foreground 60%; }
        & > .transcript--number { color: $foreground 35%; }
        & > .transcript--cursor { color: $accent; text-style: bold; }
        & > .transcript--heading { color: $primary; text-style: bold; }
        & > .transcript--code { color: $accent; }
        & > .transcript--link { color: $primary; text-style: underline; }
        & > .transcript--rule { color: $foreground 30%; }
        & > .transcript--reasoning { color: $foreground 55%; text-style: italic; }
        & > .transcript--comment { color: $foreground 50%; text-style: italic; }
        & > .transcript--keyword { color: $primary; }
        & > .transcript--string { color: $success; }
        & > .transcript--literal { color: $warning; }
        & > .transcript--function { color: $accent; }
        & > .transcript--bar { color: $accent; }
        & > .transcript--tool { color: $foreground; text-style: bold; }
        & > .transcript--ok { color: $success; }
        & > .transcript--running { color: $primary; }
        & > .transcript--warning { color: $warning; }
        & > .transcript--error { color: $error; }
        & > .transcript--added-text { color: $success; }
        & > .transcript--removed-text { color: $error; }
        & > .transcript--prompt { color: $foreground; background: $foreground 7%; }
        & > .transcript--code-block { color: $foreground; background: $foreground 4%; }
        & > .transcript--added { color: $foreground; background: $success 14%; }
        & > .transcript--removed { color: $foreground; background: $error 14%; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = CLASSES
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

    behind = reactive(0, repaint=False)
    """Rows that have come below the view since the user scrolled up."""

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
        self._column = Column()
        self._conversation = Conversation(self._column)
        self._cursor: Block | None = None
        self._follow = True
        self._moving = False
        """We scroll, not the user."""
        self._drift = 0
        """How far rows moved down because those above turned out taller than estimated."""
        self._mark: tuple[Block, int] | None = None
        """The last block and its height when the user scrolled up."""
        self._dirty: dict[Block, None] = {}
        self._frame: Timer | None = None
        self._thumb = (0, 0)
        """The scroll bar as it was painted, in eighths of a row."""
        self._welcome: VisualType | None = None
        self._welcome_strips: list[Strip] | None = None

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

        def add() -> Block:
            return self._column.append(Note(text, level))

        self._change(add)

    def set_welcome(self, welcome: "VisualType | None") -> None:
        """What stands here while there is nothing else."""
        self._welcome = welcome
        self._welcome_strips = None
        self.refresh()

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
        return next(iter(self._cursor.entry.items), None) if self._cursor else None

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
        if self._cursor is None:
            index = len(blocks) if step < 0 else -1
            if step < 0 or not self._follow:
                bottom = self.scroll_offset.y + self.size.height
                index = self._column.index_at(bottom - 1) + (1 if step < 0 else -1)
        else:
            index = self._column.index_of(self._cursor)
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
        if self._cursor:
            self._toggle(self._cursor)

    def action_fold_all(self) -> None:
        self._fold_all(True)

    def action_unfold_all(self) -> None:
        self._fold_all(False)

    def action_copy(self) -> None:
        text = self.screen.get_selected_text() or (
            self._cursor.entry.source if self._cursor else ""
        )
        if text:
            self.app.copy_to_clipboard(text)
            self.post_message(self.Copied(text))

    def _move_cursor(self, block: Block | None) -> None:
        if block is not self._cursor:
            self._cursor = block
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

    # Where things are

    def _soil(self, block: Block) -> None:
        self._dirty[block] = None
        if self._frame is None and self.is_attached:
            self._frame = self.set_timer(FRAME, self.flush)

    def _stop_frame(self) -> None:
        if self._frame is not None:
            self._frame.stop()
            self._frame = None

    def _change(self, change: Callable[[], Block | Iterable[Block] | None]) -> None:
        """Change blocks; the rows in view stay where they are, unless we follow the end."""
        column = self._column
        view = self.scroll_offset.y
        anchor = column.blocks[column.index_at(view)] if column.blocks else None
        top = column.top(column.index_of(anchor)) if anchor else 0
        height = column.height
        changed = change()
        blocks = [changed] if isinstance(changed, Block) else list(changed or ())
        first = min((column.redraw(block) for block in blocks), default=0)
        shift = 0
        if anchor is not None and anchor in column:
            shift = column.top(column.index_of(anchor)) - top
        moved = self._arrange(view + shift, shift)
        if anchor is None:  # the welcome goes, all of it
            self.refresh()
        elif not moved:
            last = max(height, column.height)
            self._refresh_rows(first, last)

    def _refresh_rows(self, first: int, last: int) -> None:
        top = self.scroll_offset.y
        first, last = max(first, top), min(last, top + self.size.height)
        if first < last:
            self.refresh(Region(0, first - top, self.size.width, last - first))

    def _arrange(self, view: int | None = None, shift: int = 0) -> bool:
        """Draw what is in view from row `view`; whether the rows on the screen moved.

        Heights that prove different from their estimates leave what was drawn in its place.
        """
        column = self._column
        height = self.size.height
        if not height or column.looks is None:
            return False
        y = self.scroll_offset.y if view is None else view
        self._drift -= shift
        while True:
            end = max(0, column.height - height)
            y = end if self._follow else max(0, min(y, end))
            seen = column.between(y, y + height)
            stale = [i for i in seen if not column.blocks[i].drawn]
            if not stale:
                break
            anchor = next((i for i in seen if column.blocks[i].drawn), stale[0])
            before = column.top(anchor)
            for i in stale:
                column.draw(i)
            moved = column.top(anchor) - before
            y += moved
            self._drift -= moved
        for i in seen:
            column.draw(i)
        self._count_behind()
        return self._scroll(y)

    def _scroll(self, y: int) -> bool:
        size = Size(self.size.width, self._column.height)
        moved = y != self.scroll_offset.y
        # Reactive sizes would lay out the whole screen for each row that comes.
        self.set_reactive(Widget.virtual_size, size)
        if moved:
            self._moving = True
            self.scroll_target_y = self.scroll_y = y
            self._moving = False
        self._move_thumb(y, size.height)
        return moved

    def _move_thumb(self, y: int, total: int) -> None:
        bar, height = self.vertical_scrollbar, self.size.height
        bar.set_reactive(ScrollBar.position, y)
        bar.set_reactive(ScrollBar.window_size, height)
        bar.set_reactive(ScrollBar.window_virtual_size, total)
        eighth = total / (8 * height)
        thumb = (round(y / eighth), round(height / eighth)) if total > height else (0, 0)
        if thumb != self._thumb:
            self._thumb = thumb
            bar.refresh()

    def _count_behind(self) -> None:
        blocks = self._column.blocks
        if self._follow or not blocks:
            self._mark = None
            self.behind = 0
            return
        if self._mark is None or self._mark[0] not in self._column:
            self._mark = (blocks[-1], blocks[-1].height)
        block, height = self._mark
        index = self._column.index_of(block)
        end = self._column.top(index) + block.gap + height
        self.behind = max(0, self._column.height - end)

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> None:
        """Scroll at once: each step of an animation would paint the whole pane."""
        if y is not None and y <= 0:  # the first rows, whatever the estimates below them
            for index in self._column.between(0, self.size.height):
                self._column.draw(index)
        super().scroll_to(x, y, **{**options, "animate": False})

    def scroll_end(self, **options: Any) -> None:  # noqa: ARG002
        """Go to the end, and follow it again."""
        self._follow = True
        self._arrange()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if self._moving:
            self.refresh()
            return
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value):
            return
        self._follow = round(new_value) >= self.max_scroll_y
        self._arrange()

    def on_resize(self) -> None:
        self._restyle()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_attached:
            self.call_later(self._restyle)

    def _restyle(self) -> None:
        if not self.size.width:
            return
        self._welcome_strips = None
        looks = looks_of(self)
        if self.size.width != self._column.width or looks != self._column.looks:
            self._column.restart(self.size.width, looks)
        self._arrange()
        self.refresh()

    # Painting

    def render_lines(self, crop: Region) -> list[Strip]:
        # Past Textual's own cache: it makes each row anew when the view moves by one.
        strips = [self.render_line(y) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            _, background = self.background_colors
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        if crop.column_span != (0, self.size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        column = self._column
        row = y + self.scroll_offset.y
        if not column.blocks:
            return self._welcome_line(y)
        found = column.line(row)
        if found is None:
            return Strip.blank(self.size.width, self.rich_style)
        block, index = found
        strip = column.strip(block, index)
        if block is self._cursor:
            strip = self._with_cursor(strip)
        selection = self.text_selection
        if selection and (span := selection.get_span(row + self._drift)):
            lead = column.gutter + block.lines[index].lead
            end = column.gutter + len(block.lines[index].text)
            style = self.screen.get_component_rich_style("screen--selection")
            strip = highlight(strip, span, lead, end, style)
        else:
            strip.render(self.app.console)  # kept by the copy with offsets
        return strip.apply_offsets(self.scroll_offset.x, row + self._drift)

    def _with_cursor(self, strip: Strip) -> Strip:
        looks = self._column.looks
        assert looks is not None
        gutter, *rest = strip
        return Strip([Segment(gutter.text[:-1] + "▎", looks.base + looks.cursor), *rest])

    def _welcome_line(self, y: int) -> Strip:
        if self._welcome is not None and self._welcome_strips is None:
            visual = visualize(self, self._welcome)
            self._welcome_strips = Visual.to_strips(
                self, visual, self.size.width, self.size.height, self.visual_style
            )
        strips = self._welcome_strips or []
        return strips[y] if y < len(strips) else Strip.blank(self.size.width, self.rich_style)

    # The mouse

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        if selection.start is None and selection.end is None:
            text = "\n\n".join(block.entry.source for block in self._column.blocks)
        else:
            text = extract(self._column, selection, self._drift)
        return text, "\n"

    def text_select_all(self) -> None:
        """A double click selects the item under the cursor."""
        if self._cursor is None:
            super().text_select_all()
            return
        index = self._column.index_of(self._cursor)
        top = self._column.top(index) + self._cursor.gap + self._drift
        bottom = top + self._cursor.height - 1
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
