"""The lines of the checkpoint panel, under headings that the cursor steps over."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from pinfold.tui.colours import ink
from pinfold.tui.panels.checkpoint_rows import SUSPECT, VALID, KeptRow
from pinfold.tui.panels.line_list import Line, LineList
from pinfold.tui.transcript.lines import clip

_INKS = {VALID: "success", SUSPECT: "warning"}
NOTED = 0.55
"""Of the width, that a text has where what is noted of it is long."""


class CheckpointList(LineList):
    """A cursor that stays on its line while the session goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, KeptRow] = {}
        """By key, in order."""

    @property
    def row(self) -> KeptRow | None:
        """The line under the cursor."""
        row = self.rows[self.current] if self.current is not None else None
        return None if row is None or row.heading else row

    def show_rows(self, rows: Sequence[KeptRow], *, top: bool = False) -> None:
        """Show `rows`; the cursor stays on its line, and that in its place."""
        y = round(self.scroll_offset.y)
        seen = self._cursor - y
        self.rows = {row.key: row for row in rows}
        self.show([Line(key, "", row.text) for key, row in self.rows.items()], top=top)
        self._leave_heading(1)
        if y and not top:
            self.scroll_to(y=self._cursor - seen)

    def move(self, step: int) -> None:
        super().move(step)
        self._leave_heading(1 if step > 0 else -1)

    def _leave_heading(self, way: int) -> None:
        """Go on to the next line that is none, or back to the last."""
        lines = [at for at, row in enumerate(self.rows.values()) if not row.heading]
        if not lines:
            return
        ahead = [at for at in lines if (at - self._cursor) * way >= 0]
        nearest = min(ahead or lines, key=lambda at: abs(at - self._cursor))
        if nearest != self._cursor:
            super().move(nearest - self._cursor)
        if nearest == lines[0]:  # its heading shows too
            self.scroll_to(y=0)

    def _draw(self, line: Line, chosen: bool, width: int) -> Text:
        row = self.rows[line.key]
        dim, plain = ink(self.app, "foreground 60%"), ink(self.app, "foreground")
        text = Text("▎" if chosen else " ", ink(self.app, "accent"), end="")
        if row.heading:
            text.append(row.text, ink(self.app, "primary") + Style(bold=True))
            return text.append(f"  {row.note}" if row.note else "", dim)
        colour = ink(self.app, _INKS[row.sign]) if row.sign in _INKS else dim
        right = f"  #{row.item} " if row.item is not None else " "
        room = width - 3 - cell_len(right)
        noted = max(int(NOTED * room), room - cell_len(row.note) - 3)
        words = clip(row.text, noted if row.note else room)
        note = clip(row.note, room - cell_len(words) - 3) if row.note else ""
        text.append(f"{row.sign or ' '} ", colour + Style(bold=True)).append(words, plain)
        # A warning must not look like a remark.
        text.append(f" · {note}" if note else "", colour if row.sign == SUSPECT else dim)
        text.append(" " * (width - text.cell_len - cell_len(right)))
        return text.append(right, dim)
