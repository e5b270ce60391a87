"""Turns an agent's session updates into its status line and figures."""

from pinfold.agent.children.child import Child, last_line
from pinfold.agent.updates import (
    Appended,
    PhaseChanged,
    StreamDropped,
    Streamed,
    ToolStarted,
    Update,
)
from pinfold.ports.provider import TextDelta
from pinfold.rollout.events import Event, ItemAdded, RequestFinished
from pinfold.sanitize import one_line

LINE = 200
"""Characters of what an agent says that its line shows."""


def heard(child: Child, update: Update) -> bool:
    """Apply an update; True if the agent looks different now."""
    match update:
        case Streamed(delta=delta):
            child.streamed.append(delta)
        case StreamDropped() | Appended(event=Event(data=ItemAdded())):
            child.streamed.clear()
        case _:
            pass
    match update:
        case ToolStarted(title=title):
            child.line = one_line(title)[:LINE]
        case Streamed(delta=TextDelta(text=text)):
            child.writes = (child.writes + text)[-2 * LINE :]
            child.line = last_line(child.writes)[:LINE] or child.line
        case PhaseChanged():
            pass  # the session says it
        case Appended(event=event):
            match event.data:
                case RequestFinished(provider=provider, model=model, usage=usage) if usage:
                    child.spend.add(provider, model, usage)
                    child.writes = ""
                case ItemAdded(item=item):
                    child.items += 1
                    if item.kind == "assistant":
                        child.line = last_line(item.content)[:LINE] or child.line
                case _:
                    return False
        case _:
            return False
    return True
