"""Compares guarded places before and after a call of a server's tool, as for a command."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pinfold.ports.tool import ToolContext
from pinfold.tools.sandbox.places import look, moved, put_back, remember, set_aside


@asynccontextmanager
async def guarded(context: ToolContext, *, compare: bool) -> AsyncIterator[list[str]]:
    """Around the call; when it has ended the list has notes on what was set aside."""
    notes: list[str] = []
    if not compare:
        yield notes
        return
    root = context.workspace
    roots = context.sandbox.roots if context.sandbox else (root,)
    scratch = context.sandbox.scratch if context.sandbox else context.folder / "scratch"
    before = await asyncio.to_thread(look, roots)
    copies = await asyncio.to_thread(remember, before, _apart(scratch, context))
    try:
        yield notes
    finally:

        def settle() -> list[str]:
            to = scratch / "set-aside"
            changed = put_back(before, copies, roots, to)
            changed += set_aside(before, roots, to, {*copies, *before.stays})
            return [moved(place, root) for place in changed]

        notes += await asyncio.shield(asyncio.ensure_future(asyncio.to_thread(settle)))


def _apart(scratch: Path, context: ToolContext) -> Path:
    """The folder for the copies of this call: others run in parallel."""
    name = "".join(c for c in context.call_id if c.isalnum())[:32]
    return scratch / "guarded" / f"call-{name}"
