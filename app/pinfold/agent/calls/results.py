"""What the journal holds of a result beside its text."""

import os
from pathlib import Path
from typing import Any

from pinfold.ports.tool import Observation, Review, Tool, ToolError, ToolOutcome
from pinfold.rollout.events import ArtifactObserved
from pinfold.rollout.items import Item
from pinfold.tools import workspace
from pinfold.tools.workspace import observe_command


def statement(
    tool: Tool | None, call: Item, review: Review | None, cwd: Path, edited: str
) -> dict[str, Any]:
    """What the tool states about itself and the call, for `rollout/acts.py`; `edited` are the
    arguments that the user gave in place of the model's."""
    stated: dict[str, Any] = {"act": tool.kind if tool else "read"}
    if tool:
        stated |= {"bodies": list(tool.bodies)} if tool.bodies else {}
        stated |= (
            {"names": names} if (names := _changed_files(tool, edited or call.content, cwd)) else {}
        )
        stated |= {"searches": True} if tool.searches else {}
        stated |= {"quiet": True} if tool.quiet else {}
    stated |= {"edited": edited} if edited else {}
    if review is not None:
        stated |= {"title": review.title}
        stated |= {"command": review.command} if review.command else {}
    return stated


def _changed_files(tool: Tool, arguments: str, cwd: Path) -> list[str]:
    """The URIs of the files that the call was to change."""
    try:
        named = tool.names(arguments)
    except ToolError:  # the arguments don't fit, which the result tells
        return []
    paths = (Path(os.path.normpath(cwd / name)) for name in named)
    return [workspace.uri(path, cwd) for path in paths]


def interrupted(why: str, review: Review | None, heard: str) -> ToolOutcome:
    """The outcome of a call that printed `heard` before it was ended."""
    text = why + (f" Output so far:\n{heard}" if heard else "")
    ran: tuple[Observation, ...] = ()
    if review and review.command:
        ran = (observe_command(review.command, text),)
    return ToolOutcome(text, ok=False, observations=ran)


def observed(seen: Observation, n: int) -> ArtifactObserved:
    """The event of an observation that item `n` made."""
    return ArtifactObserved(
        uri=seen.uri, kind=seen.kind, op=seen.op, hash=seen.hash, item=n, backup=seen.backup
    )
