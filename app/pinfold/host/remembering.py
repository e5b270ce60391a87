"""Makes memories, as the settings say."""

import asyncio
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from pinfold import paths
from pinfold.agent.clock import CLOCK
from pinfold.host.app_context import AppContext
from pinfold.host.memory_access import teams_of
from pinfold.host.models import choice_of, connect
from pinfold.memories.consolidate import ConsolidationOutcome, consolidate
from pinfold.memories.pipeline import Connect, Phase1, PipelineReport, ReadListener
from pinfold.memories.places import MemoriesRefused, MemoryPlaces
from pinfold.memories.records import StateError
from pinfold.ports.errors import ProviderError

BY_HAND, SECONDS = 30.0, 2.0
"""Seconds for sharing with a team: when the user waits, and in the background."""
Answer = TypeVar("Answer")

BATCH = 256
"""Sessions that are claimed together."""


class Remembered(Struct, frozen=True):
    """The result of a run."""

    phase1: PipelineReport
    phase2: ConsolidationOutcome | None = None
    """None where nothing was consolidated."""
    team: str = ""
    """The result of sharing with teams; empty if nothing is shared."""

    def __str__(self) -> str:
        """In a few sentences, for the user."""
        first = self.phase1
        parts = [first.note] if first.note else []
        if many := len(first.results):
            by = f" by {first.model}" if first.model else " without a model"
            parts.append(
                f"{many:,} session{'s' if many > 1 else ''} read{by}: "
                f"{first.proven:,} statements proven, {sum(first.left_out.values()):,} left out."
            )
        elif not first.note:
            parts.append("No session has changed since memories were last made.")
        if first.errors:
            why = next(iter(first.errors.values()))
            parts.append(f"{len(first.errors):,} failed and will be read again later: {why}")
        if self.phase2 is not None:
            parts.append(self.phase2.note or f"Consolidation: {self.phase2.status}.")
        parts += [self.team] if self.team else []
        return " ".join(parts)


class Only(Struct, frozen=True):
    """Sessions that the user named."""

    folders: Sequence[Path]
    listener: ReadListener = lambda _session, _why: None
    """Called for unchanged and unread sessions too, without their ids."""
    pool: Callable[[], Executor] | None = None
    """Reads them, if no model is used."""


async def remember(
    ctx: AppContext, but: Collection[str] = (), *, force: bool = False, only: Only | None = None
) -> Remembered:
    """Read the sessions that are due, or `only` those, except `but`; bring the files up to date.

    `force` does not wait after failures. Raises `StateError`, `ProviderError`.
    """
    from pinfold.memories.state import MemoriesState

    wanted = ctx.settings.memories
    teams = await asyncio.to_thread(teams_of, ctx)
    if teams and not force:  # others' lines should not wait until all is read
        with suppress(StateError, MemoriesRefused, OSError):
            await asyncio.wait_for(_beside(partial(teams.pull, _now)), SECONDS)
    state = await asyncio.to_thread(MemoriesState, ctx.home, CLOCK.now)
    seconds = BY_HAND if force else SECONDS
    share = partial(teams.sync, state, _now, seconds, force=force) if teams else None
    try:
        if wanted.generate == "off":
            said = await _beside(share) if share else ""
            return Remembered(PipelineReport(note='[memories] generate is "off".'), team=said)
        phase1 = partial(
            Phase1,
            state,
            ctx.store,
            wanted,
            CLOCK,
            connect=await _reaching(ctx, wanted.extract_model),
            metadata=ctx.settings.agent.turn_metadata,
            cache=paths.cache_folder(),
        )
        if only is None:
            limit = wanted.max_rollouts_per_startup
            read = await phase1(limit=limit).run(but, force=force)
        else:
            read = await _in_batches(phase1, only, but)
        outcome = await consolidate(
            MemoryPlaces.of(ctx.home),
            state,
            CLOCK,
            wanted,
            await _reaching(ctx, wanted.consolidation_model, any_model=True),
            force=force,
        )
        return Remembered(read, outcome, await _beside(share) if share else "")
    except ProviderError:  # without a model, sharing still works
        if share:
            await _beside(share)
        raise
    finally:
        await asyncio.to_thread(state.close)


def _now() -> float:
    return CLOCK.now().timestamp()


async def _beside(work: Callable[[], Answer]) -> Answer:
    """Run what waits for a server in a daemon thread, which cannot delay pinfold's exit."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Answer] = loop.create_future()

    def give(error: BaseException | None, found: Any) -> None:
        if answer.done():  # nobody waits any more
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(found)

    def run() -> None:
        error, found = None, None
        try:
            found = work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(give, error, found)

    threading.Thread(target=run, daemon=True).start()
    return await answer


async def _in_batches(
    phase1: Callable[..., Phase1], only: Only, but: Collection[str]
) -> PipelineReport:
    """Batch by batch, so that finished work is kept if the run is cut off."""
    read = PipelineReport()
    for at in range(0, len(only.folders), BATCH):
        some = only.folders[at : at + BATCH]
        with ExitStack() as stack:
            pool = stack.enter_context(only.pool()) if only.pool else None
            batch = phase1(limit=len(some), only=some, processes=pool, listener=only.listener)
            done = await batch.run(but, force=True)
        for _ in range(len(some) - len(done.results)):
            only.listener("", "")
        read += done
    return read


async def _reaching(
    ctx: AppContext, name: str | None, *, any_model: bool = False
) -> Connect | None:
    """How to connect to the model; None if none is to be asked, or if there is only the small one
    and not `any_model`. Raises `ProviderError`."""
    if ctx.settings.memories.generate != "model":
        return None
    choice = await choice_of(ctx, name)
    small = choice.kind == "embedded" and not any_model
    return None if choice.kind == "none" or small else partial(connect, ctx, name)
