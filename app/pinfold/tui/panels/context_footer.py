"""The foot of the context panel: the row under the cursor, and what each action would free."""

from collections.abc import Mapping
from typing import Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.commands.context_text import kind, marks, words
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.context_effects import NAMES, effects_said
from pinfold.tui.panels.context_rows import AnyRow
from pinfold.tui.panels.keys import own_keys
from pinfold.window.actions import Act, Effect
from pinfold.window.overview import Row

Level = Literal["info", "warning", "error"]


class Footer(Vertical):
    """What is under the cursor, what could be done, what was done."""

    DEFAULT_CSS = """
    Footer {
        height: auto;
        border-top: solid $rule;
        & > Static { height: auto; max-height: 3; }
        & > .line { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > .said { min-height: 1; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._keys: dict[Act, str] = {}
        self._row = Static(classes="line", markup=False)
        self._can = Static(markup=False)
        self._cannot = Static(classes="line", markup=False)
        self._said = Static(classes="said", markup=False)

    def compose(self) -> ComposeResult:
        yield self._row
        yield self._can
        yield self._cannot
        yield self._said

    def on_mount(self) -> None:
        own = own_keys(self.screen)
        self._keys = {act: own.get(f"context.{act}", "") for act in NAMES}
        # Where it is narrow, no frame lists them.
        self.say("F1 lists the keys." if self.app.size.width < 60 else "")

    def show(self, row: AnyRow | None, selected: int, tokens_selected: int, hidden: int) -> None:
        """What the actions are about: `row`, or `selected` items, `hidden` of them by a filter."""
        line = Text()
        if selected:
            line.append(f"{selected:,} selected, {tokens(tokens_selected)} tokens", "bold")
            line.append(f" · {hidden:,} of them not shown" if hidden else "")
        elif row is not None:
            head, rest = _about(row)
            line.append(head, "bold")
            line.append(f" · {rest}" if rest else "", ink(self.app, "foreground 60%"))
        else:
            line.append("Nothing fits this filter.")
        self._row.update(line)

    def work_out(self, effects: Mapping[Act, Effect | str]) -> None:
        """What each action would do, or why it can't be done."""
        can, cannot = effects_said(self.app, self._keys, effects)
        self._can.update(can)
        self._cannot.update(cannot)

    def can_not(self, why: str) -> None:
        """Nothing at all can be done."""
        self._can.update(Text(why, ink(self.app, "foreground 60%")))

    def say(self, text: str, level: Level = "info") -> None:
        """What was done, or why not."""
        colour = {"info": "foreground", "warning": "warning", "error": "error"}[level]
        sign = {"info": "", "warning": "! ", "error": "✗ "}[level]
        self._said.update(Text(sign + text, ink(self.app, colour)))


def _about(row: AnyRow) -> tuple[str, str]:
    """A row in full: what it is; and its marks, pin, files and turn."""
    if not isinstance(row, Row):
        return f"{kind(row)} {words(row)}", f"{row.tokens:,} tokens"
    said = list(marks(row))
    if row.pin is not None:
        name = f"#{row.pin}" if isinstance(row.pin, int) else one_line(row.pin)
        said[0] = f"pinned by {name}" if row.pin != row.n else "pinned"
    in_full = f", {row.full:,} in full" if row.full != row.tokens else ""
    facts = [*said, f"{row.tokens:,} tokens{in_full}", *map(one_line, row.files)]
    return f"#{row.n} {kind(row)} {one_line(row.name)}".rstrip(), " · ".join(facts)
