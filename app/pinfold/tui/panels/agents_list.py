"""The rows of the agents' panel: agents that were started, then those that can be."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style

from pinfold.agent.children.definition import Agent
from pinfold.agent.children.status import ChildStatus
from pinfold.numbers import dollars, duration, tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.fitting import cell
from pinfold.tui.panels.table import Cell, Heading, Sizes, Table
from pinfold.tui.transcript.agents import STATES
from pinfold.tui.transcript.states import LOOKS, SIGNS

BUILT_IN = "built in"
_INKS = {"running": "primary", "ok": "success", "error": "error", "warning": "warning"}
_SOURCE = 26
"""Cells of where an agent is defined."""

AgentRow = ChildStatus | Agent
"""A started agent, or one that can be started."""


class AgentsList(Table[AgentRow]):
    SIZES: ClassVar[Sizes] = {"sign": 1, "name": 12, "words": 0, "tokens": 7, "cost": 7, "time": 7}
    RIGHT = ("tokens", "cost", "time")
    HEADS: ClassVar[Mapping[str, str]] = {name: name for name in RIGHT}
    GIVE_WAY: ClassVar[Sizes] = {"cost": 0, "tokens": 0}
    ENOUGH = 16
    STAYS = True

    @property
    def started(self) -> ChildStatus | None:
        """The agent under the cursor, if it was started."""
        return self.row if isinstance(self.row, ChildStatus) else None

    def show_agents(self, started: Sequence[ChildStatus], known: Mapping[str, Agent]) -> None:
        names = [one_line(name) for name in known] + [agent.name for agent in started]
        self.sizes["name"] = min(16, max(map(len, names), default=0))
        rows: dict[str, AgentRow | Heading] = {}
        if started:
            rows["started"] = Heading("In this session", columns=True)
        rows |= {str(agent.number): agent for agent in started}
        if known:
            rows["known"] = Heading("Can be started")
        rows |= {f"/{name}": agent for name, agent in known.items()}
        self.show(rows)

    def draw(self, row: AgentRow, *, chosen: bool) -> Iterable[Segment]:
        if isinstance(row, ChildStatus):
            return super().draw(row, chosen=chosen)
        return self._definition(row, chosen=chosen)

    def cells(self, row: AgentRow) -> Iterable[Cell]:
        assert isinstance(row, ChildStatus)
        dim, plain = self.ink("foreground 60%"), self.ink("foreground")
        state = STATES[row.state]
        yield SIGNS[state], self.ink(_INKS[LOOKS[state]])
        yield row.name, plain + Style(bold=True)
        yield one_line(row.description), plain
        yield tokens(row.tokens) if row.tokens else "–", plain
        yield dollars(row.cost) if row.cost is not None else "–", dim
        yield duration(row.seconds) if row.state != "queued" else "queued", dim

    def _definition(self, row: Agent, *, chosen: bool) -> Iterator[Segment]:
        dim, plain = self.ink("foreground 60%"), self.ink("foreground")
        room = self.scrollable_content_region.width - self.MARKS - 2 - self.sizes["name"] - 3
        source = min(_SOURCE, room // 3)
        yield self.cursor(chosen=chosen)
        yield Segment("  ")
        yield Segment(cell(one_line(row.name), self.sizes["name"]), plain + Style(bold=True))
        yield Segment(cell(one_line(row.description), room - source), plain)
        yield Segment(cell(one_line(row.source) or BUILT_IN, source, right=True), dim)
