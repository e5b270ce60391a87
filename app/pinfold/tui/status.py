"""The status line: where one is, and what goes on."""

from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from pinfold.agent.updates import Phase
from pinfold.tui.numbers import duration

WORKING: dict[Phase, str] = {
    "requesting": "waiting for the model",
    "streaming": "replying",
    "tools": "working",
    "approval": "your word is needed",
    "waiting": "waiting to try again",
}


class StatusLine(Widget):
    """Model, folder, branch and approvals at the left; what goes on, or a hint, at the right."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "status--dim",
        "status--busy",
        "status--strong",
        "status--warn",
    }

    model: reactive[str] = reactive("")
    folder: reactive[str] = reactive("")
    branch: reactive[str] = reactive("")
    approvals: reactive[str] = reactive("")
    phase: reactive[Phase] = reactive("idle")
    progress: reactive[str] = reactive("")
    """What a model that has no text yet is busy with."""
    hint: reactive[str] = reactive("")
    """Takes the place of what goes on."""
    seconds: reactive[int] = reactive(0)
    behind: reactive[int] = reactive(0)
    """Rows that have come below the view."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        super().__init__()
        self._monotonic = monotonic
        self._since = 0.0
        self._timer: Timer | None = None

    def watch_phase(self, before: Phase, now: Phase) -> None:
        if now == "idle":
            self.progress = ""
            if self._timer is not None:
                self._timer.stop()
                self._timer = None
        elif before == "idle":
            self._since, self.seconds = self._monotonic(), 0
            self._timer = self.set_interval(1, self._tick)
        elif now != "requesting":
            self.progress = ""

    def _tick(self) -> None:
        self.seconds = int(self._monotonic() - self._since)

    def render(self) -> Text:
        right, style = self._right()
        room = self.size.width - len(right) - 2
        approvals = "warn" if self.approvals == "full" else "dim"
        parts = {
            "model": (self.model, "strong"),
            "folder": (self.folder, "dim"),
            "branch": (self.branch, "dim"),
            "approvals": (self.approvals, approvals),
        }
        parts = {name: part for name, part in parts.items() if part[0]}
        for dispensable in ("branch", "folder", "approvals"):
            if len(" · ".join(text for text, _ in parts.values())) > room:
                parts.pop(dispensable, None)
        line = Text(no_wrap=True, overflow="crop", end="")
        for text, style_name in parts.values():
            line.append(" · " if line else "", self._style("dim"))
            line.append(text, self._style(style_name))
        line.truncate(max(0, room), overflow="ellipsis")
        line.append(" " * max(2, self.size.width - line.cell_len - len(right)))
        line.append(right, style)
        return line

    def _right(self) -> tuple[str, Style]:
        wide = self.size.width >= 60
        if self.hint:
            return self.hint, self._style("warn")
        below = f"↓ {self.behind} below · " if self.behind else ""
        if self.phase == "idle":
            keys = "/ commands · @ files · F1 help" if wide else "F1 help"
            return (f"{below}Ctrl+End" if below else keys), self._style("dim")
        said = self.progress or WORKING[self.phase]
        if not wide:
            return f"{below}{duration(self.seconds)} · Esc", self._style("busy")
        return f"{below}{said} {duration(self.seconds)} · Esc interrupts", self._style("busy")

    def _style(self, name: str) -> Style:
        found = self.get_component_rich_style(f"status--{name}")
        return Style(color=found.color, bold=found.bold)
