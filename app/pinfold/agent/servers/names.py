"""Names of servers' tools as the model calls them."""

import re
from collections.abc import Collection, Iterable
from hashlib import sha256

PREFIX = "mcp__"
MOST = 64
"""Characters that providers take."""
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")


def wire_names(tools: Iterable[tuple[str, str]], taken: Collection[str]) -> dict[str, str]:
    """A name for each tool of a server, by its own: unique, and none of `taken`.

    The same tool gets the same name whatever comes beside it, unless that would have it.
    """
    found: dict[str, str] = {}
    used = set(taken)
    for server, tool in tools:
        if tool in found:
            continue
        name = PREFIX + _REFUSED.sub("_", f"{server}__{tool}")
        if len(name) > MOST or name in used:
            mark = sha256(f"{server}\0{tool}".encode("utf-8", "replace")).hexdigest()[:8]
            name = f"{name[: MOST - 9]}_{mark}"
        if name not in used:
            used.add(name)
            found[tool] = name
    return found
