"""What a compaction took and no window tells since, with one key to keep it after all."""

from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.commands.context import SessionPort
from pinfold.commands.failures import told
from pinfold.commands.history_text import fits
from pinfold.compaction.loss import Loss, Lost
from pinfold.tui.colours import ink
from pinfold.tui.panels.preview_loss import LossPanel


class LostPanel(LossPanel):
    """What is kept is kept at once; its result is of no use."""

    HEADING = "What no longer stands in window {}"
    HINT = "↑ ↓ choose · k keep its item after all · z undo · Enter read · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("z,ctrl+z", "undo", show=False)]

    def __init__(self, session: SessionPort, generation: int) -> None:
        async def losses() -> Loss:
            return await session.compaction.lost(generation)

        super().__init__(losses, session.window.item)
        self._session = session
        self._window = session.window
        self._generation = generation
        self._said = Static(classes="said", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel full") as panel:
            panel.border_title = self.HEADING.format(self._generation)
            panel.border_subtitle = self.HINT
            yield self._facts
            yield self._list
            yield self._said

    def is_kept(self, n: int) -> bool:
        return self._window.form(n) == "full"

    def action_keep(self) -> None:
        if (lost := self.current) is not None:
            self._bring_back(lost)

    @work
    async def _bring_back(self, lost: Lost) -> None:
        try:
            said = await self._window.keep(self._generation, lost.item)
        except Exception as error:  # the panel stays, whatever it is
            self._say(f"✗ {told(error)}", "error")
            return
        self.show_anew()
        reading = self._session.reading()
        if reading.used > reading.usable:
            self._say(f"! {said} {fits(reading)} z undoes it.", "warning")
        else:
            self._say(f"{said} z undoes it.", "foreground")

    async def action_undo(self) -> None:
        try:
            what = await self._window.undo()
        except Exception as error:  # the panel stays, whatever it is
            self._say(f"✗ {told(error)}", "error")
            return
        self.show_anew()
        self._say(f"Undone: {what}.", "foreground")

    def _say(self, text: str, colour: str) -> None:
        self._said.update(Text(text, ink(self.app, colour)))
