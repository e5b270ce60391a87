"""The foot of a panel: what is under the cursor, the keys, what was done."""

from typing import Literal

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.tui.colours import ink
from pinfold.tui.panels.keys import own_keys

Level = Literal["info", "warning", "error"]


class Foot(Vertical):
    """Three lines; the first and the last may wrap."""

    DEFAULT_CSS = """
    Foot {
        height: auto;
        border-top: solid $rule;
        & > Static { height: auto; max-height: 3; }
        & > .about { min-height: 1; max-height: 4; }
        & > .said { min-height: 1; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._about = Static(classes="about", markup=False)
        self._keys = Static(markup=False)
        self._said = Static(classes="said", markup=False)

    def compose(self) -> ComposeResult:
        yield self._about
        yield self._keys
        yield self._said

    def on_mount(self) -> None:
        line, strong = Text(), ink(self.app, "foreground") + Style(bold=True)
        own = own_keys(self.screen)
        for binding in self.screen.BINDINGS:
            if isinstance(binding, Binding) and binding.show and binding.id in own:
                line.append("  " if line else "").append(own[binding.id], strong)
                line.append(f" {binding.description}", "dim")
        self._keys.update(line)
        # Where it is narrow, no frame tells how to leave.
        self.say("F1 lists the keys." if self.app.size.width < 60 else "")

    def show(self, head: str, *rest: str, effect: str = "") -> None:
        """What is under the cursor; and, on its own line, what a key would do to it."""
        line = Text().append(head, "bold")
        for fact in filter(None, rest):
            line.append(f" · {fact}", ink(self.app, "foreground 60%"))
        self._about.update(line.append(f"\n{effect}" if effect else ""))

    def say(self, text: str, level: Level = "info") -> None:
        """What was done, or why not."""
        self._said.update(self.said(text, level))

    def said(self, text: str, level: Level) -> Text:
        """What `say` shows."""
        colour = {"info": "foreground", "warning": "warning", "error": "error"}[level]
        sign = {"info": "", "warning": "! ", "error": "✗ "}[level]
        return Text(sign + text, ink(self.app, colour))
