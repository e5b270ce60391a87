"""The keys of the core's panel. Here alone, so that the help and `[keys]` need not load it."""

from textual.binding import Binding

from pinfold.tui.panels.list_keys import moves

MOVES = [
    *(each for each in moves("core", "up,k", "down,j") if each.id != "core.home"),
    Binding("home", "edge(-1)", "First row", show=False, id="core.home"),
]
ACTS = [
    Binding("enter", "open", "The message that says it", show=False, id="core.open"),
    Binding("y", "confirm", "Confirm a suggestion", show=False, id="core.confirm"),
    Binding("a", "write('add')", "Add words of your own", show=False, id="core.add"),
    Binding("e", "write('edit')", "Edit", show=False, id="core.edit"),
    Binding("x,delete", "drop", "Remove", show=False, id="core.drop"),
    Binding("g", "write('goal')", "Set the goal", show=False, id="core.goal"),
    Binding("z", "undo", "Undo the last change made here", show=False, id="core.undo"),
    Binding("escape,q", "leave", "Leave", show=False, id="core.leave"),
]
