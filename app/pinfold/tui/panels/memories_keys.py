"""The keys of the memories' panels. Here alone: the help and `[keys]` need not load them."""

from textual.binding import Binding

from pinfold.tui.panels.list_keys import moves

MOVES = moves("memories", "up,k", "down,j")
ACTS = [
    Binding(
        "enter", "open", "What it comes from, in the old session", show=False, id="memories.open"
    ),
    Binding("p", "pin", "Put it into the protected core", show=False, id="memories.pin"),
    Binding("e", "edit", "Edit it, in your own words", show=False, id="memories.edit"),
    Binding(
        "y", "confirm", "Confirm one that may no longer hold", show=False, id="memories.confirm"
    ),
    Binding("f", "forget", "Forget all of its session, for good", show=False, id="memories.forget"),
    Binding("r", "review", "Review a consolidation that waits", show=False, id="memories.review"),
    Binding("z", "undo", "Undo the last consolidation", show=False, id="memories.undo"),
    Binding("x", "export", "Export all to a file in this folder", show=False, id="memories.export"),
    Binding("escape,q", "leave", "Close", show=False, id="memories.leave"),
]
REVIEW = [
    Binding("a", "accept", "Accept this change", show=False, id="review.accept"),
    Binding("A", "accept_all", "Accept all changes", show=False, id="review.accept_all"),
    Binding("d", "reject", "Reject this change", show=False, id="review.reject"),
    Binding("D", "reject_all", "Reject all changes", show=False, id="review.reject_all"),
    Binding("e", "edit", "Edit this change", show=False, id="review.edit"),
    Binding("enter", "read", "Read the whole diff", show=False, id="review.read"),
    Binding("escape,q", "dismiss(None)", "Close", show=False, id="review.leave"),
]
