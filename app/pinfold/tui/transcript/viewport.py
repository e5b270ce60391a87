"""The viewport: what a column shows on the screen, and where it stays while things change."""

from collections.abc import Callable, Iterable
from typing import Any

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip
from textual.visual import Visual, VisualType, visualize
from textual.widget import Widget

from pinfold.tui.transcript.column import Block, Column
from pinfold.tui.transcript.lines import cut
from pinfold.tui.transcript.looks import looks_of
from pinfold.tui.transcript.search import Search
from pinfold.tui.transcript.selecting import extract, highlight


class Viewport(ScrollView):
    """Draws the rows in view. It follows the end until the user scrolls up."""

    behind = reactive(0, repaint=False)
    """Rows that have come below the view since the user scrolled up."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._column = Column()
        self._marked: Block | None = None
        """The block that has the cursor beside it."""
        self._follow = True
        self._moving = False
        """We scroll, not the user."""
        self._drift = 0
        """How far rows moved up because those above turned out shorter than estimated."""
        self._search = Search(self._column)
        self._shown: tuple[Block, int] | None = None
        """The current match: its block, and which of those that are drawn there."""
        self._left: tuple[Block, int] | None = None
        """The last block and its height when the user scrolled up."""
        self._thumb = (0, 0)
        """The scroll bar as it was painted, in eighths of a row."""
        self._welcome: VisualType | None = None
        self._welcome_strips: list[Strip] | None = None
        self._model = ""

    def count_for(self, model: str) -> None:
        """Have the tokens of pictures count by the rule of this model."""
        self._model = model
        self._restyle()

    def set_welcome(self, welcome: "VisualType | None") -> None:
        """What is here while there is nothing else."""
        self._welcome = welcome
        self._welcome_strips = None
        self.refresh()

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
            same = column.height == height and shift == 0
            bottoms = (self._bottom(block) for block in blocks) if same else ()
            self._refresh_rows(first, max(bottoms, default=max(height, column.height)))

    def _bottom(self, block: Block) -> int:
        return self._column.top(self._column.index_of(block)) + block.gap + block.height

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
        column.trim(len(seen))
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
            self._left = None
            self.behind = 0
            return
        if self._left is None or self._left[0] not in self._column:
            self._left = (blocks[-1], blocks[-1].height)
        block, height = self._left
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
        looks = looks_of(self, self._model)
        if self.size.width != self._column.width or looks != self._column.looks:
            self._column.restart(self.size.width, looks)
        self._arrange()
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        # Past Textual's own cache: it makes each row again when the view moves by one.
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
        if block is self._marked:
            strip = self._with_cursor(strip)
        if self._search.needle is not None:
            strip = self._with_hits(strip, block, index)
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
        at = self._column.gutter - 1
        before, _, after = cut(list(strip), [at, at + 1])
        gutter = "".join(segment.text for segment in before) + "▎"
        return Strip([Segment(gutter, looks.base + looks.cursor), *after])

    def _with_hits(self, strip: Strip, block: Block, row: int) -> Strip:
        looks = self._column.looks
        assert looks is not None
        gutter = self._column.gutter
        for nth, first, last in self._search.drawn(block).get(row, ()):
            style = looks.current if (block, nth) == self._shown else looks.hit
            span = (gutter + first, gutter + last)
            strip = highlight(strip, span, *span, style)
        return strip

    def _welcome_line(self, y: int) -> Strip:
        if self._welcome is not None and self._welcome_strips is None:
            visual = visualize(self, self._welcome)
            self._welcome_strips = Visual.to_strips(
                self, visual, self.size.width, self.size.height, self.visual_style
            )
        strips = self._welcome_strips or []
        return strips[y] if y < len(strips) else Strip.blank(self.size.width, self.rich_style)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        if selection.start is None and selection.end is None:
            text = "\n\n".join(block.entry.source for block in self._column.blocks)
        else:
            text = extract(self._column, selection, self._drift)
        return text, "\n"
