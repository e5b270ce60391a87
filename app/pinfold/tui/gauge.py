"""The gauge bar: the window's tokens by segment, on one line."""

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from pinfold.ports import ModelInfo
from pinfold.tui.colours import ink
from pinfold.tui.numbers import tokens
from pinfold.window.reading import Reading

LETTERS = {
    "instructions": "i",
    "user": "u",
    "assistant": "a",
    "reasoning": "r",
    "tool calls": "c",
    "tool results": "t",
    "checkpoint": "k",
    "live": "+",
}
"""What a segment is drawn with where there is no colour. `live` is the reply under way."""
_BOLD = Style(bold=True)
FULL, FREE = "━", "─"
TIGHT = 0.85
"""The share of the context window from which the figure warns."""


def cells(segments: Sequence[tuple[str, int]], limit: int, width: int) -> list[tuple[str, int]]:
    """Cells for each segment, in proportion; one at least in all once there is a token."""
    total = sum(count for _, count in segments)
    if total <= 0:
        return []
    filled = min(width, max(1, round(width * total / max(limit, 1))))
    shares = [filled * count // total for _, count in segments]
    rests = [filled * count % total for _, count in segments]
    for each in sorted(range(len(rests)), key=lambda n: -rests[n])[: filled - sum(shares)]:
        shares[each] += 1
    return [(name, share) for (name, _), share in zip(segments, shares, strict=True) if share]


class GaugeBar(Widget):
    """`context  ━━━━──────  3.1k of 8.2k · 38% · estimated`."""

    DEFAULT_CSS = """
    GaugeBar {
        height: 1;
        padding: 0 2;
    }
    """

    reading: reactive[Reading | None] = reactive(None)
    model: reactive[ModelInfo | None] = reactive(None)
    live: reactive[int] = reactive(0)
    """Tokens, roughly, of the reply under way."""

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self.refresh())

    def render(self) -> Text:
        reading, model = self.reading, self.model
        label = ink(self.app, "foreground 60%")
        if reading is None or model is None:
            return Text("context", style=label)
        used = reading.used + self.live
        share = used / reading.limit if reading.limit else 0.0
        figures = [f"{tokens(used)} of {tokens(reading.limit)}", f"{share:.0%}"]
        source = "estimated" if self.live else reading.source
        room = self.size.width
        for extra in (source, f"window: {model.window_source}"):
            if sum(map(len, figures)) + len(extra) + 3 * len(figures) + 24 <= room:
                figures.append(extra)
        said = " · ".join(figures)
        head = "context  " if room >= len(said) + 24 else ""
        width = max(6, min(48, room - len(head) - len(said) - 2))
        bar = Text(head, style=label, no_wrap=True, overflow="crop", end="")
        for name, count in cells([*reading.segments, ("live", self.live)], reading.limit, width):
            glyph = LETTERS[name] if self.app.no_color else FULL
            bar.append(glyph * count, self._style(name))
        bar.append(FREE * (width + len(head) - len(bar)), self._style("free"))
        bar.append(f"  {said}", ink(self.app, "warning") + _BOLD if share >= TIGHT else label)
        return bar

    def watch_reading(self, reading: Reading | None) -> None:
        if reading is not None:
            parts = [f"{name}: {count:,}" for name, count in reading.segments if count]
            self.tooltip = Text("\n".join(("tokens in the window", *parts)))

    def _style(self, segment: str) -> Style:
        return ink(self.app, f"gauge-{segment.removeprefix('tool ')}")
