"""The status line: where the session works, and what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
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

LEAST_SAID = 7
"""Characters of what runs that are worth their room."""


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
        width, own, parts = self.size.width, self.own, self._parts()
        sides, style = self._right_sides(width)
        full, least = cell_len(sides[0]), cell_len(sides[-1])
        # Keys can be looked up: they give way before the folder does.
        most = least if self.phase == "idle" else full
        drops = [("folder's parents", full), ("folder", most), ("branch", most)]
        drops += [("model", most)] if self.reading or self.agent else []
        drops += [("approvals", least)]
        for part, right_width in drops:
            if _left_width(own, parts) + 2 + right_width <= width:
                break
            if part == "folder's parents" and "folder" in parts:
                parts["folder"] = (parts["folder"][0].rsplit("/", 1)[-1], DIM)
            parts.pop(part, None)
        room = width - _left_width(own, parts) - 2
        fitting = (side for side in self._right_sides(room)[0] if cell_len(side) <= room)
        right = next(fitting, sides[-1])
        room = width - cell_len(right) - 2
        line = Text(no_wrap=True, overflow="crop", end="")
        if own is not None:
            line.append_text(own)
            parts = {}
        for text, colour in parts.values():
            line.append(" · " if line else "", ink(self.app, DIM))
            line.append(text, ink(self.app, colour))
        if room > 1:
            line.truncate(room, overflow="ellipsis")
        else:  # an ellipsis in no cells would be cut from the wrong end
            line = Text(no_wrap=True, overflow="crop", end="")
        line.append(" " * max(2, width - line.cell_len - cell_len(right)))
        line.append(right, style)
        return line

    def _parts(self) -> dict[str, tuple[str, str]]:
        """What there is to say at the left, each with its colour."""
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
        return {name: part for name, part in parts.items() if part[0]}

    @property
    def _leaves(self) -> str:
        """What Esc does in a transcript."""
        return CLOSES if self.agent or self.reading else ""

    def _right_sides(self, room: int) -> tuple[list[str], Style]:
        """What to say at the right in so many columns, longest first."""
        if self.hint:
            return [self.hint], ink(self.app, "warning")
        below = f"↓ {self.behind} below · " if self.behind else ""
        if self.phase == "idle":
            return self._idle_sides(below), ink(self.app, DIM)
        interrupt, took = self._key("interrupt"), duration(self.seconds)
        rest = f"{took} · {self._leaves or f'{interrupt} interrupts'}"
        said = clip(self.progress or WORKING[self.phase], room - len(below) - len(rest) - 1)
        sides = [f"{below}{said} {rest}"] if len(said) >= LEAST_SAID else []
        sides += [f"{below}{rest}", f"{below}{self._leaves or f'{took} · {interrupt}'}"]
        return sides, ink(self.app, "primary")

    def _idle_sides(self, below: str) -> list[str]:
        if self.reading or self.agent:
            acts = READS if self.agent else ACTS if self.on_item else CHOOSES
            sides = [f"{acts} · {self._leaves}", self._leaves]
        else:
            help_ = f"{self._key('help')} help"
            sides = [f"? shortcuts · / commands · {help_}", help_, ""]
        return [f"{below}{self._key('bottom')}"] if below and not self.reading else sides


def _left_width(own: Text | None, parts: dict[str, tuple[str, str]]) -> int:
    return own.cell_len if own else cell_len(" · ".join(text for text, _ in parts.values()))


def _agents(count: int) -> str:
    return f"{count} agent{'s' if count != 1 else ''}" if count else ""
