"""What a compaction lost, and a key to restore it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from pinfold.commands.failures import told
from pinfold.commands.history_text import fits
from pinfold.commands.lost_text import abouts, by_item
from pinfold.compaction.loss import Loss, LostLine
from pinfold.rollout.items import Form
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.preview_loss import LossPanel
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import ListLine

if TYPE_CHECKING:
    from pinfold.agent.session import Session

_STANDS: dict[Form | None, str] = {
    "full": "kept",
    "short": "shortened",
    "masked": "masked",
    "placeholder": "folded",
    None: "archived",
}
"""Words for an item's form in the window."""


class LostPanel(LossPanel):
    """Restores at once; its result is not used."""

    HINT = "↑ ↓ choose · r restores its item · z undoes · Enter reads · Esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "keep", show=False),
        Binding("z", "undo", show=False),
    ]

    def __init__(self, session: Session, generation: int) -> None:
        super().__init__(self._look_up, session.window.item)
        self.HEADING = f"Lost in window {generation}"
        self._about: dict[int, str] = {}
        """What the items are, by number."""
        self._session = session
        self._window = session.window
        self._generation = generation
        self._said = Static(classes="said", markup=False)

    async def _look_up(self) -> Loss:
        loss = await self._session.compaction.lost(self._generation)
        self._about = await asyncio.to_thread(abouts, self._window, loss.named)
        return loss

    def parts(self) -> Iterable[Widget]:
        return self._facts, self._list, self._said

    def _show(self) -> None:
        width = max((len(str(loss.item)) for loss in self._lost), default=0) + 1
        groups = by_item(self._lost).items()
        lines = [line for n, some in groups for line in self._group(n, some, width)]
        self._list.show_lines(lines)

    def _group(self, n: int, some: Sequence[LostLine], width: int) -> Iterator[ListLine]:
        """An item, and its losses: one beside it, several below it."""
        form = self._window.form(n)
        head = f"{'✓' if form == 'full' else '−'} {f'#{n}':<{width}}"
        only = f"{some[0].kind} {some[0].text}" if len(some) == 1 else ""
        yield ListLine(f"#{n}", head, f"{self._about[n]}: {_STANDS[form]}", note=only)
        for loss in some if not only else ():
            yield ListLine(f"{loss.kind}/{loss.text}", f"    {loss.kind}", one_line(loss.text))

    def action_keep_line(self) -> None:
        self.action_keep()

    @property
    def current(self) -> LostLine | None:
        """The loss under the cursor; on the line of an item, its first."""
        key = self._list.current or ""
        if not key.startswith("#"):
            return super().current
        return next(loss for loss in self._lost if f"#{loss.item}" == key)

    def is_kept(self, n: int) -> bool:
        return self._window.form(n) == "full"

    def action_keep(self) -> None:
        if (lost := self.current) is not None:
            self._bring_back(lost)

    @work
    async def _bring_back(self, lost: LostLine) -> None:
        try:
            said = await self._window.keep(self._generation, lost.item)
        except Exception as error:  # the panel stays, whatever it is
            self._show_notice(f"✗ {told(error)}", "error")
            return
        self.show_anew()
        reading = self._session.reading()
        if reading.used > reading.usable:
            self._show_notice(f"! {said} {fits(reading)} z undoes it.", "warning")
        else:
            self._show_notice(f"{said} z undoes it.", "foreground")

    async def action_undo(self) -> None:
        try:
            what = await self._window.undo()
        except Exception as error:  # the panel stays, whatever it is
            self._show_notice(f"✗ {told(error)}", "error")
            return
        self.show_anew()
        self._show_notice(f"Undone: {what}.", "foreground")

    def _show_notice(self, text: str, colour: str) -> None:
        self._said.update(Text(text, ink(self.app, colour)))


PANEL = Panel("", (), lambda host, number: LostPanel(host.session, int(number)))
