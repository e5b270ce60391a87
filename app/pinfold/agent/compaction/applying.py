"""Applies drafts, asks the hooks before and after, and journals compactions that failed."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pinfold.agent.compaction import window_files
from pinfold.agent.compaction.draft import CompactionDraft
from pinfold.agent.context.toolchain import env_of
from pinfold.agent.hooks import Hooks, Stopped
from pinfold.agent.record import BUSY, Record
from pinfold.agent.updates import Told
from pinfold.compaction import engine
from pinfold.compaction.plan import PlanSizes
from pinfold.compaction.report import completion
from pinfold.ports.clock import Clock
from pinfold.rollout.events import CompactionFinished, Data
from pinfold.rollout.items import Item
from pinfold.rollout.journal import JournalError
from pinfold.rollout.values import Compaction
from pinfold.window.refused import Refused

SEE_LOST = "/lost shows what was lost"


@dataclass(eq=False)
class Applying:
    _record: Record
    _hooks: Hooks
    _clock: Clock
    _cwd: Path
    _busy: Callable[[], bool]

    async def permit(self, compaction: Compaction) -> None:
        """Raises `Stopped` where a hook says no, and journals that."""
        started = self._clock.monotonic()
        outcome = await self._hooks.run("pre_compact", compaction=compaction)
        if outcome.stop:
            await self.ended(compaction, "stopped", outcome.stop, started)
            raise Stopped(f"Stopped by a hook: {outcome.stop}")

    async def ended(
        self,
        compaction: Compaction,
        status: Literal["failed", "stopped", "cancelled"],
        error: str,
        started: float,
    ) -> None:
        """Journal a compaction that was not applied."""
        if self._record.journal.read_only:
            return
        seconds = round(self._clock.monotonic() - started, 3)
        await self._record.append(
            CompactionFinished(compaction=compaction, status=status, error=error, seconds=seconds)
        )

    async def apply(self, draft: CompactionDraft) -> None:
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
        # The window is replaced: later failures are only reported.
        record.tell(Told(completion(plan), hint=SEE_LOST))
        for sentence in plan.told:
            record.tell(Told(sentence))
        for note in plan.notes:
            record.warn(note)
        try:
            await asyncio.to_thread(self._save_summary, draft)
            await self._run_post_compact(compaction, plan.sizes)
        except JournalError as error:
            record.warn(f"The text added by a post_compact hook is left out: {error}")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if trigger.phase != "standalone_turn" or task is None:
                raise
            task.uncancel()  # Esc ended the hook; the compaction was over

    async def _run_post_compact(self, compaction: Compaction, sizes: PlanSizes) -> None:
        told = {
            "before": sizes.context + sizes.before,
            "after": sizes.context + sizes.after,
            "headroom": sizes.headroom,
        }
        outcome = await self._hooks.run("post_compact", compaction=compaction, tokens=told)
        if text := outcome.context:
            await self._record.put(Item(n=0, kind="context", content=text))

    def _save_summary(self, draft: CompactionDraft) -> None:
        folder = self._record.journal.folder
        summary = draft.plan.meta.get("summary")
        if isinstance(summary, dict):
            with suppress(OSError):
                told = {**summary, "env": env_of(self._cwd)}
                window_files.save_summary(folder, told, self._clock.now())

    def _check_fit(self, draft: CompactionDraft) -> None:
        window = self._record.window
        self._record.check_writable()
        if self._busy() and not draft.trigger.blocking:
            raise Refused(BUSY)
        numbers = [item.n for item in draft.plan.items]
        if window.revision != draft.revision or list(window.forms) != numbers:
            raise Refused("The window has changed since the preview: look at it again.")
