"""The lines of the races' panel: each race, and below it those who take part."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style

from pinfold.agent.children.races import RacerOutcome, Ran
from pinfold.agent.children.status import ChildStatus
from pinfold.numbers import dollars, duration, tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.fitting import cell
from pinfold.tui.panels.table import Cell, Sizes, Table
from pinfold.tui.transcript.agents import SAID, STATES
from pinfold.tui.transcript.states import LOOKS, SIGNS

_INKS = {"running": "primary", "ok": "success", "error": "error", "warning": "warning"}
_HEADS = ("files", "lines", "test", "tokens", "cost", "time")
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


RaceRow = Racer | str


class RaceList(Table[RaceRow]):
    SIZES: ClassVar[Sizes] = {
        "sign": 1,
        "name": 3,
        "words": 0,
        "files": 5,
        "lines": 11,
        "test": 7,
        "tokens": 7,
        "cost": 7,
        "time": 7,
    }
    RIGHT = _HEADS
    GIVE_WAY: ClassVar[Sizes] = {"cost": 6, "tokens": 6, "lines": 9}
    ENOUGH = 14
    STAYS = True

    @property
    def racer(self) -> Racer | None:
        """The one under the cursor."""
        return self.row if isinstance(self.row, Racer) else None

    def is_heading(self, row: RaceRow) -> bool:
        return isinstance(row, str)

    def show_races(self, races: Sequence[tuple[str, Sequence[Racer]]]) -> None:
        """Each with its prompt."""
        rows: dict[str, RaceRow] = {}
        for place, (prompt, racers) in enumerate(races):
            rows[f"race {place}"] = one_line(prompt)
            rows |= {str(racer.status.number): racer for racer in racers}
        self.show(rows)

    def draw(self, row: RaceRow, *, chosen: bool) -> Iterable[Segment]:
        return self._heading(row) if isinstance(row, str) else super().draw(row, chosen=chosen)

    def _heading(self, row: str) -> Iterator[Segment]:
        columns, heads = self.columns, ""
        if row is self.lines[0]:  # it also names the columns
            heads = "".join(cell(name, columns[name], right=True) for name in _HEADS)
        room = self.scrollable_content_region.width - len(heads) - 2
        yield Segment(" " + cell(row, room), self.ink("primary") + Style(bold=True))
        yield Segment(heads, self.ink("foreground 60%"))

    def cells(self, row: RaceRow) -> Iterable[Cell]:
        assert isinstance(row, Racer)
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
