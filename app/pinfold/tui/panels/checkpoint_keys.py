"""The keys of the checkpoint panel. Here alone, so that the help and `[keys]` need not load it."""

from textual.binding import Binding

from pinfold.tui.panels.list_keys import moves

MOVES = moves("checkpoint", "up,k", "down,j")
ACTS = [
    Binding("enter", "open", "The item that it stands on", show=False, id="checkpoint.open"),
    Binding("slash", "filter", "Filter", show=False, id="checkpoint.filter"),
    Binding("c", "copy", "Copy", show=False, id="checkpoint.copy"),
    Binding("escape,q", "back", "Drop the filter, then leave", show=False, id="checkpoint.back"),
]
