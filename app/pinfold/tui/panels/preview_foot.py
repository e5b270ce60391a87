"""The foot of the preview: the row under the cursor, the keys, and what is under way."""

from collections.abc import Mapping
from typing import Literal, get_args

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.commands.context_text import KINDS
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.keys import shown
from pinfold.tui.panels.preview_keys import ACTS, CHANGES
from pinfold.tui.panels.preview_rows import PreviewRow

Step = Literal["reading the session", "planning", "comparing", "writing"]
STEPS: tuple[Step, ...] = get_args(Step)
Level = Literal["info", "warning", "error"]
_NAMES = {
    "preview.apply": "apply",
    "preview.keep": "keep",
    "preview.fold": "fold",
    "preview.pin": "pin",
    "preview.unpin": "unpin",
    "preview.edit": "edit",
    "preview.loss": "losses",
    "preview.defaults": "default",
    "preview.undo": "undo",
}
"""In the order of the line."""


class PreviewFoot(Vertical):
    """Three lines; the last shows the steps while they are walked, else what was said."""

    DEFAULT_CSS = """
    PreviewFoot {
        height: auto;
        border-top: solid $rule;
        & > Static { height: auto; max-height: 2; }
        & > .line { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > .said { min-height: 1; max-height: 3; }
    }
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        """`keys` are the user's own, by action."""
        super().__init__()
        usual = {each.id: each.key for each in (*CHANGES, *ACTS) if each.id}
        self._own_keys = {
            name: shown(keys.get(each, usual[each]).split(",")[0]) for each, name in _NAMES.items()
        }
        self._row = Static(classes="line", markup=False)
        self._keys = Static(markup=False)
        self._said = Static(classes="said", markup=False)
        self._text = Text()

    def compose(self) -> ComposeResult:
        yield self._row
        yield self._keys
        yield self._said

    def on_mount(self) -> None:
        line, strong = Text(), ink(self.app, "foreground") + Style(bold=True)
        for name, key in self._own_keys.items():
            line.append("  " if line else "").append(key, strong).append(f" {name}", "dim")
        self._keys.update(line)

    def show(self, row: PreviewRow | None) -> None:
        """What is under the cursor."""
        if row is None:
            self._row.update("")
            return
        number = f"#{row.n} " if row.n is not None else ""
        reason = f": {one_line(row.reason)}" if row.reason else ""
        line = Text().append(f"{number}{KINDS[row.kind]}", "bold")
        line.append(f" · {row.verdict}{reason}", ink(self.app, "foreground"))
        counted = f" · {row.before:,} → {row.after:,} tokens"
        self._row.update(line.append(counted, ink(self.app, "foreground 60%")))

    def step(self, step: Step | None, what: str = "") -> None:
        """The step under way, and at what; None: all is done."""
        if step is None:
            self._said.update(self._text)
            return
        line = Text()
        for each in STEPS:
            past = STEPS.index(each) < STEPS.index(step)
            sign, name = ("●", "success") if past else ("○", "foreground 45%")
            if each == step:
                sign, name = "◐", "accent"
            line.append("  " if line else "").append(f"{sign} ", ink(self.app, name))
            line.append(f"{each} {one_line(what)}".rstrip() if each == step else each)
        self._said.update(line)

    def say(self, text: str, level: Level = "info") -> None:
        """What was done, or why not."""
        colour = {"info": "foreground", "warning": "warning", "error": "error"}[level]
        sign = {"info": "", "warning": "! ", "error": "✗ "}[level]
        self._text = Text(sign + text, ink(self.app, colour))
        self._said.update(self._text)
