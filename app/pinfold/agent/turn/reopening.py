"""How a session was left, told when it is opened again."""

from pinfold.agent.files import Meanwhile
from pinfold.agent.state import State
from pinfold.checkpoint.model import CheckpointV1
from pinfold.checkpoint.view import view_v1
from pinfold.rollout.journal import Torn

_ENDINGS = {
    "waiting": "The last turn waits to go on",
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


def damage_of(torn: Torn | None, unreadable: int) -> tuple[str, ...]:
    """Sentences on what of the journal could not be read: its end, and lines further up."""
    said = []
    if torn is not None:
        size, kept = f"({torn.size:,} bytes)", f"cut off and kept in {torn.path}."
        if torn.lines == 1:
            how = "was half-written" if torn.half else "could not be read"
            said.append(f"The last line {how} {size}. It is {kept}")
        else:
            said.append(
                f"The last {torn.lines:,} lines could not be read {size}: whole turns may be gone. "
                f"They are {kept}"
            )
    if unreadable:
        said.append(f"{unreadable} lines of the journal are damaged; they stay as they are.")
    return tuple(said)


def changed_since(meanwhile: Meanwhile, checkpoint: CheckpointV1) -> str:
    """What the model reads of it: the files, and the checkpoint with what they made suspect."""
    return (
        "Files changed while this session was closed; read them again before you rely on them.\n"
        f"{meanwhile}\n\n{view_v1(checkpoint)}".rstrip()
    )
