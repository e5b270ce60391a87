"""Columns of a list: those that matter least give way until the words have room."""

from collections.abc import Mapping

from rich.cells import cell_len

from pinfold.tui.transcript.lines import clip


def fitted(
    sizes: Mapping[str, int], room: int, give_way: Mapping[str, int], enough: int
) -> dict[str, int]:
    """Cells of each column, with `words` taking what is left; a column with none is left out.

    `give_way` names those that shrink, the first first, and to what; each column is followed by
    an empty cell.
    """
    fitting = {**sizes, "words": 0}
    for name, cells in (*give_way.items(), ("", 0)):
        words = room - sum(size + 1 for size in fitting.values() if size)
        if words >= enough or not name:
            break
        fitting[name] = cells
    return {**fitting, "words": max(1, words)}


def cell(text: str, width: int, *, right: bool = False) -> str:
    """`text` in a column of that width, with the empty cell that follows; nothing without one."""
    if not width:
        return ""
    clipped = clip(text, width)
    room = " " * (width - cell_len(clipped))
    return f"{room}{clipped} " if right else f"{clipped}{room} "
