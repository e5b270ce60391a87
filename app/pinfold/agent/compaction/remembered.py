"""What pinfold remembers of a session beside the window, for people to read."""

from typing import NamedTuple

from pinfold.checkpoint.anchors import Anchors
from pinfold.checkpoint.core import Suggestion, suggestions
from pinfold.checkpoint.known import Known
from pinfold.checkpoint.model import CheckpointV1
from pinfold.digests.choice import DigestLines, choose
from pinfold.rollout.values import CoreStatement

SUGGESTED = 1_000
"""Tokens of suggestions for the core."""


class SessionMemory(NamedTuple):
    """All of it at one moment."""

    checkpoint: CheckpointV1
    stated: tuple[CoreStatement, ...]
    """What the user put into the core."""
    suggested: tuple[Suggestion, ...]
    digest: DigestLines
    anchors: Anchors


def remembered(known: Known, budget: int) -> SessionMemory:
    """The digest has at most `budget` tokens."""
    adopted = known.core.suggested()
    texts = {suggestion.text for suggestion in adopted}
    found = suggestions(known.record, known.core, SUGGESTED)
    return SessionMemory(
        known.checkpoint,
        known.core.stated(),
        (*adopted, *(suggestion for suggestion in found if suggestion.text not in texts)),
        choose(known.record, budget),
        known.state.anchors,
    )
