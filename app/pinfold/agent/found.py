"""How a session was left, told when it is opened again."""

from pinfold.agent.state import State

_ENDINGS = {
    "waiting": "The last turn waited for you",
    "interrupted": "The last turn was interrupted",
    "failed": "The last turn failed",
}


def found_as(state: State, *, read_only: bool) -> tuple[str, ...]:
    """Sentences on how the last turn ended and what waited behind it; none where all was done."""
    found = []
    if state.turn_open:
        found.append("pinfold stopped in mid-turn. What was streaming then is lost.")
    elif state.turn_state in _ENDINGS:
        ending, reason = _ENDINGS[state.turn_state], state.turn_reason.rstrip(".")
        found.append(f"{ending}{f': {reason}' if reason else ''}.")
    if (waiting := len(state.queue)) and not read_only:
        were = "prompt that waited is" if waiting == 1 else f"{waiting} prompts that waited are"
        found.append(f"The {were} in the prompt line.")
    return tuple(found)
