"""The preview's keys. Here alone, so that the help and `[keys]` need not load the panel."""

from textual.binding import Binding

from pinfold.tui.panels.list_keys import moves

MOVES = moves("preview")
CHANGES = [
    Binding("p", "pin('pin')", "Pin", show=False, id="preview.pin"),
    Binding("u", "pin('unpin')", "Unpin", show=False, id="preview.unpin"),
    Binding("k", "keep", "Keep this once, or no longer", show=False, id="preview.keep"),
    Binding("f", "fold", "Fold out this once, or no longer", show=False, id="preview.fold"),
    Binding("e", "edit", "Edit the text to insert", show=False, id="preview.edit"),
    Binding(
        "c",
        "claims",
        "The summary's entries, and what bears them out",
        show=False,
        id="preview.claims",
    ),
    Binding("z", "undo", "Undo a pin, a keep, a fold, an edit", show=False, id="preview.undo"),
]
ACTS = [
    Binding("enter", "read", "Read in full", show=False, id="preview.read"),
    Binding("l", "loss", "What would be lost", show=False, id="preview.loss"),
    Binding(
        "tab", "turn(1)", "Next strategy; its number chooses one", show=False, id="preview.next"
    ),
    Binding("shift+tab", "turn(-1)", "Strategy before", show=False, id="preview.previous"),
    *(Binding(str(at), f"choose({at - 1})", show=False) for at in range(1, 10)),
    Binding("a,ctrl+enter", "apply", "Apply", show=False, id="preview.apply"),
    Binding(
        "d", "defaults", "Save strategy and options as defaults", show=False, id="preview.defaults"
    ),
    Binding("escape,q", "leave", "Leave all as it is", show=False, id="preview.leave"),
]
