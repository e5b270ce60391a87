"""A conversation from a template or a dialogue and a seed, as the events that it would leave in a
rollout.

It comes in stretches; a compaction follows each. The user's own text in the first is
`author.USER_SHARE` times the budget.
"""

from dataclasses import dataclass

from pinfold.evaluation.author import Author, Stretch
from pinfold.evaluation.dialogues import Dialogue
from pinfold.evaluation.script import Count
from pinfold.evaluation.templated import Templated
from pinfold.evaluation.templates import Template
from pinfold.evaluation.told import Told

MOST_COMPACTIONS = 5

Source = Template | Dialogue


@dataclass(frozen=True)
class Conversation:
    source: Source
    stretches: tuple[Stretch, ...]


def compose(
    source: Source, seed: int, *, compactions: int, budget: int, count: Count
) -> Conversation:
    """The same for the same arguments. `count` measures tokens."""
    author: Author
    if isinstance(source, Dialogue):
        author = Told(source, seed, budget, count)
    else:
        author = Templated(source, seed, budget, count)
    return Conversation(source, tuple(author.stretch(at) for at in range(compactions)))
