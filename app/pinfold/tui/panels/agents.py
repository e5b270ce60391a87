"""The agents of a session: what each does and costs, and which can be started."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType

from pinfold.agent.children.definition import Agent
from pinfold.agent.updates import ChildChanged
from pinfold.numbers import dollars, tokens
from pinfold.sanitize import clean, one_line
from pinfold.tui.panels.agents_list import BUILT_IN, AgentsList
from pinfold.tui.panels.ask import AskPanel
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.item import ItemPanel
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.table_panel import TablePanel
from pinfold.tui.transcript import agents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pinfold.agent.children.status import ChildStatus
    from pinfold.agent.session import Session
    from pinfold.agent.updates import Update

KEYS = [
    *moves("agents"),
    *keys(
        "agents",
        ("enter", "open", "Open its transcript, or the prompt of one not started", "open"),
        ("s", "stop", "Stop it; what it did is kept", "stop"),
        ("escape,q", "leave", "Close"),
    ),
]
NONE = "No agent has run in this session. The model starts agents itself."
STOPPED = "the user stopped it"
FILES = 6
"""Changed files that are named."""


class AgentsPanel(TablePanel[int | None]):
    """Its result is the number of the agent whose transcript to open."""

    HEADING = "Agents"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, session: Session, chosen: str = "") -> None:
        """`chosen` is the number of the agent that the cursor begins on."""
        self._list: AgentsList = AgentsList()
        super().__init__(self._list, session)
        self._session = session
        self._chosen = chosen

    # What is shown

    def begin(self) -> None:
        super().begin()
        if self._chosen in self._list.rows:
            self._list.go(list(self._list.rows).index(self._chosen))
        self.set_interval(1, self._tick)

    def _tick(self) -> None:
        if self._session.children.running:  # their time goes on
            self.read()

    def hear(self, update: Update) -> None:
        if isinstance(update, ChildChanged):
            self.read_soon()

    def read(self) -> None:
        children = self._session.children
        found = [status for child in children.known if (status := children.status(child.child))]
        self._list.show_agents(found, children.agents)
        self._facts.update(_summary(found) if found else NONE)

    @on(Table.Moved)
    def _moved(self) -> None:
        if (agent := self._list.started) is not None:
            said = [agents.SAID[agent.state] or "working", agents.facts(agent, 60, state=False)]
            if agent.files:
                said.append(f"changed {agents.named(agent.files, FILES)}")
            if agent.worktree:
                said.append(f"in its worktree {agent.worktree}")
            about = agent.line if agent.running else one_line(agent.reason)
            self._foot.show(agent.name, one_line(agent.description), *said, effect=about)
        elif isinstance(kind := self._list.row, Agent):
            self._foot.show(one_line(kind.name), *_settings(kind))

    # Keys

    @on(Table.Taken)
    def action_open(self) -> None:
        if (agent := self._list.started) is not None:
            self.dismiss(agent.number)
        elif isinstance(kind := self._list.row, Agent):
            said = "\n".join(
                (clean(kind.description), "", *_settings(kind), "", clean(kind.prompt))
            )
            self.app.push_screen(ItemPanel(f"Agent {one_line(kind.name)}", said))

    @work
    async def action_stop(self) -> None:
        agent = self._list.started
        if agent is None or not agent.running:
            said = f"Agent {agent.name} has already ended." if agent else "It is not running."
            self._foot.say(said, "warning")
            return
        question = f"Stop agent {agent.name}, “{one_line(agent.description)}”? What it did is kept."
        if await self.app.push_screen_wait(AskPanel(question, "stops it")):
            self._session.children.stop(agent.number, STOPPED)
            self._foot.say(f"Stopping agent {agent.name}.")


def _summary(found: Sequence[ChildStatus]) -> str:
    """`4 agents, 2 running · 61k tokens · $0.12`."""
    running = sum(agent.running for agent in found)
    said = [f"{len(found)} agent{'s' if len(found) != 1 else ''}"]
    said[0] += f", {running} running" if running else ""
    said.append(f"{tokens(sum(agent.tokens for agent in found))} tokens")
    costs = [agent.cost for agent in found if agent.cost is not None]
    return " · ".join([*said, dollars(sum(costs))] if costs else said)


def _settings(kind: Agent) -> list[str]:
    tools = "all tools" if kind.tools is None else f"tools: {', '.join(map(one_line, kind.tools))}"
    return [
        one_line(kind.source) or BUILT_IN,
        tools,
        f"model {one_line(kind.model)}" if kind.model else "the session's model",
        f"approvals: at most {kind.approvals}",
        *(["always in its own worktree"] if kind.worktree else []),
        *map(one_line, kind.notes),
    ]


async def _open(host: PanelHost, number: str) -> None:
    chosen = await host.push_screen_wait(AgentsPanel(host.session, number))
    if chosen is not None:
        host.show_agent(chosen, back=lambda: host.open("agents", str(chosen)))


PANEL = Panel("Among agents (/agents)", KEYS, _open)
