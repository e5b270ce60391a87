"""A conversation from a dialogue and a seed, as the events that it would leave in a rollout.

It comes in stretches; a compaction follows each. The user's own text in the first is
`author.USER_SHARE` times the budget.
"""

from dataclasses import dataclass

from pinfold.evaluation.author import Author, Stretch
from pinfold.evaluation.dialogues import Dialogue
from pinfold.evaluation.script import Count

MOST_COMPACTIONS = 5


@dataclass(frozen=True)
class Conversation:
    dialogue: Dialogue
    stretches: tuple[Stretch, ...]


def compose(
    dialogue: Dialogue, seed: int, *, compactions: int, budget: int, count: Count
) -> Conversation:
    """The same for the same arguments. `count` measures tokens."""
    author = Author(dialogue, seed, budget, count)
    return Conversation(dialogue, tuple(author.stretch(at) for at in range(compactions)))
