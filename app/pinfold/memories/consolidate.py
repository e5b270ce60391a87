"""Phase 2: one set of files out of all records.

One process at a time, by a claim that it checks before each write. Whatever breaks, the baseline
stays as it is, and the next run finishes or repeats what was cut off.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pinfold.atomic_files import failure
from pinfold.memories import agent, applying, artifacts, baseline, composing, merging, review, trees
from pinfold.memories.agent import AgentFailed
from pinfold.memories.applying import ConsolidationResult
from pinfold.memories.places import DIFF, GIT, MemoriesRefused, MemoryPlaces, is_output
from pinfold.memories.proof import RecordIndex
from pinfold.memories.records import Claim, Output, StateError
from pinfold.memories.source import safely
from pinfold.ports.clock import Clock
from pinfold.ports.errors import ProviderError
from pinfold.rollout.journal import JournalError

if TYPE_CHECKING:
    from pinfold.agent.requests.connection import Connection
    from pinfold.memories.state import MemoriesState

HEARTBEAT = 90.0
"""Seconds."""

Answer = TypeVar("Answer")
Connect = Callable[[], Awaitable["Connection"]]


@dataclass(frozen=True, slots=True)
class Options:
    """How to consolidate."""

    limit: int = 256
    """Records."""
    max_unused_days: float = 30
    review: bool = False
    """Whether the user accepts the result before it is used."""


@dataclass(frozen=True, slots=True)
class ConsolidationOutcome:
    """What came of a run."""

    status: Literal["succeeded", "unchanged", "held", "busy", "lost", "failed"]
    """`busy`: another process has the job, or it is too soon after a failure; `held`: the result
    waits for the user's review."""
    note: str = ""
    """A sentence for the user."""
    proven: int = 0
    """Lines that the records bear out."""
    doubts: tuple[tuple[str, str], ...] = ()
    """Lines that none confirms, and why."""
    diff: str = ""
    """What changed, or would."""


class _Lost(Exception):
    """Another process has the job by now."""


class _Waits(Exception):
    """An earlier result waits for the user; nothing was done."""

    def __init__(self, outcome: ConsolidationOutcome) -> None:
        super().__init__(outcome.note)
        self.outcome = outcome


async def consolidate(
    places: MemoryPlaces,
    state: "MemoriesState",
    clock: Clock,
    options: Options,
    connect: Connect | None,
    *,
    force: bool = False,
) -> ConsolidationOutcome:
    """Bring the files up to date with the records.

    `connect` reaches the model that consolidates; without one, or where it can't, rules do it.
    `force` does not wait after a failure. Raises `StateError` where not even the claim can be made.
    """
    claim = await asyncio.to_thread(lambda: state.claim_consolidation(force=force))
    if claim is None:
        return ConsolidationOutcome(
            "busy", "Memories are being consolidated elsewhere, or failed lately."
        )
    run = _Consolidation(places, state, clock, options, claim)
    try:
        return await run.through(connect)
    except _Lost:
        await asyncio.to_thread(run.leave)
        return ConsolidationOutcome("lost", "Another process is now consolidating memories.")
    except _Waits as waits:
        await asyncio.to_thread(run.give_back)
        return waits.outcome
    except asyncio.CancelledError:
        await asyncio.to_thread(run.give_back)
        raise
    except (AgentFailed, JournalError, ProviderError, MemoriesRefused, StateError) as error:
        return await asyncio.to_thread(run.failed, str(error))
    except OSError as error:
        return await asyncio.to_thread(run.failed, failure(places.files, error))
    except Exception as error:  # a claim that nobody ends would hold up memories for an hour
        return await asyncio.to_thread(run.failed, f"{type(error).__name__}: {error}")


