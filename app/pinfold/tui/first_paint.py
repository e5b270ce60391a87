"""The app's part in the first frame: to take over from it, and to save the next one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from rich.color import ColorSystem
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from pinfold.host.first_frame import Frame, Place, Run
from pinfold.tui.early_screen import EarlyScreen
from pinfold.tui.patient_driver import PatientDriver
from pinfold.tui.terminal_cells import UNKNOWN, DiffingApp, Row, cells_of, texts_of

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType
    from textual.screen import Screen
    from textual.widgets import TextArea

    from pinfold.host.first_frame import Frames


STAYS = 2.0
"""Seconds for which the first frame hides that its session is still being opened."""


class FirstPaintApp(DiffingApp):
    """Leaves the first frame on the terminal until the session that it shows is there."""

    frames: Frames | None = None
    """Where frames are saved, if anywhere."""
    chooses_first = False
    """Whether a list comes up first, which then gets the keys."""
    early: EarlyScreen | None = None
    """What has the terminal until the app runs, if anything."""

    def get_driver_class(self) -> type[Driver]:
        usual = super().get_driver_class()
        return PatientDriver if usual is LinuxDriver else usual

    def on_mount(self) -> None:
        self.set_timer(STAYS, self.show_all)

    def on_descendant_focus(self) -> None:
        if not self.chooses_first or len(self.screen_stack) > 1:
            self._take_keys()

    def on_editor_sent(self) -> None:
        self.call_after_refresh(self.show_all)  # what becomes of it

    def _take_keys(self) -> None:
        if isinstance(self._driver, PatientDriver):
            self._driver.pass_keys_on()

    def take_over(self, early: EarlyScreen) -> None:
        """Go on from the frame that `early` shows; to be called before the app runs."""
        frame = early.frame
        rows = [
            [(part, look) for text, look in row for part in texts_of(text)] for row in frame.rows
        ]
        typed = frame.prompt.y
        rows[typed] = [UNKNOWN] * len(rows[typed])
        self._cells.hold(rows, {typed})
        self.early = early

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if len(self.screen_stack) > 1:
            self.show_all()
        super()._display(screen, renderable)

    def show_all(self) -> None:
        """Show all that there is, in place of the first frame."""
        self._take_keys()
        changed = self._cells.release()
        if changed and self._driver is not None:
            self._begin_update()
            self._driver.write(changed)
            self._end_update()

    def draw_frame(self, prompt: TextArea) -> Frame | None:
        """What the screen shows, to be the first frame of a start.

        None where anything else is open or has the keys, or something is typed.
        """
        if self.frames is None or len(self.screen_stack) > 1 or prompt.text or not prompt.has_focus:
            return None
        update = self.screen._compositor.render_full_update()
        colours = self.console._color_system or ColorSystem.TRUECOLOR
        rows = [cells_of(strips, colours) for strips in update.strips]
        x, y, width, _ = prompt.content_region
        place = Place(x, y, width, look=rows[y][x + width - 1][1], cursor=rows[y][x][1])
        made_for = self.frames.made_for(*self.size, self.theme)
        return Frame(made_for, [_by_look(row) for row in rows], place)

    async def save_frame(self, frame: Frame | None, session: Path | None = None) -> None:
        """Save it for the next start; `session` is the folder of the one that it shows."""
        if frame is not None and self.frames is not None:
            await asyncio.to_thread(self.frames.save, frame, session)


def _by_look(row: Row) -> list[Run]:
    """The cells of a row by look; a link is lost."""
    runs: list[Run] = []
    for text, cell_look in row:
        look = cell_look.rpartition("\x1b\\")[2]
        if runs and runs[-1][1] == look:
            runs[-1] = (runs[-1][0] + text, look)
        else:
            runs.append((text, look))
    return runs
