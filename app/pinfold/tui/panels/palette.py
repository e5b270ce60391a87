"""The command palette's view of the registry."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from pinfold.commands.action import Action
from pinfold.commands.registry import ACTIONS
from pinfold.tui.panels.modal import LEAVE
from pinfold.tui.panels.registry import Panel


class Palette(CommandPalette):
    """Textual's, with the keys of a panel."""

    BINDINGS: ClassVar[list[BindingType]] = [*LEAVE]


class Actions(Provider):
    """Every action that is a command."""

    async def discover(self) -> Hits:
        for action in ACTIONS:
            if action.run is not None and action.id != "palette":
                yield DiscoveryHit(_name(action), self._runner(action.id))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in ACTIONS:
            name = _name(action)
            if action.run is not None and action.id != "palette" and (score := matcher.match(name)):
                yield Hit(score, matcher.highlight(name), self._runner(action.id), text=name)

    def _runner(self, action_id: str) -> Callable[[], Coroutine[Any, Any, bool]]:
        return partial(self.app.run_action, f"run_command('{action_id}')")


def _name(action: Action) -> str:
    return f"{action.title}  /{action.slash[0]}" if action.slash else action.title


PANEL = Panel("", (), lambda *_: Palette(placeholder="What would you like to do?"))
