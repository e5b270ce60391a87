"""`/compact --compare`: what each strategy would leave and lose, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from pinfold.commands.failures import told
from pinfold.numbers import dollars, tokens
from pinfold.ports.errors import ProviderError
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.agent.compaction.draft import CompactionDraft
    from pinfold.agent.compaction.trigger import CompactionTrigger
    from pinfold.agent.session import Session
    from pinfold.commands.context import Context
    from pinfold.compaction.loss import Loss, LostKind
    from pinfold.compaction.view import PlanOptions

_LOST: tuple[LostKind, ...] = ("your words", "reply", "failure", "command")
_HEAD = "strategy   tokens  less  words  replies failures commands     cost"
_WHY = 55
"""Characters of a reason."""


@dataclass(frozen=True, slots=True)
class Made:
    """The result of a strategy."""

    draft: CompactionDraft
    loss: Loss


async def compare(context: Context, options: PlanOptions) -> None:
    """Plan with every strategy, those that use a model included, and print a table."""
    session = context.session
    compaction = session.compaction
    context.tell(await _announced(session))
    made: dict[str, Made | Exception] = {}

    async def work(trigger: CompactionTrigger) -> None:
        for name in compaction.strategies:
            try:
                draft = await compaction.draft(name, options, trigger=trigger)
                made[name] = Made(draft, await compaction.loss(draft))
            except Exception as error:  # such as a third party's: its row says why
                made[name] = error

    await session.compacting(work)
    context.tell("\n".join(_table(compaction.strategies, made)))


async def _announced(session: Session) -> str:
    """Which model is asked, and what that costs."""
    compaction = session.compaction
    asking = [name for name in compaction.strategies if compaction.asks_model(name)]
    used = session.reading().used
    try:
        quote = await compaction.quote(used)
    except ProviderError as error:
        return f"Comparing all strategies; those that use a model can't: {error}"
    cost = ""
    if quote.cost is not None:
        cost = f", about {dollars(quote.cost * len(asking))} in all, output not included"
    return (
        f"Asking {one_line(quote.model)} for {', '.join(asking)}: each reads about {tokens(used)} "
        f"tokens{cost}. Esc stops."
    )


def _table(names: Sequence[str], made: Mapping[str, Made | Exception]) -> list[str]:
    """Lines of at most 66 characters: they fit beside an item's number on 80 columns."""
    befores = (result.draft.report.before for result in made.values() if isinstance(result, Made))
    before = next(befores, None)
    now = "" if before is None else f"{tokens(before)} tokens now. "
    lines = [f"{now}What each strategy would leave, and lose:", _HEAD]
    notes = []
    for name in names:
        found = made.get(name)
        if found is None:
            lines.append(f"{one_line(name):<10} stopped before its plan was ready")
        elif isinstance(found, Exception):
            lines.append(f"{one_line(name):<10} {_short(told(found))}")
        elif found.draft.material.error:
            lines.append(f"{one_line(name):<10} {_short(found.draft.material.error)}")
        else:
            lines.append(_row(name, found))
            by = found.draft.report.strategy
            if by != name:
                notes.append(f"{one_line(name)} falls back to {one_line(by)} here.")
    return [*lines, *notes]


def _row(name: str, made: Made) -> str:
    report, loss = made.draft.report, made.loss
    less = 1 - report.after / report.before if report.before else 0.0
    lost = [
        loss.more.get(kind, 0) + sum(lost_part.kind == kind for lost_part in loss.named)
        for kind in _LOST
    ]
    words, replies, failures, commands = (f"{count:,}" for count in lost)
    return (
        f"{one_line(name):<10} {tokens(report.after):>6} {less:>5.0%} "
        f"{words:>6} {replies:>8} {failures:>8} {commands:>8} {_cost(made.draft):>8}"
    )


def _cost(draft: CompactionDraft) -> str:
    spent = draft.spent.input + draft.spent.output
    if not spent:
        return "–"
    return f"{tokens(spent)} tok" if draft.cost is None else dollars(draft.cost)


def _short(reason: str) -> str:
    return shorten(one_line(reason), _WHY, placeholder=" …")
