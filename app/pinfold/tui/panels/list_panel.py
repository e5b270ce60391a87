"""A panel around a list: the keys of `list_keys.moves`."""

from textual.screen import ScreenResultType

from pinfold.tui.panels.line_list import LineList
from pinfold.tui.panels.modal import Modal


class ListPanel(Modal[ScreenResultType]):
    """What it shows is `_list`."""

    _list: LineList

    def action_move(self, step: int) -> None:
        self._list.move(step)

    def action_page(self, way: int) -> None:
        self._list.page(way)

    def action_edge(self, way: int) -> None:
        self._list.move(way * len(self._list.lines))
