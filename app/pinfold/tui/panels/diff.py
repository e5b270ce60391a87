"""What changed in the working tree, coloured."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from pinfold.tui.approval.diff import DiffView
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.modal import Modal
from pinfold.tui.panels.registry import Panel
from pinfold.tui.transcript.diffs import counts, names


class DiffPanel(Modal[None]):
    """Scrolls; Esc closes it."""

    DEFAULT_CSS = """
    DiffPanel {
        align: center middle;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", show=False)]

    def __init__(self, diff: str, title: str = "Changes since the last commit") -> None:
        super().__init__()
        self._diff = diff
        self._title = title

    def compose(self) -> ComposeResult:
        added, removed = counts(self._diff)
        files = names(self._diff)
        with VerticalScroll(classes="panel") as panel:
            what = files[0] if len(files) == 1 else f"{len(files)} files"
            panel.border_title = f"{self._title} · {what}".replace("[", "\\[")
            panel.border_subtitle = f"+{added} −{removed} · PgUp PgDn scroll · Esc closes"
            yield DiffView(self._diff)


async def _open(host: PanelHost) -> None:
    from pinfold.commands.status import working_tree

    diff = await working_tree(host.session.cwd)
    if diff:
        host.push_screen(DiffPanel(diff))
    else:
        host.tell("No changes since the last commit.")


PANEL = Panel("", (), lambda host, _: _open(host))
