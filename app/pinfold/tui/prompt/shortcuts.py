"""The keys at a glance, above the prompt."""

from collections.abc import Callable

from rich.text import Text
from textual.events import Resize
from textual.widgets import Static

WIDTH = 37
"""Columns that one key and what it does take."""
KEY = 11
"""Columns of these for the key."""


class Shortcuts(Static):
    """Takes no key: what is typed continues into the prompt."""

    DEFAULT_CSS = """
    Shortcuts {
        layer: popup;
        dock: bottom;
        height: auto;
        border: round $rule;
        border-title-style: bold;
        border-title-color: $foreground;
        border-subtitle-color: $foreground 60%;
        padding: 0 1;
        background: $background;
    }
    """

    def __init__(self, key: Callable[[str], str]) -> None:
        """`key` names the key of an action."""
        super().__init__(markup=False)
        self.border_title = "Shortcuts"
        self.border_subtitle = f"Esc closes · {key('help')} all keys and commands"
        stop = key("interrupt")
        self._rows = [
            ("/", "commands"),
            ("@", "files in this folder"),
            ("!", "run a shell command"),
            (key("newline"), "new line"),
            (key("older"), "earlier prompts"),
            (key("search_prompts"), "search earlier prompts"),
            (key("editor"), "write in $EDITOR"),
            (key("cycle_approvals"), "next approval mode"),
            (stop, "interrupt"),
            (f"{stop} {stop}", "rewind (empty prompt)"),
            (key("switch_focus"), "go to the transcript"),
            (key("find"), "find in the transcript"),
            (key("page_up"), "scroll back"),
            (key("leave"), "interrupt, clear, quit"),
        ]
        self.display = False

    def toggle(self, bottom: int) -> None:
        """Open `bottom` rows above the screen's end, or close."""
        self.styles.margin = (0, 0, bottom, 0)
        self.display = not self.display

    def on_resize(self, event: Resize) -> None:
        columns = max(1, event.size.width // WIDTH)
        height = -(-len(self._rows) // columns)
        lines = []
        for row in range(height):
            line = Text(no_wrap=True, overflow="ellipsis")
            for key, what in self._rows[row::height]:
                line.append(key.ljust(KEY), "bold")
                line.append(what.ljust(WIDTH - KEY))
            lines.append(line)
        self.update(Text("\n").join(lines))
