"""The foot of the context panel: the row under the cursor, and what each action would free."""

from collections.abc import Mapping
from typing import get_args

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from pinfold.commands.context_text import kind, marks, words
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.context_effects import effects_said
from pinfold.tui.panels.context_rows import AnyRow
from pinfold.tui.panels.foot import Foot
from pinfold.tui.panels.keys import own_keys
from pinfold.window.actions import Act, Effect
from pinfold.window.overview import ItemRow


class Footer(Foot):
    """Adds a line that says why actions are impossible."""

    DEFAULT_CSS = """
    Footer {
        & > .about, & > .cannot { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._own: dict[Act, str] = {}
        self._cannot = Static(classes="cannot", markup=False)

    def compose(self) -> ComposeResult:
        yield self._about
        yield self._keys
        yield self._cannot
        yield self._said

    def on_mount(self) -> None:
        own = own_keys(self.screen)
        self._own = {act: own.get(f"context.{act}", "") for act in get_args(Act)}

    def show_row(
        self, row: AnyRow | None, selected: int, tokens_selected: int, hidden: int
    ) -> None:
        """Describe `row`, or the `selected` items, of which a filter hides `hidden`."""
        if selected:
            line = Text().append(f"{selected:,} selected, {tokens(tokens_selected)} tokens", "bold")
            line.append(f" · {hidden:,} of them not shown" if hidden else "")
        elif row is not None:
            self.show(*_row_texts(row))
            return
        else:
            line = Text("Nothing matches this filter.")
        self._about.update(line)

    def work_out(self, effects: Mapping[Act, Effect | str]) -> None:
        """Show what each action would free, or why it is impossible."""
        can, cannot = effects_said(self.app, self._own, effects)
        self._keys.update(can)
        self._cannot.update(cannot)

    def can_not(self, why: str) -> None:
        """Say why no action is possible."""
        self._keys.update(Text(why, ink(self.app, "foreground 60%")))


def _row_texts(row: AnyRow) -> tuple[str, str]:
    """What the row is; then its marks, tokens and files."""
    if not isinstance(row, ItemRow):
        return f"{kind(row)} {words(row)}", f"{row.tokens:,} tokens"
    said = list(marks(row))
    if row.pin is not None:
        name = f"#{row.pin}" if isinstance(row.pin, int) else one_line(row.pin)
        said[0] = f"pinned by {name}" if row.pin != row.n else "pinned"
    in_full = f", {row.full:,} in full" if row.full != row.tokens else ""
    facts = [*said, f"{row.tokens:,} tokens{in_full}", *map(one_line, row.files)]
    return f"#{row.n} {kind(row)} {one_line(row.agent or row.name)}".rstrip(), " · ".join(facts)
