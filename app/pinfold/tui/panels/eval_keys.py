"""The keys of the evaluation. Here alone, so that the help and `[keys]` need not load the panel."""

from textual.binding import Binding

from pinfold.tui.panels.list_keys import moves

MOVES = moves("eval", "up,k", "down,j")
ACTS = [
    Binding("enter", "lost", "What it would lose", show=False, id="eval.lost"),
    Binding("p", "preview", "The preview with it", show=False, id="eval.preview"),
    Binding("r", "again", "Evaluate the session anew", show=False, id="eval.again"),
    Binding("escape,q", "leave", "Stop, and leave", show=False, id="eval.leave"),
]
