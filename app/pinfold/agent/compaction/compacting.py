"""Compacting the window: the next one is drafted, looked at, and applied."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

from msgspec import structs

from pinfold.agent.compaction import window_files
from pinfold.agent.compaction.ready import Ready
from pinfold.agent.compaction.summarizing import Quote, Summarizing
from pinfold.agent.compaction.trigger import BY_HAND, CompactionTrigger
from pinfold.agent.context.toolchain import env_of
from pinfold.agent.files import Files
from pinfold.agent.hooks import Hooks, Stopped
from pinfold.agent.record import Record
from pinfold.agent.requests.writing import Step
from pinfold.agent.steering.in_mind import Remembered, remembered
from pinfold.agent.updates import Compacting as Progress
from pinfold.agent.updates import Told
from pinfold.checkpoint.known import Known
from pinfold.compaction import engine
from pinfold.compaction.loss import Loss, change_at, loss_by, loss_of
from pinfold.compaction.plan import CompactionPlan, Sizes
from pinfold.compaction.report import KEEPS_MORE, Report, completion, report_of
from pinfold.compaction.strategies.registry import registry, traits
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.numbers import dollars, tokens
from pinfold.ports.clock import Clock
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import CompactionFinished, Data, ItemAdded
from pinfold.rollout.items import Item
from pinfold.rollout.journal import JournalError
from pinfold.rollout.values import Compaction, Usage
from pinfold.window.refused import Refused

SEE_LOST = "/lost shows what no longer stands"


def _bill(model: str, spent: Usage, cost: float | None) -> str:
    """What a summary took."""
    cached = f", {tokens(spent.cached)} of them from the prompt cache" if spent.cached else ""
    price = "" if cost is None else f": {dollars(cost)}"
    read, wrote = tokens(spent.input), tokens(spent.output)
    return f"{model} read {read} tokens{cached}, and wrote {wrote}{price}."


@dataclass(frozen=True)
class Draft:
    """A plan that may be applied, with what it was made from."""

    view: WindowView
    plan: CompactionPlan
    strategy: str
    """The one that was asked for; the plan tells which one it is."""
    options: PlanOptions
    trigger: CompactionTrigger = BY_HAND
    revision: int = 0
    """The window's, when it was made."""
    material: Material = field(default_factory=Material)
    """It serves for further drafts of the same strategy: no model is asked again."""
    permitted: bool = False
    """Whether the hooks were asked: before a model was."""
    seconds: float = 0.0
    spent: Usage = field(default_factory=Usage)
    """Tokens that a model used for it."""
    cost: float | None = None
    """US dollars of these, where the prices are known."""

    @cached_property
    def report(self) -> Report:
        """The dry run; a turn that waits for its compaction does without."""
        return report_of(self.view, self.plan)


