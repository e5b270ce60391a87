"""A diff in a pane that scrolls."""

from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pinfold.tui.transcript.diffs import diff_lines
from pinfold.tui.transcript.lines import TranscriptLine
from pinfold.tui.transcript.looks import looks_of
from pinfold.tui.transcript.view import Transcript


class DiffView(ScrollView, can_focus=False):
    """Drawn as the transcript draws diffs, and only the lines in view."""

    DEFAULT_CSS = """
    DiffView {
        height: auto;
        background: $background;
    }
    """

    def __init__(self, diff: str) -> None:
        super().__init__()
        self._diff = diff
        self._lines: list[TranscriptLine] = []

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self._draw())

    def on_resize(self) -> None:
        self._draw()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        looks = looks_of(self.app.screen_stack[0].query_one(Transcript))
        return len(diff_lines(self._diff, max(20, width), looks))

    def _draw(self) -> None:
        self._looks = looks_of(self.app.screen_stack[0].query_one(Transcript))
        width = self.scrollable_content_region.width
        self._lines = diff_lines(self._diff, max(20, width), self._looks)
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        base = self.rich_style
        if row >= len(self._lines):
            return Strip.blank(width, base)
        line = self._lines[row]
        ground = base + line.fill if line.fill else base
        segments = [
            Segment(text, ground + style if style else ground) for text, style, _ in line.segments
        ]
        return Strip(segments).extend_cell_length(width, ground).crop(0, width)
