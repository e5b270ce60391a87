"""The rows of the races' panel: each race, and below it its agents."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style

from pinfold.agent.children.races import RacerOutcome, Ran
from pinfold.agent.children.status import ChildStatus
from pinfold.numbers import dollars, duration, tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.table import Cell, Heading, Sizes, Table
from pinfold.tui.transcript.agents import SAID, STATES
from pinfold.tui.transcript.states import LOOKS, SIGNS

_INKS = {"running": "primary", "ok": "success", "error": "error", "warning": "warning"}
KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Racer:
    status: ChildStatus
    race: int
    model: str
    """That the user gave it."""
    outcome: RacerOutcome | None
    """None while its folder has not been read."""
    test: Ran | None
    """The user's command in its folder, else the last that it ran itself."""
    kept: bool


class RaceList(Table[Racer]):
    SIZES: ClassVar[Sizes] = {
        "sign": 1,
        "name": 3,
        "words": 0,
        "files": 5,
        "lines": 11,
        "exit": 7,
        "tokens": 7,
        "cost": 7,
        "time": 7,
    }
    RIGHT = ("files", "lines", "exit", "tokens", "cost", "time")
    HEADS: ClassVar[Mapping[str, str]] = {name: name for name in RIGHT}
    GIVE_WAY: ClassVar[Sizes] = {"cost": 6, "tokens": 6, "lines": 9}
    ENOUGH = 14
    STAYS = True

    def show_races(self, races: Sequence[tuple[str, Sequence[Racer]]]) -> None:
        """Show races, each with its prompt."""
        rows: dict[str, Racer | Heading] = {}
        for place, (prompt, racers) in enumerate(races):
            rows[f"race {place}"] = Heading(one_line(prompt), columns=not place)
            rows |= {str(racer.status.number): racer for racer in racers}
        self.show(rows)

    def cells(self, row: Racer) -> Iterable[Cell]:
        dim, plain = self.ink("foreground 60%"), self.ink("foreground")
        status, outcome = row.status, row.outcome
        state = STATES[status.state]
        yield SIGNS[state], self.ink(_INKS[LOOKS[state]])
        yield f"a{status.number}", plain + Style(bold=True)
        said = KEPT if row.kept else SAID[status.state] or one_line(status.line) or "working"
        model = f" · {one_line(row.model)}" if row.model else ""
        yield said + model, self.ink("success") if row.kept else plain
        read = outcome is not None and not outcome.problem
        yield str(len(outcome.files)) if outcome is not None and read else "–", plain
        lines = f"+{outcome.added} −{outcome.removed}" if outcome is not None and read else "–"
        yield lines, plain
        yield _test(row.test), self.ink(_ink(row.test))
        yield tokens(status.tokens) if status.tokens else "–", plain
        yield dollars(status.cost) if status.cost is not None else "–", dim
        yield duration(status.seconds) if status.state != "queued" else "queued", dim


def _test(ran: Ran | None) -> str:
    if ran is None:
        return "–"
    return "✗ none" if ran.code is None else f"{'✗' if ran.code else '✓'} {ran.code}"


def _ink(ran: Ran | None) -> str:
    if ran is None:
        return "foreground 60%"
    return "error" if ran.code or ran.code is None else "success"
