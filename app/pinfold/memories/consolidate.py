"""Phase 2: makes one set of files from all records.

One process at a time does it, by a claim that it checks before each write. If anything fails, the
baseline does not change, and the next run finishes or repeats what was cut off.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pinfold.atomic_files import failure
from pinfold.memories import agent, applying, artifacts, baseline, composing, merging, review, trees
from pinfold.memories.agent import AgentFailed
from pinfold.memories.applying import ConsolidationResult
from pinfold.memories.pipeline import Connect
from pinfold.memories.places import DIFF, GIT, MemoriesRefused, MemoryPlaces
from pinfold.memories.proof import RecordIndex
from pinfold.memories.records import Claim, Output, StateError
from pinfold.memories.source import safely
from pinfold.ports.clock import Clock
from pinfold.ports.errors import ProviderError
from pinfold.rollout.journal import JournalError
from pinfold.settings import MemorySettings

if TYPE_CHECKING:
    from pinfold.agent.requests.connection import Connection
    from pinfold.memories.state import MemoriesState

HEARTBEAT = 90.0
"""Seconds."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ConsolidationOutcome:
    """The result of a run."""

    status: Literal["succeeded", "unchanged", "held", "busy", "lost", "failed"]
    """`busy`: another process has the job, or the last run failed too recently; `held`: the result
    waits for the user's review."""
    note: str = ""
    """A sentence for the user."""
    proven: int = 0
    """Lines that the records support."""
    doubts: tuple[tuple[str, str], ...] = ()
    """Lines that no record confirms, and why."""
    diff: str = ""
    """What changed, or would change."""


class _Lost(Exception):
    """Another process has the job now."""


async def consolidate(
    places: MemoryPlaces,
    state: "MemoriesState",
    clock: Clock,
    settings: MemorySettings,
    connect: Connect | None,
    *,
    force: bool = False,
) -> ConsolidationOutcome:
    """Bring the files up to date with the records.

    The model that `connect` reaches consolidates; without one, or if it can't, rules do. `force`
    does not wait after a failure. Raises `StateError` if the job can't even be claimed.
    """
    claim = await asyncio.to_thread(lambda: state.claim_consolidation(force=force))
    if claim is None:
        return ConsolidationOutcome(
            "busy", "Memories are being consolidated elsewhere, or failed lately."
        )
    work = _Consolidation(places, state, clock, settings, claim)
    try:
        return await work.run(connect)
    except _Lost:
        await asyncio.to_thread(work.leave)
        return ConsolidationOutcome("lost", "Another process is now consolidating memories.")
    except asyncio.CancelledError:
        await asyncio.to_thread(work.give_back)
        raise
    except (AgentFailed, JournalError, ProviderError, MemoriesRefused, StateError) as error:
        return await asyncio.to_thread(work.failed, str(error))
    except OSError as error:
        return await asyncio.to_thread(work.failed, failure(places.files, error))
    except Exception as error:  # an open claim would block memories for an hour
        return await asyncio.to_thread(work.failed, f"{type(error).__name__}: {error}")


