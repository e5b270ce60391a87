"""What is remembered, as a table under headings; each line has the number of its source item."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from pinfold.tui.panels.checkpoint_rows import SUSPECT, VALID, KeptRow
from pinfold.tui.panels.table import Heading, Table
from pinfold.tui.transcript.lines import clip

_INKS = {VALID: "success", SUSPECT: "warning"}
NOTED = 0.55
"""Share of the width that the text gets beside a long note."""


class CheckpointList(Table[KeptRow]):
    STAYS = True

    def show_rows(self, rows: Sequence[KeptRow | Heading], *, top: bool = False) -> None:
        self.show({row.key: row for row in rows}, top=top)

    def draw(self, row: KeptRow, *, chosen: bool) -> Iterable[Segment]:
        return self._text(row, "▎" if chosen else " ").render(self.app.console)

    def _text(self, row: KeptRow, cursor: str) -> Text:
        dim, plain = self.ink("foreground 60%"), self.ink("foreground")
        text = Text(cursor, self.ink("accent"), end="")
        width = self.scrollable_content_region.width
        colour = self.ink(_INKS[row.sign]) if row.sign in _INKS else dim
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
