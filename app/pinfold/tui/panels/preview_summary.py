"""What is above the preview's list: the figures, the strategies, the notes."""

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.commands.failures import told
from pinfold.compaction.report import DryRunReport
from pinfold.compaction.strategies.snapshot import LEFT_OUT, MARKED
from pinfold.sanitize import clean, one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels import preview_head as head
from pinfold.tui.panels.preview_head import Outcome

FEW, TALL, SHORT = 4, 36, 20
"""Strategies that have one line each on any screen; lines of one that has room for more; and of one
that has room for next to nothing."""


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
        & > .why, & > .notes { height: auto; max-height: 4; }
        &.-short > .strategies { text-wrap: wrap; max-height: 3; }
        &.-short > .notes { max-height: 2; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._report: DryRunReport | None = None
        self._focus = ""
        """The focus given to the model."""
        self._why = Static(classes="why", markup=False)
        self._totals = Static(classes="line", markup=False)
        self._bar = Static(classes="line", markup=False)
        self._counts = Static(classes="line", markup=False)
        self._strategies = Static(classes="strategies", markup=False)
        self._notes = Static(classes="notes", markup=False)

    def compose(self) -> ComposeResult:
        yield self._why
        yield self._totals
        yield self._bar
        yield self._counts
        yield self._strategies
        yield self._notes

    def on_mount(self) -> None:
        self._why.display = self._notes.display = False

    def on_resize(self) -> None:
        self._draw_lines()

    @property
    def _is_short(self) -> bool:
        return self.screen.size.height < SHORT

    def say_why(self, text: str) -> None:
        """Say at the top why the preview opened."""
        self._why.update(Text(clean(text), ink(self.app, "warning")))
        self._why.display = True

    def show(self, outcome: Outcome, claims: str = "") -> None:
        """What the chosen strategy would do, or why it can't; `claims` is the key that shows what
        a summary leaves out."""
        if isinstance(outcome, Exception):
            self._report = None
            self._totals.update(Text("Nothing to compact.", "bold"))
            self._note([f"✗ {told(outcome)}"], "error")
        else:
            self._report = outcome
            notes = [f"! {_with_key(note, claims)}" for note in outcome.notes]
            self._note(notes, "warning", outcome.told)
        self._draw_lines()

    def offer(self, strategy: str, key: str, focus: str) -> None:
        """The plan costs a model's work, which begins with `key`."""
        self._empty(f"{one_line(strategy)} uses the model: {key} runs it", focus)

    def wait(self, strategy: str, focus: str) -> None:
        """A model is at work on the plan."""
        self._empty(f"{one_line(strategy)}: the model is writing. The window is unchanged.", focus)

    def _empty(self, text: str, focus: str) -> None:
        self._report = None
        self._focus = f"Focus: {focus}" if focus else ""
        self._totals.update(Text(text, "bold"))
        for widget in (self._bar, self._counts):
            widget.update("")
        self._note([], "warning", [self._focus] if self._focus else [])

    def say_price(self, text: str) -> None:
        """What the model's work costs."""
        if self._report is None:
            self._note([text], "warning", [self._focus] if self._focus else [])

    def compare(
        self, names: Sequence[str], chosen: str, outcomes: Mapping[str, Outcome | None]
    ) -> None:
        """What each strategy would do, as far as it is known (see `head.strategies`)."""
        self.set_class(self._is_short, "-short")
        if self._is_short:
            self._strategies.update(head.in_brief(self.app, names, chosen, outcomes))
            return
        crowded = len(names) > FEW and self.screen.size.height < TALL
        columns = 2 if crowded and self.size.width >= 2 * head.HALF - 1 else 1
        self._strategies.update(head.strategies(self.app, names, chosen, outcomes, columns))

    def _note(self, lines: Sequence[str], colour: str, told: Sequence[str] = ()) -> None:
        """Notes in `colour`, and plain ones below them."""
        self._notes.display = bool(lines or told)
        rows = [Text(clean(line), ink(self.app, colour)) for line in lines]
        rows += [Text(clean(line), ink(self.app, "foreground 60%")) for line in told]
        self._notes.update(Text("\n").join(rows))

    def _draw_lines(self) -> None:
        """The figures, as wide as there is room."""
        report, width = self._report, self.size.width
        self._counts.display = report is not None
        self._bar.display = report is not None and not self._is_short
        if report is not None:
            self._totals.update(head.totals(self.app, report, width))
            self._bar.update(head.bar(self.app, report, width))
            self._counts.update(head.counts(self.app, report, width))


def _with_key(note: str, claims: str) -> str:
    return f"{note} {claims} shows what." if note.startswith((LEFT_OUT, MARKED)) else note