class Compacting:
    """`Session.compaction`. Whatever fails leaves the window as it was."""

    def __init__(
        self,
        record: Record,
        files: Files,
        summarizing: Summarizing,
        hooks: Hooks,
        clock: Clock,
        cwd: Path,
        model: Callable[[], ModelInfo],
        busy: Callable[[], bool],
        strategy: str,
        options: PlanOptions,
        ready: Ready,
    ) -> None:
        self.strategy = strategy
        self.options = options
        self._record = record
        self._files = files
        self._summarizing = summarizing
        self._hooks = hooks
        self._clock = clock
        self._cwd = cwd
        self._model = model
        self._busy = busy
        self._ready = ready

    @property
    def strategies(self) -> Sequence[str]:
        return tuple(registry().strategies)

    def asks_model(self, strategy: str) -> bool:
        """Whether a draft by that strategy has a model write first."""
        found = registry().strategies.get(strategy)
        return found is not None and found.needs_model

    def keep_defaults(self, strategy: str, options: PlanOptions) -> None:
        """Use these from now on in this session, but for what was said of single items."""
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
        """The window now, with all that is known beside it. Raises `JournalError`."""
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
    ) -> Draft:
        """The next window, not applied; `material` is that of an earlier draft.

        A model that fails is noted, and the plan is the next strategy's. Raises `Refused`,
        `JournalError`.
        """
        name, options = strategy or self.strategy, options or self.options
        started = self._clock.monotonic()
        told = told or partial(self._tell, name)
        spent, cost = Usage(), None
        permitted = material is not None
        if material is None and self.asks_model(name):
            await self.permit(trigger.compaction(name))
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
        return Draft(
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
            return Material(error="this session is open to read only"), Usage(), None
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

    async def permit(self, compaction: Compaction) -> None:
        """Raises `Stopped` where a hook says no, and journals that."""
        started = self._clock.monotonic()
        outcome = await self._hooks.run("pre_compact", compaction=compaction)
        if outcome.stop:
            await self._ended(compaction, "stopped", outcome.stop, started)
            raise Stopped(f"Stopped by a hook: {outcome.stop}")

    def _tell(self, strategy: str, name: str, done: float) -> None:
        self._record.tell(Progress(name, done, strategy))

    async def known(self) -> Known:
        """What is kept in mind beside the window, as of now. Raises `JournalError`."""
        await self._notice(BY_HAND)
        return await self._record.known()

    async def remembered(self, budget: int) -> Remembered:
        """The same for people, the digest in at most `budget` tokens. Raises `JournalError`."""
        await self._notice(BY_HAND)
        return await self._record.learn(lambda known: remembered(known, budget))

    async def _notice(self, trigger: CompactionTrigger) -> None:
        if trigger.waited_for or not self._busy():  # else a tool of ours may be at work
            await self._files.notice()

    async def lost(self, generation: int) -> Loss:
        """What the change that made a window took from it. Raises `Refused`, `JournalError`."""
        known = await self._record.known()
        window = self._record.window
        change = change_at(window, generation)
        return await asyncio.to_thread(loss_by, change, window.archive, known.record.lines())

    async def loss(self, draft: Draft) -> Loss:
        """What would stand nowhere in the next request."""
        return await asyncio.to_thread(loss_of, draft.view, draft.plan)

    async def run(
        self,
        strategy: str | None = None,
        options: PlanOptions | None = None,
        *,
        trigger: CompactionTrigger = BY_HAND,
        must_gain: bool = False,
        check: Callable[[Draft], None] = lambda _: None,
    ) -> Draft:
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
                await self._ended(compaction, "cancelled", "", started)
            raise
        except Stopped:
            raise  # that stands in the journal
        except Exception as error:
            with suppress(Exception):  # what is told is why it failed, not that it went unwritten
                await self._ended(compaction, "failed", str(error), started)
            raise
        return draft

    async def _ended(
        self,
        compaction: Compaction,
        status: Literal["failed", "stopped", "cancelled"],
        error: str,
        started: float,
    ) -> None:
        if self._record.journal.read_only:
            return
        seconds = round(self._clock.monotonic() - started, 3)
        await self._record.append(
            CompactionFinished(compaction=compaction, status=status, error=error, seconds=seconds)
        )

    async def apply(self, draft: Draft) -> None:
        """Make it the window. Raises `Refused`, `JournalError`."""
        record, plan, trigger = self._record, draft.plan, draft.trigger
        started = self._clock.monotonic()
        window = record.window
        self._check_fit(draft)
        compaction = trigger.compaction(plan.strategy)
        if not draft.permitted:
            await self.permit(compaction)

        def make(n: int) -> list[Data]:
            self._check_fit(draft)  # again: a prompt or a pin may have come meanwhile
            replaced = engine.event_of(plan, n, window.generation + 1, trigger.cause)
            finished = CompactionFinished(
                compaction=compaction,
                status="applied",
                error=draft.material.error,
                seconds=round(draft.seconds + self._clock.monotonic() - started, 3),
                tokens=replaced.tokens,
            )
            return [replaced, finished]

        await record.add(make)
        # From here on it is done: what fails now is told, no more.
        record.tell(Told(completion(plan), hint=SEE_LOST))
        for sentence in plan.told:
            record.tell(Told(sentence))
        for note in plan.notes:
            record.warn(note)
        try:
            await asyncio.to_thread(self._save_summary, draft)
            await self._after(compaction, plan.sizes)
        except JournalError as error:
            record.warn(f"What a hook of post_compact added is left out: {error}")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if trigger.phase != "standalone_turn" or task is None:
                raise
            task.uncancel()  # Esc ended the hook; the compaction was over

    async def _after(self, compaction: Compaction, sizes: Sizes) -> None:
        told = {
            "before": sizes.context + sizes.before,
            "after": sizes.context + sizes.after,
            "headroom": sizes.headroom,
        }
        outcome = await self._hooks.run("post_compact", compaction=compaction, tokens=told)
        if text := outcome.context:
            await self._record.add(
                lambda n: [ItemAdded(item=Item(n=n, kind="context", content=text))]
            )

    def _save_summary(self, draft: Draft) -> None:
        folder = self._record.journal.folder
        summary = draft.plan.meta.get("summary")
        if isinstance(summary, dict):
            with suppress(OSError):
                told = {**summary, "env": env_of(self._cwd)}
                window_files.save_summary(folder, told, self._clock.now())

    def _check_fit(self, draft: Draft) -> None:
        window = self._record.window
        if self._record.journal.read_only:
            raise Refused("This session is open to read only. Fork it to go on: /fork.")
        if self._busy() and not draft.trigger.waited_for:
            raise Refused("A turn is running: press Esc first, or wait for its end.")
        numbers = [item.n for item in draft.plan.items]
        if window.revision != draft.revision or list(window.forms) != numbers:
            raise Refused("The window has changed since the preview: look at it anew.")
