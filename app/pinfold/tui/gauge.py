"""The gauge bar: the window's tokens by segment, on one line."""

from __future__ import annotations

from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from pinfold.numbers import dollars, precise, tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pinfold.agent.session import Session
    from pinfold.agent.updates import Preparation
    from pinfold.ports.provider import ModelInfo
    from pinfold.window.reading import GaugeReading, SentRequest, Source

LETTERS = {
    "instructions": "i",
    "AGENTS.md": "g",
    "tools": "s",
    "servers": "v",
    "memories": "m",
    "hidden": "h",
    "context": "x",
    "pinned": "p",
    "checkpoint": "k",
    "user": "u",
    "assistant": "a",
    "reasoning": "r",
    "tool calls": "c",
    "tool results": "t",
    "folded": "f",
    "live": "+",
}
"""What a segment is drawn with where there is no colour. `live` is the reply under way."""
FULL = "━"
FREE = ("─", "gauge-free")
RESERVE = ("╌", "gauge-reserve")
PREPARATIONS: dict[Preparation, str] = {
    "preparing": "summary being written",
    "ready": "summary ready",
}
THRESHOLD = ("┃", "gauge-threshold")
MASKING = ("┊", "gauge-threshold")
"""Where old bodies are masked, below the threshold."""

SIGNS: dict[Source, str] = {"measured": "", "calibrated": "≈", "estimated": "≈", "unknown": "?"}
"""What is before the figure where there is no room for the word."""
MEANINGS: dict[Source, str] = {
    "measured": "reported by the provider.",
    "calibrated": "counted here, corrected by this model's reports.",
    "estimated": "counted here, not reported yet.",
    "unknown": "part of it can't be counted, so this is a guess.",
}
_BOLD = Style(bold=True)
HEAD = "context  "
SHORT, MIDDLE, LONG, MOST = 8, 16, 24, 48
"""Cells that the bar keeps beside the source, beside more figures, beside its name; at most."""


def _line(sent: SentRequest) -> str:
    """A request: its input, the share of it that was cached, its price."""
    share = sent.cached / max(sent.input, 1)
    price = "" if sent.cost is None else f"{precise(sent.cost):>10}"
    return f"{sent.input:>9,}{share:>7.0%} cached{price}"


def variable(segment: str) -> str:
    """The theme's variable for a segment."""
    return f"gauge-{segment.removeprefix('tool ').removesuffix('.md').lower()}"


