"""Automatic compaction, before a request that needs it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from pinfold.agent.compaction.compacting import Compacting
from pinfold.agent.compaction.draft import CompactionDraft
from pinfold.agent.compaction.mask_batches import MaskBatches
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.options import Limits
from pinfold.agent.record import Record
from pinfold.agent.updates import Appended, Update
from pinfold.compaction import guards
from pinfold.compaction.atoms import atoms, open_atom, shrinks_unseen
from pinfold.compaction.budget import least_headroom, pins_text, too_small
from pinfold.compaction.engine import LAST
from pinfold.compaction.guards import RESUMES, Cause, PastCompactions
from pinfold.compaction.refusals import Crowded, Impossible, NoGain, TooSmall, Unseen
from pinfold.rollout.events import ItemsMarked, ModelChanged, PinsChanged, WindowReplaced
from pinfold.rollout.journal import JournalError
from pinfold.window.reading import GaugeReading

BELOW = 0.7
"""The largest share of the threshold that an automatic compaction aims at."""
Reviewer = Callable[[CompactionTrigger], Awaitable[bool]]
"""Shows the preview and waits for its end: whether it was applied."""


class AutoCompaction:
    """Compacts the window when the guards say so."""

    def __init__(
        self,
        record: Record,
        compacting: Compacting,
        masking: MaskBatches,
        reading: Callable[[], GaugeReading],
        limits: Limits,
    ) -> None:
        self._record = record
        self._masking = masking
        self._compacting = compacting
        self._reading = reading
        self._limits = limits
        self.reviewer: Reviewer | None = None
        self._past = PastCompactions()
        self._settings = (compacting.strategy, compacting.options)
        """With which earlier attempts were made."""
        self._told = False
        """Whether the user knows that a compaction would not help."""
        self._crowded = False
        """Whether pins had new results shortened in this turn."""
        record.subscribe(self._hear)

    def prompted(self) -> None:
        """The user sent a prompt."""
        self._past, self._crowded = self._past.prompted(), False

    def acted(self) -> None:
        """The user changed how or whether to compact, or another window is to be compacted."""
        self._past = self._past.acted()

    async def fit_model(self) -> GaugeReading | None:
        """Have the window fit another model; the gauge where the user was asked to make room and
        left it too large."""
        self.acted()
        await self.check("model")
        reading = self._reading()
        asked = self.reviewer is not None and self._limits.auto != "off"
        return reading if asked and reading.used > reading.usable else None

    @property
    def paused(self) -> bool:
        """Whether nothing is compacted automatically, as that failed again and again."""
        return self._limits.auto != "off" and self._past_now().stopped

    def _past_now(self) -> PastCompactions:
        settings = (self._compacting.strategy, self._compacting.options)
        if settings != self._settings:
            self._settings, self._past = settings, self._past.changed()
        return self._past

    def due(self) -> bool:
        """Whether the next request compacts the window, or asks the user to."""
        reading, limits = self._reading(), self._limits
        past = self._past_now()
        if self._record.phase == "idle":
            past = past.prompted()  # as it is by then
        step = guards.next_step(
            "threshold",
            reading.used,
            reading.usable,
            limits.threshold,
            limits.auto,
            past,
            paused=self._is_paused_and_fits(reading),
        )
        return step != "leave"

    def _is_paused(self) -> bool:
        """Whether the last turn is paused, to be continued later."""
        return self._record.state.turn_state == "waiting"

    def _is_paused_and_fits(self, reading: GaugeReading) -> bool:
        """Whether it is, and the window still fits into a request."""
        return self._is_paused() and reading.used <= reading.usable

    def _hear(self, update: Update) -> None:
        if not isinstance(update, Appended):
            return
        match update.event.data:
            case WindowReplaced(reason=reason):
                self._told = False
                match reason:
                    case "undo" | "restore" | "kept":
                        self._past = self._past.undid().changed()
                    case "manual" | "threshold" | "overflow" | "model":
                        self._past = self._past.succeeded(self._reading().used)
            case PinsChanged() | ItemsMarked() | ModelChanged():
                self._past, self._told = self._past.changed(), False

    async def check(
        self,
        cause: Cause,
        phase: Literal["standalone_turn", "pre_turn", "mid_turn"] = "standalone_turn",
    ) -> bool:
        """Compact if the window needs it; whether that was done.

        `phase` is that of the turn, if one runs. Raises `TooSmall` on an overflow that no
        compaction can fix, and `Crowded` where pins leave no room again and again.
        """
        limits, reading = self._limits, self._reading()
        if reading.used < limits.threshold * reading.usable:
            self._past, self._told = self._past.below(), False
        match phase:
            case "standalone_turn":
                paused = self._is_paused()
            case "pre_turn":
                paused = self._is_paused_and_fits(reading)
            case "mid_turn":
                paused = False
        step = guards.next_step(
            cause,
            reading.used,
            reading.usable,
            limits.threshold,
            limits.auto,
            self._past_now(),
            paused=paused,
        )
        trigger = CompactionTrigger(cause, phase, blocking=True)
        if cause == "overflow" and (refusal := await self._too_small(trigger)):
            raise refusal
        if (
            cause == "model"
            and limits.auto != "off"
            and not paused
            and await self._rebuild_unreadable(trigger)
        ):
            return True
        if step == "leave":
            may_mask = cause == "threshold" and limits.auto == "auto"
            if may_mask and not (paused or self._past.stopped):
                await self._mask(reading, trigger)
            return False
        if step == "ask" and self.reviewer is not None:
            applied = await self._review(self.reviewer, trigger)
            if not applied:
                self._past = self._past.declined(reading.used)
            return applied
        return await self._compact(trigger, reading)

    async def _review(self, reviewer: Reviewer, trigger: CompactionTrigger) -> bool:
        """Ask the user; a turn waits as it does for an approval."""
        record, before = self._record, self._record.phase
        if trigger.phase != "standalone_turn":
            record.enter("approval")
        try:
            return await reviewer(trigger)
        finally:
            record.enter(before)

    async def _compact(self, trigger: CompactionTrigger, reading: GaugeReading) -> bool:
        compacting, cause = self._compacting, trigger.cause
        try:
            # What is left must lie well below the threshold, or it would be passed at once.
            target = min(compacting.options.target_pct, self._limits.threshold * BELOW)
            options = replace(compacting.options, target_pct=target)
            must_gain = cause == "threshold"
            fits = must_gain and reading.used <= reading.usable
            await compacting.run(
                options=options,
                trigger=trigger,
                must_gain=must_gain,
                check=partial(self._check_unseen, fits=fits),
            )
        except Unseen:
            return False  # it is compacted once the model has them
        except Crowded:
            raise
        except NoGain as error:
            self._past = self._past.in_vain(reading.used)
            # On an overflow the turn ends with what the server said.
            if cause != "overflow" and not self._told:
                self._told = True
                self._record.warn(f"Not compacted: {error}")
            return False
        except (TooSmall, Impossible) as error:
            small = error if isinstance(error, TooSmall) else await self._too_small(trigger)
            if small is not None and cause == "overflow":
                raise small from error
            self._past = self._past.in_vain(reading.used)
            # A window may be larger than was learned: the request goes out anyway, and
            # where it is refused, the turn ends with this sentence.
            if not self._told and (small is None or reading.window_source != "learned"):
                self._told = True
                self._record.warn(f"Not compacted: {small or error}")
            return False
        except Exception as error:  # the turn must continue, whatever it is
            return self._failed(error)
        return True

    def _failed(self, error: Exception) -> Literal[False]:
        self._past = self._past.failed()
        more = f" Automatic compaction is paused. {RESUMES}" if self._past.stopped else ""
        self._record.warn(f"Not compacted: {error}{more}")
        return False

    async def _too_small(self, trigger: CompactionTrigger) -> TooSmall | None:
        """The error if the model can't hold what every request needs."""
        try:
            return too_small(await self._compacting.view(trigger))
        except JournalError:  # what is worth telling about it, the next event to write will tell
            return None

    def _check_unseen(self, draft: CompactionDraft, *, fits: bool) -> None:
        """Check what the plan does to results that the model has not seen yet: it would only ask
        for them again. `fits`: whether the window can be sent to it first.

        Raises `Unseen`, `Crowded`, and `TooSmall` where they would go for lack of room.
        """
        view, plan = draft.view, draft.plan
        if (pins := pins_text(view, draft.options)) and shrinks_unseen(view, plan.window):
            if fits:
                raise Unseen("The newest results are sent first.")
            if self._crowded:
                raise Crowded(f"There is no room for what the agent reads. {pins}")
            self._crowded = True
        stays = {n for n, _ in plan.window}
        if view.pinned or all(entry.n in stays for entry in open_atom(atoms(view))):
            return
        if small := too_small(view, least_headroom(view, draft.options)):
            raise small

    async def _mask(self, reading: GaugeReading, trigger: CompactionTrigger) -> None:
        if not self._masking.is_due(reading):
            return
        try:
            await self._masking.mask(reading, trigger)
        except Exception as error:  # the turn must continue, whatever it is
            self._record.warn(f"Nothing was masked: {error}")

    async def _rebuild_unreadable(self, trigger: CompactionTrigger) -> bool:
        """Rebuild a window that holds what this model can't read. Raises nothing."""
        window = self._record.window
        if not any(window.archive.head(n).kind == "compaction" for n in window.forms):
            return False
        try:
            if not (await self._compacting.view(trigger)).unreadable:
                return False
            await self._compacting.run(LAST, trigger=trigger)
        except Exception as error:
            self._record.warn(
                "A provider's own compaction is in the window, and this model can't read it. "
                f"Not rebuilt: {error}"
            )
            return False
        self._record.warn(
            "This model can't read the compaction that another provider made: the window is "
            "rebuilt from the session's own record. /undo brings the old one back."
        )
        return True
