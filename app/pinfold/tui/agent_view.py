"""An agent's transcript, in the place of the session's: read-only, and live while it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from pinfold.agent.updates import Streamed
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.failsafe import safely
from pinfold.tui.feed import Feed
from pinfold.tui.gauge import GaugeBar, shown_auto
from pinfold.tui.transcript.lines import clip
from pinfold.tui.transcript.view import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pinfold.agent.children.status import ChildStatus
    from pinfold.agent.session import Session
    from pinfold.agent.updates import Update

QUEUED = "Waiting for another agent to end."
READ_ONLY = "read-only"


class AgentHead(Widget):
    """`◌ a1 explore  find the callers  12s · 3.1k tokens · read-only`."""

    DEFAULT_CSS = "AgentHead { height: 1; padding: 0 2; background: $surface; }"

    def __init__(self) -> None:
        super().__init__()
        self._agent: ChildStatus | None = None

    def show(self, agent: ChildStatus) -> None:
        self._agent = agent
        self.refresh()

    def render(self) -> Text:
        from pinfold.tui.transcript import agents
        from pinfold.tui.transcript.states import LOOKS, SIGNS

        line = Text(no_wrap=True, overflow="crop", end="")
        if (agent := self._agent) is None:
            return line
        width, state = self.size.width, agents.STATES[agent.state]
        facts = agents.facts(agent, width // 2)
        tail = f"  {facts} · {READ_ONLY}" if facts else f"  {READ_ONLY}"
        colours = {"running": "primary", "ok": "success", "error": "error", "warning": "warning"}
        line.append(f"{SIGNS[state]} ", ink(self.app, colours[LOOKS[state]]))
        line.append(agent.name, ink(self.app, "foreground"))
        line.stylize("bold", 2)
        room = width - line.cell_len - 2 - cell_len(tail)
        if room > 4:
            line.append(f"  {clip(one_line(agent.description), room)}", ink(self.app, "foreground"))
        line.append(" " * max(0, width - line.cell_len - cell_len(tail)))
        line.append(tail, ink(self.app, "foreground 60%"))
        return line


class AgentView(Vertical):
    """Shows one agent of a session at a time."""

    DEFAULT_CSS = "AgentView { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.transcript = Transcript()
        self.number = 0
        """The agent that is shown."""
        self._head = AgentHead()
        self._gauge = GaugeBar(opens=False)
        self._session: Session | None = None
        self._hears: Session | None = None
        """The agent's session, while it works."""
        self._filled = False
        """The transcript has what there is."""
        self._unsubscribe: Callable[[], None] | None = None

    def compose(self) -> ComposeResult:
        yield self._head
        yield self.transcript
        yield self._gauge

    async def show(self, session: Session, number: int) -> None:
        """Show an agent of `session`. Raises `JournalError`."""
        self.hide()
        agent = session.children.status(number)
        assert agent is not None
        self._session, self.number = session, number
        self._head.show(agent)
        if not self._listen():
            await self._read()

    def agents_changed(self, agents: Sequence[ChildStatus]) -> None:
        """These agents work, or have ended."""
        for agent in agents:
            if agent.number == self.number:
                self._head.show(agent)
                if not self._filled and not self._listen() and not agent.running:
                    self.run_worker(self._read_late(), exclusive=True)

    def hide(self) -> None:
        """Stop listening."""
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._hears = self._unsubscribe = self._session = None
        self.number, self._filled = 0, False

    def _listen(self) -> bool:
        """Follow the agent's session, if it has begun and has not ended."""
        from pinfold.agent.session import Session

        assert self._session is not None
        child = self._session.children.live(self.number)
        if child is None or not isinstance(child.session, Session):
            return False
        session = self._hears = child.session
        self.transcript.load(session.items, session.window)
        self._feed = Feed(session, self.transcript, self._gauge)
        for delta in child.streamed:
            self._feed.hear(Streamed(delta))
        self._unsubscribe = session.subscribe(safely(self.app, self._hear))
        self._read_gauge()
        self._filled = True
        return True

    def _hear(self, update: Update) -> None:
        self._feed.hear(update)
        self._read_gauge()

    def _read_gauge(self) -> None:
        assert self._hears is not None
        self._gauge.model = self._hears.model
        self._gauge.auto = shown_auto(self._hears)
        self._gauge.reading = self._hears.reading()

    async def _read_late(self) -> None:
        """Show what its rollout has, of one that ended before it could be followed."""
        from pinfold.rollout.journal import JournalError

        try:
            await self._read()
        except JournalError as error:
            self.transcript.note(str(error), "error")

    async def _read(self) -> None:
        """Show what its rollout has."""
        assert self._session is not None
        children, number = self._session.children, self.number
        self.transcript.set_welcome(QUEUED)
        self.transcript.load(())
        self._gauge.reading = None
        agent = children.status(number)
        if agent is None or agent.state == "queued":
            return
        past = await children.past(number)
        if number == self.number and self._hears is None:
            self._filled = True
            self.transcript.load(past.items, past)
            self._gauge.model, self._gauge.reading = past.model, past.reading
