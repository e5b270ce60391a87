"""The line shown where one window ended and the next began."""

from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.window.window import Boundary

_REASONS = {
    "threshold": "compacted at the threshold",
    "overflow": "compacted, the request was too long",
    "manual": "compacted",
    "model": "compacted for another model",
    "undo": "compaction undone",
    "restore": "earlier window restored",
    "kept": "items restored",
    "adopted": "compacted before it was adopted",
    "rewind": "rewound",
}


def boundary_line(boundary: Boundary) -> str:
    """Which window begins here, why, and its tokens."""
    parts = [f"window {boundary.generation}", why(boundary)]
    if (sizes := boundary.tokens) is not None:
        parts.append(f"{tokens(sizes.before)} → {tokens(sizes.after)}")
    return " · ".join(parts)


def why(boundary: Boundary) -> str:
    """`compacted by checkpoint at the threshold`."""
    what = _REASONS.get(boundary.reason, boundary.reason)
    if boundary.undone in ("restore", "kept"):
        what = "restore undone" if boundary.undone == "restore" else "restored items undone"
    if boundary.strategy and what.startswith("compacted"):
        what = what.replace("compacted", f"compacted by {boundary.strategy}", 1)
    return one_line(what)