class _Consolidation:
    """One claim, from its beginning to its end. What is not `async` blocks."""

    def __init__(
        self,
        places: MemoryPlaces,
        state: "MemoriesState",
        clock: Clock,
        options: Options,
        claim: Claim,
    ) -> None:
        self._places = places
        self._state = state
        self._clock = clock
        self._options = options
        self._claim = claim
        self._staging = places.staging(claim.token)
        self._inputs: trees.Tree = {}
        """The files as they were when the work began, the outputs of the last one among them."""

    async def through(self, connect: Connect | None) -> ConsolidationOutcome:
        selected = await _whole(self._select)
        outcome = await _whole(lambda: self._prepare(selected))
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
        """The model that consolidates, or none and why not."""
        if connect is None:
            return None, "Merged by rules, without a model."
        connection = await connect()
        if why := agent.unable(connection.model):
            await connection.provider.close()
            return None, f"Merged by rules: {why}, so it can't consolidate."
        return connection, ""

    async def _alive(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work` while the claim is ours, and hold it meanwhile. Raises `_Lost`."""
        working = asyncio.create_task(work)
        beating = asyncio.create_task(self._beat())
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

    async def _beat(self) -> None:
        """Return once the claim is lost."""
        while True:
            await self._clock.sleep(HEARTBEAT)
            if not await asyncio.to_thread(self._state.heartbeat, self._claim):
                return

    def _check(self) -> None:
        """Raises `_Lost`. Asked before each write."""
        if not self._state.owns(self._claim):
            raise _Lost

    def _select(self) -> list[Output]:
        self._check()
        self._state.prune(self._options.max_unused_days)
        return self._state.selection(self._options.limit, self._options.max_unused_days)

    def _prepare(self, selected: Sequence[Output]) -> ConsolidationOutcome | None:
        """Bring the inputs up to date, and lay out a folder for the agent; None where there is
        something to do for it."""
        places = self._places
        with places.locked():
            self._check()
            self._clean_up()
            if gone := self._state.forgotten():
                review.purge(places, gone, RecordIndex(self._state.outputs()))
            if (waiting := review.settled(places)) is not None:
                raise _Waits(_outcome("held", waiting.result, waiting.diff))
            if (result := applying.load(places)) is not None:
                with suppress(
                    MemoriesRefused
                ):  # the user has edited the files since: then it is repeated
                    applying.apply(places, result, self._check)
            artifacts.sync(places.files, selected, self._clock.now(), self._check)
            now, was = trees.read(places.files), baseline.read(places)
            if now != was and not selected and not applying.outputs(now):
                self._check()
                baseline.reset(places, now)  # nothing was remembered, and nothing is
            elif now != was:
                self._check()
                told = composing.told(was, now).encode()
                trees.put(places.files, DIFF, told)
                trees.write(self._staging, {**now, DIFF: told})
                (self._staging / GIT).mkdir()  # rules of a repository around it are not read
                self._inputs = now
                return None
            return ConsolidationOutcome("unchanged", "No memories have changed.")

    def _complete(
        self, selected: Sequence[Output], note: str, *, by_model: bool
    ) -> ConsolidationOutcome:
        """From what was written to the files in use, or to the user's review."""
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
            inputs = {name: data for name, data in self._inputs.items() if not is_output(name)}
            clean = artifacts.redacted(inputs | made)
            after, proven, doubts = composing.proven(
                before, applying.outputs(clean), RecordIndex(every), self._state.forgotten()
            )
            to_be = inputs | after
            diff = baseline.diff(before, applying.outputs(to_be))
            held = self._options.review and bool(diff)
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
        """Back off. The baseline stays."""
        self._clear()
        why = safely(why)
        with suppress(StateError):  # then the lease runs out
            self._state.fail(self._claim, why)
        return ConsolidationOutcome("failed", f"Memories were not consolidated: {why}")

    def leave(self) -> None:
        """Remove what is ours alone; all else belongs to whoever has the claim."""
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

    def _clean_up(self) -> None:
        """Remove what runs left that were cut off."""
        baseline.recover(self._places)
        for folder in self._places.unfinished():
            trees.drop(folder)
        for folder in (self._places.result, self._places.undo):
            if not (folder / applying.MARKER).exists():
                trees.drop(folder)
        (self._places.files / DIFF).unlink(missing_ok=True)


async def _whole(work: Callable[[], Answer]) -> Answer:
    """Do what blocks, and wait for its end even if cancelled: nothing is cleared up under it."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # nobody else asks for it
        raise


def _outcome(
    status: Literal["succeeded", "held"], result: ConsolidationResult, diff: str, note: str = ""
) -> ConsolidationOutcome:
    waits = "A consolidation is waiting for review." if status == "held" else ""
    said = " ".join(filter(None, (note, waits)))
    return ConsolidationOutcome(status, said, result.proven, result.doubts, diff)
