"""What stands above the preview's list: the figures, the strategies, the notes."""

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.commands.failures import told
from pinfold.compaction.report import Report
from pinfold.compaction.strategies.snapshot import LEFT_OUT
from pinfold.sanitize import clean, one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels import preview_head as head
from pinfold.tui.panels.preview_head import Outcome

FEW, TALL = 4, 36
"""Strategies that have a line each on any screen; lines of one that has room for more."""


class PreviewSummary(Vertical):
    """The chosen strategy in full, then a line for each."""

    DEFAULT_CSS = """
    PreviewSummary {
        height: auto;
        & > .line { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > .strategies {
            height: auto;
            max-height: 10;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        & > .notes { height: auto; max-height: 4; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._report: Report | None = None
        self._totals = Static(classes="line", markup=False)
        self._bar = Static(classes="line", markup=False)
        self._counts = Static(classes="line", markup=False)
        self._strategies = Static(classes="strategies", markup=False)
        self._notes = Static(classes="notes", markup=False)

    def compose(self) -> ComposeResult:
        yield self._totals
        yield self._bar
        yield self._counts
        yield self._strategies
        yield self._notes

    def on_mount(self) -> None:
        self._notes.display = False

    def on_resize(self) -> None:
        self._draw_bar()

    def show(self, outcome: Outcome, claims: str = "") -> None:
        """What the chosen strategy would do, or why it can't; `claims` is the key that shows what
        a summary leaves out."""
        if isinstance(outcome, Exception):
            self._report = None
            self._totals.update(Text("As it is: this strategy has no plan.", "bold"))
            self._note([f"✗ {told(outcome)}"], "error")
        else:
            self._report = outcome
            self._totals.update(head.totals(self.app, outcome))
            self._counts.update(head.counts(self.app, outcome))
            self._note([f"! {_with_key(note, claims)}" for note in outcome.notes], "warning")
        self._bar.display = self._counts.display = self._report is not None
        self._draw_bar()

    def wait(self, strategy: str) -> None:
        """A model is at work on the plan."""
        self._report = None
        self._totals.update(
            Text(f"{one_line(strategy)}: a model writes. The window is as it was.", "bold")
        )
        for each in (self._bar, self._counts):
            each.update("")
        self._note([], "warning")

    def compare(
        self, names: Sequence[str], chosen: str, outcomes: Mapping[str, Outcome | None]
    ) -> None:
        """What each strategy would do, as far as it is known (see `head.strategies`)."""
        crowded = len(names) > FEW and self.screen.size.height < TALL
        columns = 2 if crowded and self.size.width >= 2 * head.HALF - 1 else 1
        self._strategies.update(head.strategies(self.app, names, chosen, outcomes, columns))

    def _note(self, lines: list[str], colour: str) -> None:
        self._notes.display = bool(lines)
        self._notes.update(Text("\n".join(map(clean, lines)), ink(self.app, colour)))

    def _draw_bar(self) -> None:
        if self._report is not None:
            self._bar.update(head.bar(self.app, self._report, self.size.width))


def _with_key(note: str, claims: str) -> str:
    return f"{note} {claims} shows what." if note.startswith(LEFT_OUT) else note
