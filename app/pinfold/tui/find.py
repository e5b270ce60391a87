"""The find bar: a line above the prompt, and below it what was found in the work of agents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from pinfold.tui.find_agents import AgentHit, AgentSearch, listed
from pinfold.tui.in_order import SearchInput
from pinfold.tui.transcript.view import Transcript

KEYS = "Enter next · ↑ back · Tab all sessions · Esc closes"
OPENS = "Enter opens · ↑ ↓ choose · Esc closes"
"""Where an item of an agent is chosen."""
SETTLED = 0.15
"""Seconds without a key after which agents are searched."""
ROOM = 24
"""Columns beside the tally from which the keys are shown."""


class FindBar(Vertical):
    """Searches with each key, and leads from match to match, then to those of agents."""

    DEFAULT_CSS = """
    FindBar {
        height: auto;
        padding: 0 2;

        & > Horizontal { height: 1; }
        & #label, & #tally { width: auto; color: $foreground 60%; }
        & #tally { padding-left: 2; }
        & Input { width: 1fr; background: $background; }
        &.-nothing #tally { color: $warning; }
        & > #agents { height: auto; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "next", show=False),
        Binding("up,shift+enter", "previous", show=False),
        Binding("tab", "widen", show=False),
        Binding("escape", "leave", show=False),
    ]

    class Widened(Message):
        """The user wants all sessions searched for it."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Wanted(Message):
        """The user wants to see an item of an agent, in which `text` was found."""

        def __init__(self, hit: AgentHit, text: str) -> None:
            super().__init__()
            self.hit = hit
            self.text = text

    def __init__(self, transcript: Transcript) -> None:
        super().__init__()
        self.display = False
        self._transcript = transcript
        self._agents: AgentSearch | None = None
        self._hits: Sequence[AgentHit] = ()
        self._chosen: int | None = None
        """The one of these that Enter opens."""
        self._listed = Static(id="agents", markup=False)
        self._listed.display = False
        self._input = SearchInput(compact=True, select_on_focus=False)
        self._tally = Static(id="tally", markup=False)
        self._back: Widget | None = None
        """What had the keys before."""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("Find  ", id="label", markup=False)
            yield self._input
            yield self._tally
        yield self._listed

    def look_in(self, transcript: Transcript, agents: AgentSearch | None = None) -> None:
        """Search this one from now on, and what these agents did."""
        self._transcript = transcript
        self._agents = agents

    def open(self, text: str) -> None:
        """Take the keys, and search for `text`; without one, for the last one again.

        What is searched for is selected, so that typing replaces it.
        """
        if not self.display:
            self._back = self.screen.focused
        self.display = True
        if self.screen.focused is self._transcript:
            self._transcript.hand_keys_to(self._input)
        else:
            self._input.focus()
        if text and text != self._input.value:
            self._input.value = text
        else:
            self._search(self._input.value)
        self._input.select_all()

    def step(self, by: int) -> None:
        """Go to another match; when the bar is away, it comes back with its last text."""
        if not self._input.value:
            self.open("")
        elif self.display:
            self._transcript.find_next(by)
            self._count()
        else:
            self.display = True
            self._back = self.screen.focused
            self._search(self._input.value)

    def leave(self) -> None:
        """Go away; the transcript stays where it is."""
        self.workers.cancel_node(self)
        self._hits, self._chosen = (), None
        self._listed.display = False
        self._transcript.end_find()
        if self._back is not None and self.has_focus_within:
            self._back.focus()
        self.display = False

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if self.display:
            self._search(event.value)

    @work(exclusive=True, group="search")
    async def _search(self, text: str) -> None:
        self._hits, self._chosen = (), None
        await self._transcript.find(text)
        self._count()
        if text and self._agents is not None:
            await asyncio.sleep(SETTLED)
            self._hits = await self._agents.find(text)
            if self._hits and not self._transcript.tally[1]:
                self._chosen = 0
            self._count()

    def _count(self) -> None:
        at, total = self._transcript.tally
        nothing = bool(self._input.value) and not total and not self._hits
        told = f"{at:,}/{total:,}" if total else "nothing found" if nothing else ""
        if self._hits:
            told += f"{' · ' if told else ''}{len(self._hits):,} in agents"
        keys = KEYS if self._chosen is None else OPENS
        room = self.app.size.width - len(told) - len(keys)
        keys = keys if room >= ROOM else ""
        self._listed.display = bool(self._hits)
        if self._hits:
            self._listed.update(listed(self._hits, self._chosen))
        self._tally.update(Text("   ".join(part for part in (told, keys) if part)))
        self.set_class(nothing, "-nothing")

    @on(Input.Submitted)
    def _enter(self) -> None:
        if self._chosen is None:
            self._move(1)
        else:
            self.post_message(self.Wanted(self._hits[self._chosen], self._input.value))

    def action_next(self) -> None:
        self._move(1)

    def action_previous(self) -> None:
        self._move(-1)

    def _move(self, by: int) -> None:
        """To the next match: those of the transcript come first, then those of agents."""
        at, total = self._transcript.tally
        last = total if by > 0 else 1
        if self._chosen is None:
            if self._hits and at == last:
                self._chosen = 0 if by > 0 else len(self._hits) - 1
            else:
                self.step(by)
        elif 0 <= self._chosen + by < len(self._hits):
            self._chosen += by
        elif total:
            self._chosen = None
            if at == last and total > 1:
                self._transcript.find_next(by)
        else:
            self._chosen = (self._chosen + by) % len(self._hits)
        self._count()

    def action_widen(self) -> None:
        self.leave()
        self.post_message(self.Widened(self._input.value))

    def action_leave(self) -> None:
        self.leave()
