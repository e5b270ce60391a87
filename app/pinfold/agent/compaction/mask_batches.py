"""Old bodies masked in batches, under the threshold.

In batches, as each breaks the provider's prompt cache from its first change on.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pinfold.agent.compaction.compacting import Compacting
from pinfold.agent.compaction.draft import CompactionDraft
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.record import Record
from pinfold.agent.updates import Appended, Told, Update
from pinfold.compaction.plan import Planned
from pinfold.compaction.refusals import NoGain
from pinfold.compaction.strategies.prune import Prune
from pinfold.compaction.strategies.registry import traits
from pinfold.numbers import tokens
from pinfold.rollout.events import ItemsMarked, WindowReplaced
from pinfold.window.reading import GaugeReading

BATCH = 0.25
"""Of the usable window, that a batch saves, or it is not worth the cache."""
APART = 0.30
"""Of the usable window, that it grows by from one batch to the next."""
LOOK = 0.05
"""The same from one look that found too little to the next."""


class MaskBatches:
    """Part of `layered`, which is the gentlest step that is enough."""

    def __init__(self, record: Record, compacting: Compacting, begin: float) -> None:
        """`begin` is the share of the usable window from which on."""
        self._record = record
        self._compacting = compacting
        self._begin = begin
        self._next = 0.0
        """Tokens in the window at which to look again."""
        self._declined = False
        """The user took a batch back: no more of them for this window."""
        record.subscribe(self._hear)

    def _hear(self, update: Update) -> None:
        if isinstance(update, Appended):
            match update.event.data:
                case WindowReplaced():
                    self._next, self._declined = 0.0, False
                case ItemsMarked(undoes=int()):
                    self._declined = True

    def begins(self, reading: GaugeReading) -> int | None:
        """Tokens from which the next batch is looked for; none where none is."""
        if self._declined or not traits(self._compacting.strategy).takes_prepared:
            return None
        return int(max(self._begin * reading.usable, self._next))

    def is_due(self, reading: GaugeReading) -> bool:
        """Whether it is worth looking for a batch."""
        begins = self.begins(reading)
        return begins is not None and reading.used >= begins

    async def mask(self, reading: GaugeReading, trigger: CompactionTrigger) -> None:
        """Mask what is old, where that saves a batch. Raises `Refused`, `JournalError`."""
        self._next = reading.used + LOOK * reading.usable
        options = self._compacting.options
        # No more than lets it work on for a while: what is masked is missed, now and then.
        target = max(options.target_pct, self._begin - APART)
        try:
            draft = await self._compacting.draft(
                Prune.name, replace(options, target_pct=target, spare=True), trigger=trigger
            )
        except NoGain:
            return
        if draft.plan.strategy != Prune.name:
            return
        batch = [item for item in draft.plan.items if item.verdict == "mask"]
        saved = draft.view.correct_items(sum(planned.before - planned.after for planned in batch))
        if saved < BATCH * reading.usable:
            return
        report = await asyncio.to_thread(lambda: draft.report)  # it reads every item
        marked = ItemsMarked(items=tuple((planned.n, "masked") for planned in batch))
        if self._record.window.revision != draft.revision:
            return
        await self._record.append(marked)
        self._next = reading.used - saved + APART * reading.usable
        self._record.tell(
            Told(
                f"Masked {_counts_text(draft, batch)}: {tokens(reading.used)} → "
                f"{tokens(reading.used - saved)} tokens. This invalidates "
                f"{tokens(max(0, report.uncached - saved))} cached tokens.",
                hint="/undo brings them back",
            )
        )


def _counts_text(draft: CompactionDraft, batch: Sequence[Planned]) -> str:
    """`5 results and 1 call`."""
    entries = draft.view.by_number
    calls = sum(entries[planned.n].item.kind == "tool_call" for planned in batch)
    counts = (("result", len(batch) - calls), ("call", calls))
    return " and ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in counts if count)
