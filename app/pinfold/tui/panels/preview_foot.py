"""The foot of the preview: the row under the cursor, the keys, and what is under way."""

from collections.abc import Mapping

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from pinfold.commands.context_text import KINDS
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.gauge import LETTERS
from pinfold.tui.panels.foot import Foot, Level
from pinfold.tui.panels.keys import own_keys
from pinfold.tui.panels.preview_rows import INSERTED, VERDICTS, PreviewRow
from pinfold.tui.panels.preview_steps import PlanProgress
from pinfold.window.counts import SEGMENTS

_BAR = 12
"""Cells of the bar."""


class PreviewFoot(Foot):
    """The last line shows the steps while they are walked, else what was said."""

    DEFAULT_CSS = """
    PreviewFoot {
        & > .about { max-height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > .legend { max-height: 3; color: $foreground 60%; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._legend = Static(classes="legend", markup=False)
        self._text = Text()

    def compose(self) -> ComposeResult:
        yield self._legend
        yield from super().compose()

    def explain(self, columns: Mapping[str, int]) -> None:
        """Say what letters and signs mean that have no word beside them."""
        said = []
        if columns["kind"] == 1:
            letters: dict[str, list[str]] = {}
            for kind, word in KINDS.items():
                letters.setdefault(LETTERS[SEGMENTS[kind]], []).append(word)
            said += [f"{letter}={words[0]}" for letter, words in letters.items()]
        if not columns["verdict"]:
            signs = (*VERDICTS.values(), INSERTED)
            said += [f"{sign}={word}" for sign, word in signs if sign.strip()]
        self._legend.update(" ".join(said))
        self._legend.display = bool(said)

    def show_row(self, row: PreviewRow | None, entries: int = 0) -> None:
        """What is under the cursor, and how many entries of a summary it has."""
        if row is None:
            self.show("")
            return
        if row.run:
            counted = f"{row.before:,} → {row.after:,} tokens"
            opens = f"{own_keys(self.screen).get('preview.read')} opens them"
            self.show(f"{len(row.run):,} items", row.verdict, one_line(row.reason), counted, opens)
            return
        number = f"#{row.n} " if row.n is not None else ""
        reason = f": {one_line(row.reason)}" if row.reason else ""
        counted = f"{row.before:,} → {row.after:,} tokens"
        listed = (
            f"{own_keys(self.screen).get('preview.claims')} lists {entries} entries"
            if entries
            else ""
        )
        self.show(f"{number}{KINDS[row.kind]}", f"{row.verdict}{reason}", counted, listed)

    def walk(self, standing: PlanProgress | None) -> None:
        """Show the steps and which is under way; None: none is."""
        if standing is None:
            self._said.update(self._text)
            return
        cells = round(_BAR * min(max(standing.done, 0.0), 1.0))
        line = Text().append("━" * cells, ink(self.app, "accent"))
        line.append("─" * (_BAR - cells), ink(self.app, "foreground 45%"))
        here = standing.walk.index(standing.at)
        for at, strategy in enumerate(standing.walk):
            sign, name = ("●", "success") if at < here else ("○", "foreground 45%")
            if at == here:
                sign, name = "◐", "accent"
                strategy = f"{strategy} {one_line(standing.about)}".rstrip()  # noqa: PLW2901
            line.append("  ").append(f"{sign} ", ink(self.app, name)).append(strategy)
        if standing.detail:
            said = f"\n{one_line(standing.detail)} · Esc stops it"
            line.append(said, ink(self.app, "foreground 60%"))
        self._said.update(line)

    def say(self, text: str, level: Level = "info") -> None:
        super().say(text, level)
        self._text = self.said(text, level)