def cells(segments: Sequence[tuple[str, int]], limit: int, width: int) -> list[tuple[str, int]]:
    """Cells for each segment, in proportion; one at least in all once there is a token."""
    total = sum(count for _, count in segments)
    if total <= 0:
        return []
    filled = min(width, max(1, round(width * total / max(limit, 1))))
    shares = [filled * count // total for _, count in segments]
    rests = [filled * count % total for _, count in segments]
    for number in sorted(range(len(rests)), key=lambda n: -rests[n])[: filled - sum(shares)]:
        shares[number] += 1
    return [(name, share) for (name, _), share in zip(segments, shares, strict=True) if share]


def shown_auto(session: Session) -> str:
    """What happens at the threshold, or that it is paused."""
    return "compaction paused" if session.auto_paused else session.auto


class GaugeBar(Widget):
    """`context  ━━━━─────┃╌╌  3.1k of 8.2k · 38% · estimated`. A click opens the context panel."""

    DEFAULT_CSS = """
    GaugeBar {
        height: 1;
        padding: 0 2;
        pointer: pointer;
    }
    """

    reading: reactive[GaugeReading | None] = reactive(None)
    model: reactive[ModelInfo | None] = reactive(None)
    auto: reactive[str] = reactive("auto")
    """What happens at the threshold."""
    preparation: reactive[Preparation] = reactive("")
    """Whether the next compaction finds a summary written."""
    live: reactive[int] = reactive(0)
    """Tokens, roughly, of the reply under way."""

    def __init__(self, *, opens: bool = True) -> None:
        """`opens`: a click opens the context panel."""
        super().__init__()
        self._opens = opens

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self._retell())
        for name in ("reading", "model", "auto", "preparation", "live"):
            self.watch(self, name, self._retell)

    async def on_click(self) -> None:
        if self._opens and not self.screen.is_modal:  # the panel has a gauge of its own
            await self.run_action("app.run_command('context')")

    def _retell(self) -> None:
        self.refresh()
        reading, model = self.reading, self.model
        if reading is not None and model is not None:
            self.tooltip = self._details(reading, model)

    # The line

    def render(self) -> Text:
        reading, model = self.reading, self.model
        label = ink(self.app, "foreground 60%")
        if reading is None or model is None:
            return Text("context", style=label)
        room = self.size.width
        said = self._figures(reading, model, room)
        rest = room - len(said) - 2
        head = HEAD if rest >= LONG + len(HEAD) else ""
        line = Text(head, style=label, no_wrap=True, overflow="crop", end="")
        if (width := min(MOST, rest - len(head))) >= SHORT:
            line.append_text(self._bar(reading, width))
            line.append("  ")
        line.append(said, self._alarm(reading) or label)
        return line

    def _bar(self, reading: GaugeReading, width: int) -> Text:
        def cell(tokens: int) -> int:
            return min(width, round(width * tokens / max(reading.limit, 1)))

        kept = max(1, cell(reading.reserve)) if reading.reserve else 0
        track = [FREE] * (width - kept) + [RESERVE] * kept
        filled = cells([*reading.segments, ("live", self.live)], reading.limit, width)
        track[: sum(count for _, count in filled)] = [
            self._ink_of(name) for name, count in filled for _ in range(count)
        ]
        for mark, at in ((MASKING, reading.masking), (THRESHOLD, reading.threshold)):
            if at is not None:
                track[min(width - 1, cell(at))] = mark
        bar = Text(end="")
        for (glyph, colour), run in groupby(track):
            bar.append(glyph * len(list(run)), ink(self.app, colour))
        return bar

    def _ink_of(self, segment: str) -> tuple[str, str]:
        return LETTERS[segment] if self.app.no_color else FULL, variable(segment)

    def _figures(self, reading: GaugeReading, model: ModelInfo, room: int) -> str:
        used, source = self._used(reading), self._source(reading)
        share = used / reading.limit if reading.limit else 0.0
        said = f"{tokens(used)} of {tokens(reading.limit)} · {share:.0%}"
        alarm = ""
        if self._alarm(reading) is not None:
            alarm = "!! " if used > reading.usable else "! "
        room -= len(alarm) + 2
        if room < len(f"{said} · {source}") + SHORT:
            return f"{alarm}{SIGNS[source]}{said}"
        said = f"{said} · {source}"
        for extra in self._extras(reading, model):
            if room >= len(f"{said} · {extra}") + MIDDLE:
                said = f"{said} · {extra}"
        return f"{alarm}{said}"

    def _extras(self, reading: GaugeReading, model: ModelInfo) -> list[str]:
        """What is said where there is room, the first before the others."""
        return [
            *([f"window {model.doubtful_window}"] if model.doubtful_window else ()),
            *([PREPARATIONS[self.preparation]] if self.preparation else ()),
            *([self.auto] if self.auto != "auto" else ()),
            *([f"cached {reading.cached:.0%}"] if reading.cached else ()),
            *([dollars(reading.cost)] if reading.cost else ()),
        ]

    def _used(self, reading: GaugeReading) -> int:
        return reading.used + self.live

    def _source(self, reading: GaugeReading) -> Source:
        return "estimated" if self.live and reading.source != "unknown" else reading.source

    def _alarm(self, reading: GaugeReading) -> Style | None:
        used = self._used(reading)
        if used > reading.usable:
            return ink(self.app, "error") + _BOLD
        if reading.threshold is not None and used >= reading.threshold:
            return ink(self.app, "warning") + _BOLD
        return None

    # What it means

    def legend(self, width: int) -> Text:
        """What the colours and signs of the bar stand for, and the word behind the figures, in
        lines of `width` cells."""
        reading = self.reading
        out = Text(end="")
        if reading is None:
            return out
        label = ink(self.app, "foreground 60%")
        signs = [(self._ink_of(name), name) for name, count in reading.segments if count]
        signs.append((RESERVE, "for the reply"))
        if reading.masking is not None:
            signs.append((MASKING, "masks old results"))
        if reading.threshold is not None:
            signs.append((THRESHOLD, "compacts" if self.auto != "ask" else "asks to compact"))
        source = self._source(reading)
        pieces = [
            Text.assemble((sign, ink(self.app, colour)), (f" {name}", label))
            for (sign, colour), name in signs
        ]
        pieces.append(Text(f"{source}: {MEANINGS[source]}", label))
        taken = 0
        for piece in pieces:
            apart = "" if not taken else "  "
            if taken + len(apart) + piece.cell_len > width and taken:
                apart, taken = "\n", 0
            out.append(apart).append_text(piece)
            taken += piece.cell_len + (2 if apart == "  " else 0)
        return out

    # The tooltip

    def _details(self, reading: GaugeReading, model: ModelInfo) -> Text:
        """Every segment, and what the figures mean, on lines of at most 36 columns."""
        label = ink(self.app, "foreground 60%")
        out = Text(end="")
        out.append(f"{one_line(model.name)[:36]}\n", _BOLD)
        out.append(f"{reading.limit:,} tokens ({model.window_source})\n\n", label)

        def row(sign: tuple[str, str], name: str, count: int) -> None:
            share = count / max(reading.limit, 1)
            out.append(f"{sign[0]} ", ink(self.app, sign[1]))
            out.append(f"{name:<15}{count:>10,}{share:>7.1%}\n", ink(self.app, "foreground"))

        for name, count in (*reading.segments, ("live", self.live)):
            if count:
                row(self._ink_of(name), "in flight" if name == "live" else name, count)
        row(FREE, "free", max(0, reading.usable - self._used(reading)))
        row(RESERVE, "for the reply", reading.reserve)
        if reading.masking is not None:
            row(MASKING, "masking begins", reading.masking)
        if reading.threshold is not None:
            row(THRESHOLD, f"threshold, {self.auto}", reading.threshold)
        source = self._source(reading)
        said = [f"{source}: {MEANINGS[source]}"]
        if self.preparation:
            said.append(f"For the next compaction: {PREPARATIONS[self.preparation]}.")
        if reading.threshold is None:
            said.append("No threshold: /threshold auto sets one.")
        if reading.requests:
            said += ["Last requests, newest first:", *map(_line, reversed(reading.requests))]
        if reading.never_cached:
            said.append(fill(reading.never_cached, 36))
        if reading.cost:
            said.append(f"{dollars(reading.cost)} so far.")
        out.append("\n" + "\n".join(said), label)
        return out
