"""The keys of the history. Here alone, so that the help and `[keys]` need not load the panel."""

from textual.binding import Binding

from pinfold.tui.panels.list_keys import moves

MOVES = moves("history", "up,k", "down,j")
ACTS = [
    Binding("enter", "items", "Its items", show=False, id="history.items"),
    Binding("d", "diff", "Mark it, then what differs from it", show=False, id="history.diff"),
    Binding("l", "lost", "What it lost, to keep it after all", show=False, id="history.lost"),
    Binding("r", "restore", "Restore it, with what came since", show=False, id="history.restore"),
    Binding("f", "fork", "Go on from it in a copy", show=False, id="history.fork"),
    Binding("z", "undo", "Undo", show=False, id="history.undo"),
    Binding("escape,q", "leave", "Drop the mark, then leave", show=False, id="history.leave"),
]
