"""The protected core: what the user put there, repeated word for word after every compaction."""

from collections.abc import Sequence

from msgspec import Struct

from pinfold.checkpoint.anchors import number
from pinfold.digests.choice import take_best
from pinfold.digests.lines import DigestLine
from pinfold.digests.record import DigestRecord
from pinfold.rollout.events import (
    CoreChanged,
    CoreSuggested,
    Event,
    GoalSet,
    ItemAdded,
    MemoryApplied,
)
from pinfold.rollout.memory import DecisionMemory, FactMemory
from pinfold.rollout.provenance import words
from pinfold.rollout.values import CoreStatement

FIRST_REQUEST = 300
"""Tokens of the first request that are suggested until the user sets a goal."""


class Suggestion(Struct, frozen=True):
    """Words of the user that may belong in the core, not confirmed yet."""

    text: str
    item: int
    first: bool = False
    """Whether it comes from the first request."""
    adopted: bool = False
    """Whether it was in the core of the session that was adopted."""


class Core:
    """A projection of the rollout."""

    def __init__(self) -> None:
        self.goal = ""
        """As the user set it; empty until then."""
        self.first_request = ""
        self._stated: dict[str, CoreStatement] = {}
        self._suggested: dict[str, CoreStatement] = {}

    def step(self, event: Event) -> None:
        match event.data:
            case GoalSet(text=text):
                self.goal = text.strip()
            case ItemAdded(item=item) if item.kind == "user" and not self.first_request:
                self.first_request = words(item)
            case CoreSuggested(add=add):
                self._suggested |= {_key(stated.text): stated for stated in add}
            case CoreChanged(add=add, remove=remove):
                for text in remove:
                    self._stated.pop(_key(text), None)
                for stated in add:
                    self._stated[_key(stated.text)] = stated
            case MemoryApplied(
                memory=FactMemory(evidence=evidence) | DecisionMemory(evidence=evidence, own=True)
            ) if evidence.said_by_user:
                said = CoreStatement(evidence.quote, number(evidence.ref))
                self._stated.setdefault(_key(said.text), said)

    def stated(self) -> tuple[CoreStatement, ...]:
        """What the user put there besides the goal, oldest first."""
        return tuple(self._stated.values())

    def suggested(self) -> list[Suggestion]:
        """What an adopted session had in its core and this one has not."""
        known = {_key(self.goal), *self._stated}
        return [
            Suggestion(suggestion.text, suggestion.item, adopted=True)
            for key, suggestion in self._suggested.items()
            if key not in known
        ]


def suggestions(record: DigestRecord, core: Core, most: int, latest: int = 0) -> list[Suggestion]:
    """The first request, until a goal is set, and the user's most informative sentences, in at most
    `most` tokens together; none of item `latest`, which stays in the window."""
    known = {_key(statement.text) for statement in core.stated()}
    told = [
        line
        for line in record.lines()
        if line.kind == "user" and line.n != latest and _key(line.text) not in known
    ]
    first: list[DigestLine] = []
    if not core.goal and (start := record.first_request):
        first = _within([line for line in told if line.n == start], min(FIRST_REQUEST, most))
    left = most - sum(line.cost for line in first)
    rest = [line for line in told if line not in first]
    best = take_best([line for line in rest if not line.lead], record, left)
    left -= sum(line.cost for line in best)
    best += take_best([line for line in rest if line.lead], record, left)  # answers tell less alone
    return [
        *(Suggestion(line.text, line.n, first=True) for line in first),
        *(Suggestion(line.text, line.n) for line in sorted(best, key=lambda line: line.n)),
    ]


def _within(lines: Sequence[DigestLine], most: int) -> list[DigestLine]:
    kept: list[DigestLine] = []
    for line in lines:
        most -= line.cost
        if most < 0:
            break
        kept.append(line)
    return kept


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()
