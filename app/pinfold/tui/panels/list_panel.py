"""A panel around a table: the keys of `keys.moves`."""

from typing import Any

from textual.screen import ScreenResultType

from pinfold.tui.panels.modal import Modal
from pinfold.tui.panels.table import Table


class ListPanel(Modal[ScreenResultType]):
    """What it shows is `_list`."""

    _list: Table[Any]

    def action_move(self, step: int) -> None:
        self._list.move(step)

    def action_page(self, way: int) -> None:
        self._list.page(way)

    def action_edge(self, way: int) -> None:
        self._list.edge(way)
