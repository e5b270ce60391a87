"""The plans of the preview: the chosen strategy's first, then those of the others."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pinfold.compaction.view import PlanOptions
from pinfold.tui.panels.preview_steps import PLAIN, PlanProgress, after, begun

if TYPE_CHECKING:
    from pinfold.agent.compaction.compacting import Compacting
    from pinfold.agent.compaction.draft import CompactionDraft
    from pinfold.agent.compaction.trigger import CompactionTrigger

SETTLED = 0.1
"""Seconds without a key after which the other strategies are planned too."""


class Plans:
    """What each strategy would do to the window of now, with the options of now."""

    def __init__(
        self,
        compaction: "Compacting",
        strategies: Sequence[str],
        told: Callable[[PlanProgress | None], None],
        trigger: "CompactionTrigger",
    ) -> None:
        """`told` is called with the progress; with None when nothing is being planned."""
        self._compaction = compaction
        self._strategies = strategies
        self._told = told
        self._trigger = trigger
        self.drafts: dict[str, CompactionDraft | Exception] = {}
        self._asked: dict[str, asyncio.Task[CompactionDraft]] = {}
        """First drafts of strategies for which a model writes: it is asked once."""
        self._first: asyncio.Task[CompactionDraft] | None = None
        """Of these, one that began in this round, with the options of now."""
        self._ordered: set[str] = set()
        """Strategies that may cost a model's work: the user has said so."""
        self._standings: dict[str, PlanProgress] = {}
        """Where these stand."""
        self._chosen = ""
        self._round = 0

    def must_ask(self, name: str) -> bool:
        """Whether that strategy costs a model's work that the user has not ordered."""
        return self._compaction.asks_model(name) and name not in self._ordered

    def is_written(self, name: str) -> bool:
        """Whether a model is at work on that strategy's plan."""
        asked = self._asked.get(name)
        return name in self._ordered and (asked is None or not asked.done())

    def has_failed(self, name: str) -> bool:
        """Whether a model was at work on that strategy's plan and failed."""
        asked, found = self._asked.get(name), self.drafts.get(name)
        if name not in self._ordered or (asked is not None and not asked.done()):
            return False
        return isinstance(found, Exception) or (found is not None and bool(found.material.error))

    def order(self, name: str) -> None:
        """Let a model work on that strategy's plan."""
        self._ordered.add(name)

    def forget(self, *, asked: bool = False) -> None:
        """Drop all plans; with `asked` also what a model wrote, or is writing."""
        self.drafts = {}
        if asked:
            for task in self._asked.values():
                task.cancel()
            self._asked.clear()
            self._ordered.clear()

    def forget_failed(self, name: str) -> None:
        """Let a strategy whose model failed be ordered again."""
        if self.has_failed(name):
            self._ordered.discard(name)
            self._asked.pop(name, None)
            del self.drafts[name]

    async def make(self, chosen: str, options: PlanOptions, made: Callable[[str], None]) -> None:
        """Plan what is not planned yet, `chosen` first; call `made` with the name of each."""
        drafts, self._chosen = self.drafts, chosen
        self._round += 1
        self._first = None
        self._ask(chosen, options)
        names = list(self._names(chosen))
        for at, name in enumerate(names):
            if self.must_ask(name):
                continue
            if name in drafts:
                if name == chosen:
                    made(name)
                continue
            if at == 1:
                await asyncio.sleep(SETTLED)
            if name != chosen and not self._is_asked(chosen):
                self._told(PlanProgress(PLAIN, "comparing", at / len(names), about=name))
            try:
                drafts[name] = draft = await self._drafted(name, options)
                await asyncio.to_thread(getattr, draft, "report")  # it reads every item
            except Exception as error:  # the panel stays, whatever it is
                drafts[name] = error
            if drafts is not self.drafts:
                return
            made(name)
        self._told(None)

    def _names(self, chosen: str) -> Iterator[str]:
        """The chosen one first; those for which a model is still at work come last."""
        others = [strategy for strategy in self._strategies if not self.must_ask(strategy)]
        yield from sorted(dict.fromkeys([chosen, *others]), key=self._is_asked)

    def _is_asked(self, name: str) -> bool:
        """Whether a model is at work on that strategy's first draft."""
        return name in self._asked and not self._asked[name].done()

    def _ask(self, name: str, options: PlanOptions) -> None:
        """Begin the first draft of a strategy that the user has ordered from a model."""
        if self._compaction.asks_model(name) and not (
            self.must_ask(name) or name in self._asked or name in self.drafts
        ):
            self._stand(name, begun(name, asks=True))
            told = partial(self._hear_step, name, None)
            draft = self._compaction.draft(name, options, trigger=self._trigger, told=told)
            self._first = self._asked[name] = asyncio.create_task(draft)

    async def _drafted(self, name: str, options: PlanOptions) -> "CompactionDraft":
        draft = partial(self._compaction.draft, name, trigger=self._trigger)
        told = partial(self._hear_step, name, self._round)
        self._ask(name, options)
        asked = self._asked.get(name)
        if asked is None:
            self._stand(name, begun(name, asks=False))
            # What it reads is of use to the next plan too: it is not cut off.
            return await _whole(draft(options, told=told))
        if not asked.done():
            self._stand(name, self._standings[name])
        if asked is self._first:
            return await asyncio.shield(asked)
        try:
            material = (await asyncio.shield(asked)).material
        except Exception:
            del self._asked[name]
            raise
        return await _whole(draft(options, material=material, told=told))

    def _hear_step(self, name: str, at: int | None, step: str, done: float) -> None:
        """Record a step of a draft, unless it is from an earlier round."""
        if at in (None, self._round):
            self._stand(name, after(self._standings[name], step, done))

    def _stand(self, name: str, standing: PlanProgress) -> None:
        self._standings[name] = standing
        if name == self._chosen:  # a model that writes for another one continues unseen
            self._told(standing)


async def _whole(drafting: "Coroutine[Any, Any, CompactionDraft]") -> "CompactionDraft":
    """Await a draft. It is not cut off where nobody waits any longer; then its end is ignored."""
    task = asyncio.create_task(drafting)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)
