"""Before a rewind: the files changed since, and whether to undo that."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from pinfold.commands.rewind import not_undone
from pinfold.sanitize import one_line
from pinfold.tools.restore import Undo
from pinfold.tui.panels.modal import Modal

SIGNS = {"create": "A", "update": "M", "delete": "D"}
"""As git names them."""
_BECOMES = {"create": "is deleted", "update": "is reverted", "delete": "is restored"}


class UndoPanel(Modal[Sequence[Undo] | None]):
    """Its result is what to undo; None if the user does not rewind."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", show=False)]

    def __init__(self, n: int, undos: Sequence[Undo], commands: int) -> None:
        """Before prompt `n`; `commands` have run since."""
        super().__init__()
        self._n = n
        self._undos = undos
        self._commands = commands
        self._ready = [undo for undo in undos if undo.state == "ready"]
        self._changed = [undo for undo in undos if undo.state == "changed"]
        self._options = OptionList(*self._choices(), compact=True)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel undo") as panel:
            panel.border_title = f"Rewind to before #{self._n}"
            panel.border_subtitle = "↑ ↓ choose · Enter rewinds · Esc closes"
            with VerticalScroll(can_focus=False):
                yield Static(self._page(), markup=False)
            yield self._options

    def _page(self) -> RenderableType:
        count = len(self._undos)
        lines = [Text(f"{count} file{'s were' if count != 1 else ' was'} changed since:")]
        lines += [_line(undo) for undo in self._undos]
        if self._commands:
            lines += [Text(), Text(not_undone(self._commands), "dim")]
        return Group(*lines)

    def _choices(self) -> Iterator[Option]:
        yield Option("Leave the files as they are", "none")
        if self._ready:
            yield Option(f"Undo {_counted(self._ready)} as well", "ready")
        if self._changed:
            every = len(self._ready) + len(self._changed)
            which = f"all {every}" if every > 1 else "it"
            yield Option(f"Undo {which}, overwriting others' changes (copies are kept)", "all")

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        match event.option_id:
            case "ready":
                self.dismiss(self._ready)
            case "all":
                self.dismiss([*self._ready, *self._changed])
            case _:
                self.dismiss(())


def _counted(undos: Sequence[Undo]) -> str:
    return f"{len(undos)} file change{'s' if len(undos) != 1 else ''}"


def _line(undo: Undo) -> Text:
    change = undo.change
    line = Text(f"  {SIGNS[change.op]} {one_line(change.uri)}")
    said = _BECOMES[change.op] if undo.state == "ready" else one_line(undo.why)
    sign = "" if undo.state in ("ready", "same") else "! "
    return line.append(f"  {sign}{said}", "dim")