@dataclass(eq=False)
class _Consolidation:
    """The work of one claim. What is not `async` blocks."""

    _places: MemoryPlaces
    _state: "MemoriesState"
    _clock: Clock
    _settings: MemorySettings
    _claim: Claim

    def __post_init__(self) -> None:
        self._staging = self._places.staging(self._claim.token)
        self._inputs: trees.Tree = {}
        """The files when the work began, including what the last consolidation wrote."""

    async def run(self, connect: Connect | None) -> ConsolidationOutcome:
        selected = await _whole(self._select)
        outcome = await _whole(lambda: self._prepare(selected))
        if outcome is not None and outcome.status == "held":
            await asyncio.to_thread(self.give_back)
            return outcome
        if outcome is None:
            connection, note = await self._model(connect)
            if connection is not None:
                await self._alive(
                    agent.run(connection, self._staging, self._places.sessions, self._clock)
                )
            by_model = connection is not None
            outcome = await _whole(lambda: self._complete(selected, note, by_model=by_model))
        await _whole(lambda: self._finish(selected))
        return outcome

    async def _model(self, connect: Connect | None) -> "tuple[Connection | None, str]":
        """The model that consolidates; or none, and why."""
        if connect is None:
            return None, "Merged by rules, without a model."
        connection = await connect()
        if why := agent.unable(connection.model):
            await connection.provider.close()
            return None, f"Merged by rules: {why}, so it can't consolidate."
        return connection, ""

    async def _alive(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work` and keep the claim alive. Raises `_Lost` once it is lost."""
        working = asyncio.create_task(work)
        beating = asyncio.create_task(self._keep_claim())
        try:
            await asyncio.wait({working, beating}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                beating.result()
                raise _Lost
        finally:
            for task in (working, beating):
                task.cancel()
            await asyncio.gather(working, beating, return_exceptions=True)
        working.result()

    async def _keep_claim(self) -> None:
        while True:
            await self._clock.sleep(HEARTBEAT)
            if not await asyncio.to_thread(self._state.heartbeat, self._claim):
                return

    def _check(self) -> None:
        """Call before each write. Raises `_Lost`."""
        if not self._state.owns(self._claim):
            raise _Lost

    def _select(self) -> list[Output]:
        self._check()
        settings = self._settings
        self._state.prune(settings.max_unused_days)
        return self._state.selection(
            settings.max_raw_memories_for_consolidation, settings.max_unused_days
        )

    def _prepare(self, selected: Sequence[Output]) -> ConsolidationOutcome | None:
        """Bring the inputs up to date and prepare a folder for the agent; None if it has work."""
        places = self._places
        with places.locked():
            self._check()
            self._remove_leftovers()
            if gone := self._state.forgotten():
                review.purge(places, gone, RecordIndex(self._state.outputs()))
            if (waiting := review.settled(places)) is not None:
                return _outcome("held", waiting.result, waiting.diff)
            if (result := applying.load(places)) is not None:
                with suppress(MemoriesRefused):  # the user edited the files: then it is repeated
                    applying.apply(places, result, self._check)
            artifacts.sync(places.files, selected, self._clock.now(), self._check)
            now, was = trees.read(places.files), baseline.read(places)
            if now != was and not selected and not applying.outputs(now):
                self._check()
                baseline.reset(places, now)  # there are no memories, and there were none
            elif now != was:
                self._check()
                changes = composing.changes(was, now).encode()
                trees.put(places.files, DIFF, changes)
                trees.write(self._staging, {**now, DIFF: changes})
                (self._staging / GIT).mkdir()  # so that no repository around it is searched
                self._inputs = now
                return None
            return ConsolidationOutcome("unchanged", "No memories have changed.")

    def _complete(
        self, selected: Sequence[Output], note: str, *, by_model: bool
    ) -> ConsolidationOutcome:
        """Prove what was written; put it into use, or hold it for review."""
        places = self._places
        with places.locked():
            self._check()
            if composing.lasting(trees.read(places.files)) != composing.lasting(self._inputs):
                raise MemoriesRefused("the files were changed meanwhile.")
            every = self._state.outputs()
            before = applying.outputs(self._inputs)
            if by_model:
                made = composing.written(self._staging)
            else:
                made = before | merging.merged(before, selected, every)
            inputs = applying.inputs(self._inputs)
            clean = artifacts.redacted(inputs | made)
            after, proven, doubts = composing.proven(
                before, applying.outputs(clean), RecordIndex(every), self._state.forgotten()
            )
            to_be = inputs | after
            diff = baseline.diff(before, applying.outputs(to_be))
            held = self._settings.review and bool(diff)
            at = self._clock.now().timestamp()
            result = ConsolidationResult(at, "model" if by_model else "rules", held, proven, doubts)
            self._check()
            applying.store(places, before, to_be, result)
            for folder in (self._staging, places.sessions):
                trees.drop(folder)
            if not held:
                applying.apply(places, result, self._check)
            return _outcome("held" if held else "succeeded", result, diff, note)

    def _finish(self, selected: Sequence[Output]) -> None:
        newest = max((output.source_updated_at for output in selected), default=0.0)
        watermark = max(self._claim.input_watermark, newest)
        if not self._state.finish_consolidation(self._claim, selected, watermark):
            raise _Lost

    def failed(self, why: str) -> ConsolidationOutcome:
        """End the job as failed."""
        self._clear()
        why = safely(why)
        with suppress(StateError):  # then the lease ends
            self._state.fail(self._claim, why)
        return ConsolidationOutcome("failed", f"Memories were not consolidated: {why}")

    def leave(self) -> None:
        """Remove our staging folder; the rest belongs to the process that has the claim."""
        with suppress(OSError):
            trees.drop(self._staging)

    def give_back(self) -> None:
        self._clear()
        with suppress(StateError):
            self._state.release(self._claim)

    def _clear(self) -> None:
        with suppress(OSError):  # then the next run removes them
            trees.drop(self._staging)
            (self._places.files / DIFF).unlink(missing_ok=True)

    def _remove_leftovers(self) -> None:
        baseline.recover(self._places)
        for folder in self._places.unfinished():
            trees.drop(folder)
        for folder in (self._places.result, self._places.undo):
            if not (folder / applying.MARKER).exists():
                trees.drop(folder)
        (self._places.files / DIFF).unlink(missing_ok=True)


async def _whole(work: Callable[[], Answer]) -> Answer:
    """Do blocking work, and wait for its end even if cancelled: then it can be cleaned up."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # retrieved, so that asyncio does not log it
        raise


def _outcome(
    status: Literal["succeeded", "held"], result: ConsolidationResult, diff: str, note: str = ""
) -> ConsolidationOutcome:
    waits = "A consolidation is waiting for review." if status == "held" else ""
    said = " ".join(filter(None, (note, waits)))
    return ConsolidationOutcome(status, said, result.proven, result.doubts, diff)
