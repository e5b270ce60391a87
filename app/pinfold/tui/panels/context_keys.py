"""The context panel's keys. Here alone, so that the help and `[keys]` need not load the panel."""

from textual.binding import Binding

from pinfold.tui.panels.list_keys import moves

MOVES = [
    *moves("context", "up,k", "down,j"),
    Binding("shift+up", "extend(-1)", "Select upwards", show=False, id="context.extend_up"),
    Binding("shift+down", "extend(1)", "Select downwards", show=False, id="context.extend_down"),
    Binding("v", "range", "Begin or end a range", show=False, id="context.range"),
    Binding("space", "select", "Select this item", show=False, id="context.select"),
    Binding("a", "all", "Select all that is shown", show=False, id="context.all"),
    Binding("enter", "open", "Read in full", show=False, id="context.open"),
]
ACTS = [
    Binding("p", "act('pin')", "Pin", show=False, id="context.pin"),
    Binding("u", "act('unpin')", "Unpin", show=False, id="context.unpin"),
    Binding("m", "act('mask')", "Mask", show=False, id="context.mask"),
    Binding("f", "act('fold')", "Fold", show=False, id="context.fold"),
    Binding(
        "o", "act('unfold')", "Unfold: open again what is masked or folded", id="context.unfold"
    ),
    Binding("z", "undo", "Undo", show=False, id="context.undo"),
    Binding(
        "w",
        "forget_window",
        "Forget the window that refused requests taught",
        show=False,
        id="context.forget_window",
    ),
    Binding("c", "copy", "Copy", show=False, id="context.copy"),
    Binding("s", "sort", "Sort by order, size, age, kind", show=False, id="context.sort"),
    Binding(
        "slash",
        "filter",
        "Filter: words, a kind or tool, pinned, masked, folded, #12, src/**",
        show=False,
        id="context.filter",
    ),
    Binding("escape", "back", "Drop the selection, then the filter, then leave", show=False),
]
