"""The help: every command and key, from the registry."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from pinfold.commands.action import Action
from pinfold.commands.action import Group as Groups
from pinfold.commands.registry import ACTIONS
from pinfold.tui.keys import shown
from pinfold.tui.panels.modal import Modal
from pinfold.tui.panels.registry import Panel, every_panel
from pinfold.tui.transcript.view import Transcript

HEADINGS: dict[Groups, str] = {
    "prompt": "In the prompt",
    "transcript": "Anywhere",
    "approval": "When a call waits for approval",
}
COMMANDS: dict[Groups, str] = {
    "session": "Commands for the session",
    "window": "Commands for the window",
    "model": "Commands for the model",
    "agents": "Commands for agents, MCP servers, skills",
    "screen": "Commands for the screen",
}
WAYS = (
    ("@name", "a file in this folder"),
    ("!command", "runs in your shell; the model sees its output"),
    ("/command", "one of the commands below"),
)


KEYS = 22
"""Columns for a key or a command."""
NARROW = 100
"""Columns below which it takes the whole screen."""


class HelpPanel(Modal[None]):
    """Scrolls; any of Esc, q and F1 closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1", "dismiss(None)", show=False)]

    def __init__(self, keys: Mapping[str, str]) -> None:
        """`keys` are the user's own, by action."""
        super().__init__()
        self._own_keys = keys
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="panel help") as panel:
            panel.border_title = "Help"
            panel.border_subtitle = "Esc closes"
            yield Static(self._page())

    def _page(self) -> RenderableType:
        parts: list[RenderableType] = []
        for group, heading in HEADINGS.items():
            actions = [action for action in ACTIONS if action.group == group]
            rows = [(self._keys(action), action.title, action.id) for action in actions]
            parts += _section(heading, rows)
        parts += _section(
            "In the transcript (letters act on the item at the cursor)",
            self._bound(Transcript.BINDINGS),
        )
        parts += _section("What a prompt can hold", WAYS)
        for group, heading in COMMANDS.items():
            commands = [
                (f"/{action.slash[0]} {action.usage}".rstrip(), _title(action, self._keys(action)))
                for action in ACTIONS
                if action.slash and action.group == group
            ]
            parts += _section(heading, commands)
        for panel in every_panel():
            if panel.keys:
                parts += _section(panel.place, self._bound(panel.keys))
        parts.append(Text("[keys] in config.toml changes keys, by the names on the right.", "dim"))
        return Group(*parts)

    def _keys(self, action: Action) -> str:
        return shown(self._own_keys.get(action.id, action.keys))

    def _bound(self, bindings: Iterable[BindingType]) -> list[tuple[str, ...]]:
        return [
            (
                shown(self._own_keys.get(binding.id or "", binding.key)),
                binding.tooltip or binding.description,
                binding.id or "",
            )
            for binding in bindings
            if isinstance(binding, Binding) and (binding.tooltip or binding.description)
        ]


def _title(action: Action, keys: str) -> str:
    return f"{action.title} ({keys})" if keys else action.title


def _section(heading: str, rows: Sequence[tuple[str, ...]]) -> list[RenderableType]:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", width=KEYS)
    table.add_column()
    table.add_column(style="dim")
    for row in rows:
        table.add_row(*map(Text, row))
    return [Text(heading, style="bold underline"), table, Text()]


PANEL = Panel("", (), lambda host, _: HelpPanel(host.keys))
