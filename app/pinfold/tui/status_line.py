"""The status line: where the session works, and what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from pinfold.numbers import duration
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.transcript.lines import clip

if TYPE_CHECKING:
    from collections.abc import Callable

    from pinfold.agent.updates import Phase

WORKING: dict[Phase, str] = {
    "requesting": "waiting for the model",
    "streaming": "replying",
    "tools": "working",
    "approval": "waiting for approval",
    "question": "waiting for your answer",
    "waiting": "waiting to try again",
    "compacting": "compacting",
}
DIM = "foreground 60%"
MODE = "TRANSCRIPT"
"""Shown first while the transcript has the keys, however narrow it is."""
CLOSES = "Esc closes"
ACTS = "Enter opens · / finds · p m f pin, mask, fold"
READS = "Enter opens · / finds"
CHOOSES = "↑ ↓ choose · letters go to the prompt"


class StatusLine(Widget):
    """Model, folder, branch and approvals at the left; what runs, or a hint, at the right."""

    DEFAULT_CSS = """
    StatusLine {
        height: 1;
        padding: 0 2;
    }
    """

    model: reactive[str] = reactive("")
    folder: reactive[str] = reactive("")
    branch: reactive[str] = reactive("")
    approvals: reactive[str] = reactive("")
    jobs: reactive[int] = reactive(0)
    """Commands that run in the background."""
    agents: reactive[int] = reactive(0)
    """Number of running agents."""
    agent: reactive[str] = reactive("")
    """The one whose transcript is shown."""
    phase: reactive[Phase] = reactive("idle")
    progress: reactive[str] = reactive("")
    """What a model that has no text yet is busy with."""
    own: reactive[Text | None] = reactive(None)
    """What the user's own command printed, in place of all at the left."""
    hint: reactive[str] = reactive("")
    """Shown in place of what runs."""
    seconds: reactive[int] = reactive(0)
    reading: reactive[bool] = reactive(False)
    """Whether the transcript has the keys."""
    on_item: reactive[bool] = reactive(False)
    """Whether its cursor is on an item, so that letters act."""
    behind: reactive[int] = reactive(0)
    """Rows that have come below the view."""

    def __init__(self, monotonic: Callable[[], float], key: Callable[[str], str]) -> None:
        """`key` names the key of an action."""
        super().__init__()
        self._key = key
        self._monotonic = monotonic
        self._since = 0.0
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self.refresh())

    def watch_phase(self, before: Phase, now: Phase) -> None:
        self.progress = ""
        if now == "idle":
            if self._timer is not None:
                self._timer.stop()
                self._timer = None
        elif before == "idle":
            self._since, self.seconds = self._monotonic(), 0
            self._timer = self.set_interval(1, self._tick)

    def _tick(self) -> None:
        self.seconds = int(self._monotonic() - self._since)

    def render(self) -> Text:
        right, style = self._right_side()
        room = self.size.width - len(right) - 2
        approvals = "" if self.agent else self.approvals  # an agent has its own
        full = approvals == "full"
        parts = {
            "mode": (one_line(self.agent) or (MODE if self.reading else ""), "accent"),
            "model": (one_line(self.model), "foreground"),
            "folder": (one_line(self.folder), DIM),
            "branch": (one_line(self.branch), DIM),
            "approvals": ("full, no sandbox", "error") if full else (approvals, DIM),
            "agents": (_agents(self.agents), "primary"),
            "jobs": (f"{self.jobs} in background" if self.jobs else "", "primary"),
        }
        parts = {name: part for name, part in parts.items() if part[0]}
        if len(" · ".join(text for text, _ in parts.values())) > room and "folder" in parts:
            parts["folder"] = (parts["folder"][0].rsplit("/", 1)[-1], DIM)
        for dispensable in (
            "folder",
            "branch",
            "approvals",
            *(["model"] if self.reading or self.agent else []),
        ):
            if len(" · ".join(text for text, _ in parts.values())) > room:
                parts.pop(dispensable, None)
        line = Text(no_wrap=True, overflow="crop", end="")
        if self.own is not None:
            line.append_text(self.own)
            parts = {}
        for text, colour in parts.values():
            line.append(" · " if line else "", ink(self.app, DIM))
            line.append(text, ink(self.app, colour))
        if room > 1:
            line.truncate(room, overflow="ellipsis")
        else:  # an ellipsis in no cells would be cut from the wrong end
            line = Text(no_wrap=True, overflow="crop", end="")
        line.append(" " * max(2, self.size.width - line.cell_len - len(right)))
        line.append(right, style)
        return line

    @property
    def _leaves(self) -> str:
        """What Esc does in a transcript."""
        return CLOSES if self.agent or self.reading else ""

    def _right_side(self) -> tuple[str, Style]:
        wide = self.size.width >= 60
        if self.hint:
            return self.hint, ink(self.app, "warning")
        below = f"↓ {self.behind} below · " if self.behind else ""
        if self.phase == "idle":
            help_ = f"{self._key('help')} help"
            keys = f"? shortcuts · / commands · {help_}" if wide else help_
            if self.reading or self.agent:
                acts = READS if self.agent else ACTS if self.on_item else CHOOSES
                keys = f"{acts} · {self._leaves}" if wide else self._leaves
            below = f"{below}{self._key('bottom')}" if below and not self.reading else ""
            return below or keys, ink(self.app, DIM)
        said = self.progress or WORKING[self.phase]
        interrupt = self._key("interrupt")
        if not wide:
            short = self._leaves or f"{duration(self.seconds)} · {interrupt}"
            return f"{below}{short}", ink(self.app, "primary")
        rest = f" {duration(self.seconds)} · {self._leaves or f'{interrupt} interrupts'}"
        room = self.size.width - len(below) - len(rest) - 2
        return f"{below}{clip(said, room)}{rest}", ink(self.app, "primary")


def _agents(count: int) -> str:
    return f"{count} agent{'s' if count != 1 else ''}" if count else ""
