"""Compacts the window: drafts the next one, and applies it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from msgspec import structs

from pinfold.agent.compaction.applying import Applying
from pinfold.agent.compaction.draft import CompactionDraft
from pinfold.agent.compaction.ready import Ready
from pinfold.agent.compaction.remembered import SessionMemory, remembered
from pinfold.agent.compaction.summarizing import Quote, Summarizing
from pinfold.agent.compaction.trigger import BY_HAND, CompactionTrigger
from pinfold.agent.files import Files
from pinfold.agent.hooks import Stopped
from pinfold.agent.record import Record
from pinfold.agent.requests.writing import Step
from pinfold.agent.updates import CompactionProgress
from pinfold.checkpoint.known import Known
from pinfold.compaction import engine
from pinfold.compaction.loss import Loss, forms_around, loss_between, loss_of
from pinfold.compaction.report import KEEPS_MORE
from pinfold.compaction.strategies.registry import registry, traits
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.numbers import dollars, tokens
from pinfold.ports.clock import Clock
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.values import Compaction, Usage
from pinfold.window.refused import Refused


def _bill(model: str, spent: Usage, cost: float | None) -> str:
    """What a summary used and cost, in a sentence."""
    cached = f", {tokens(spent.cached)} of them from the prompt cache" if spent.cached else ""
    price = "" if cost is None else f": {dollars(cost)}"
    read, wrote = tokens(spent.input), tokens(spent.output)
    return f"{model} read {read} tokens{cached}, and wrote {wrote}{price}."


@dataclass(eq=False)
class Compacting:
    """`Session.compaction`. Whatever fails leaves the window as it was."""

    _record: Record
    _files: Files
    _summarizing: Summarizing
    _applying: Applying
    _clock: Clock
    _model: Callable[[], ModelInfo]
    _busy: Callable[[], bool]
    strategy: str
    options: PlanOptions
    _ready: Ready

    @property
    def strategies(self) -> Sequence[str]:
        return tuple(registry().strategies)

    def asks_model(self, strategy: str) -> bool:
        """Whether that strategy asks a model."""
        found = registry().strategies.get(strategy)
        return found is not None and found.needs_model

    def is_available(self, strategy: str) -> bool:
        """False for one whose work is the provider's, where that has no endpoint for it."""
        return self._summarizing.provider_compacts or not traits(strategy).at_provider

    def keep_defaults(self, strategy: str, options: PlanOptions) -> None:
        """Use these from now on in this session, without the choices for single items."""
        self.strategy = strategy
        self.options = replace(
            options,
            keep=frozenset(),
            fold=frozenset(),
            claims=frozenset(),
            lines=frozenset(),
            text=None,
        )

    async def view(self, trigger: CompactionTrigger = BY_HAND) -> WindowView:
        """The window now, with the checkpoint and digest. Raises `JournalError`."""
        await self._notice(trigger)
        return await self._record.view(self._model())

    async def tokens_after(self) -> int:
        """Tokens of the next request, if the window were compacted now and no model was asked.

        Raises `Refused`, `JournalError`.
        """
        view = await self._record.view(self._model())
        name = engine.LAST if self.asks_model(self.strategy) else self.strategy
        plan = await asyncio.to_thread(
            engine.plan_with, name, view, Material(), self.options, must_gain=True
        )
        return plan.sizes.context + plan.sizes.after

    async def draft(
        self,
        strategy: str | None = None,
        options: PlanOptions | None = None,
        *,
        material: Material | None = None,
        must_gain: bool = False,
        told: Step | None = None,
        trigger: CompactionTrigger = BY_HAND,
    ) -> CompactionDraft:
        """A compaction, planned but not applied; `material` is that of an earlier draft.

        A model that fails is noted, and the plan is the next strategy's. Raises `Refused`,
        `JournalError`.
        """
        name, options = strategy or self.strategy, options or self.options
        started = self._clock.monotonic()
        told = told or partial(self._tell, name)
        spent, cost = Usage(), None
        permitted = material is not None
        if material is None and self.asks_model(name):
            await self._applying.permit(trigger.compaction(name))
            permitted = True
        if material is None:
            material, spent, cost = await self._prepare(name, options, told, trigger)
        view = await self.view(trigger)
        told("swapping in", 0.9)
        revision = self._record.window.revision
        plan = await asyncio.to_thread(
            engine.plan_with, name, view, material, options, must_gain=must_gain
        )
        if self.asks_model(name):
            said = (sentence for sentence in material.told if sentence not in plan.told)
            plan = structs.replace(plan, told=(*plan.told, *said))
        told("checking", 1.0)
        return CompactionDraft(
            view,
            plan,
            name,
            options,
            trigger,
            revision,
            material,
            permitted,
            self._clock.monotonic() - started,
            spent,
            cost,
        )

    async def _prepare(
        self, name: str, options: PlanOptions, told: Step, trigger: CompactionTrigger
    ) -> tuple[Material, Usage, float | None]:
        if traits(name).takes_prepared:
            return self._ready.material() or Material(), Usage(), None
        if not self.asks_model(name):
            return Material(), Usage(), None
        if self._record.journal.read_only:
            return Material(error="this session is open read-only"), Usage(), None
        summarizer = None
        try:
            summarizer = await self._summarizing.summarizer(trigger.compaction(name), told)
            view = await self.view(trigger)
            material = await registry().strategies[name].prepare(view, summarizer, options)
            if not isinstance(material, Material):
                raise TypeError("it prepared no material")
        except (ProviderError, Refused) as error:
            material = Material(error=str(error))
        except (Exception, SystemExit) as error:  # a third party's strategy may raise anything
            material = Material(error=f"{type(error).__name__}: {error}")
        if summarizer is None:
            return material, Usage(), None
        spent = summarizer.spent
        cost = summarizer.cost(spent)
        if spent.input:
            said = (*material.told, _bill(summarizer.model.name, spent, cost), KEEPS_MORE)
            material = structs.replace(material, told=said)
        return material, spent, cost

    async def quote(self, tokens: int) -> Quote:
        """What it costs to have so many tokens read. Raises `ProviderError`."""
        return await self._summarizing.quote(tokens)

    def _tell(self, strategy: str, name: str, done: float) -> None:
        self._record.tell(CompactionProgress(name, done, strategy))

    async def known(self) -> Known:
        """Checkpoint, digest and core as of now. Raises `JournalError`."""
        await self._notice(BY_HAND)
        return await self._record.known()

    async def remembered(self, budget: int) -> SessionMemory:
        """The same for people, the digest in at most `budget` tokens. Raises `JournalError`."""
        await self._notice(BY_HAND)
        return await self._record.learn(lambda known: remembered(known, budget))

    async def _notice(self, trigger: CompactionTrigger) -> None:
        if trigger.blocking or not self._busy():  # else a tool of ours may be at work
            await self._files.notice()

    async def lost(self, generation: int) -> Loss:
        """What was lost when that window was made. Raises `Refused`, `JournalError`."""
        known = await self._record.known()
        window = self._record.window
        before, after = forms_around(window, generation)
        lines = known.record.lines()
        return await asyncio.to_thread(loss_between, before, after, window.archive, lines)

    async def loss(self, draft: CompactionDraft) -> Loss:
        """What would be lost from the next request."""
        return await asyncio.to_thread(loss_of, draft.view, draft.plan)

    async def run(
        self,
        strategy: str | None = None,
        options: PlanOptions | None = None,
        *,
        trigger: CompactionTrigger = BY_HAND,
        must_gain: bool = False,
        check: Callable[[CompactionDraft], None] = lambda _: None,
    ) -> CompactionDraft:
        """Draft and apply; an attempt that fails is journalled.

        Raises as these do, and what `check` raises of the draft.
        """
        started = self._clock.monotonic()
        compaction = trigger.compaction(strategy or self.strategy)
        generation = self._record.window.generation
        try:
            draft = await self.draft(strategy, options, must_gain=must_gain, trigger=trigger)
            check(draft)
            await self.apply(draft)
        except asyncio.CancelledError:
            if self._record.window.generation == generation:
                await self._applying.ended(compaction, "cancelled", "", started)
            raise
        except Stopped:
            raise  # that is in the journal
        except Exception as error:
            with suppress(Exception):  # what is told is why it failed, not that it went unwritten
                await self._applying.ended(compaction, "failed", str(error), started)
            raise
        return draft

    async def permit(self, compaction: Compaction) -> None:
        """Raises `Stopped` where a hook says no, and journals that."""
        await self._applying.permit(compaction)

    async def apply(self, draft: CompactionDraft) -> None:
        """Make it the window. Raises `Refused`, `JournalError`."""
        await self._applying.apply(draft)
