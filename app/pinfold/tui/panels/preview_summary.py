"""What stands above the preview's list: the figures, the strategies, the notes."""

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.commands.failures import told
from pinfold.compaction.report import Report
from pinfold.sanitize import clean
from pinfold.tui.colours import ink
from pinfold.tui.panels import preview_head as head
from pinfold.tui.panels.preview_head import Outcome


class PreviewSummary(Vertical):
    """The chosen strategy in full, then a line for each."""

    DEFAULT_CSS = """
    PreviewSummary {
        height: auto;
        & > .line { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > .strategies {
            height: auto;
            max-height: 5;
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

    def show(self, outcome: Outcome) -> None:
        """What the chosen strategy would do, or why it can't."""
        if isinstance(outcome, Exception):
            self._report = None
            self._totals.update(Text("As it is: this strategy has no plan.", "bold"))
            self._note([f"✗ {told(outcome)}"], "error")
        else:
            self._report = outcome
            self._totals.update(head.totals(self.app, outcome))
            self._counts.update(head.counts(self.app, outcome))
            self._note([f"! {note}" for note in outcome.notes], "warning")
        self._bar.display = self._counts.display = self._report is not None
        self._draw_bar()

    def compare(self, names: Sequence[str], chosen: str, outcomes: Mapping[str, Outcome]) -> None:
        """What each strategy would do, as far as it is known."""
        self._strategies.update(head.strategies(self.app, names, chosen, outcomes))

    def _note(self, lines: list[str], colour: str) -> None:
        self._notes.display = bool(lines)
        self._notes.update(Text("\n".join(map(clean, lines)), ink(self.app, colour)))

    def _draw_bar(self) -> None:
        if self._report is not None:
            self._bar.update(head.bar(self.app, self._report, self.size.width))
