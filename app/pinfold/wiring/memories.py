"""Memories for the screen and the command line: `commands.context.MemoriesPort`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.memories.places import Refused
from pinfold.wiring.house import House

if TYPE_CHECKING:
    from pinfold.memories.consolidate import Outcome
    from pinfold.memories.keeper import Keeper
    from pinfold.memories.pipeline import Phase1, Report
    from pinfold.memories.reader import Reader
    from pinfold.memories.state import State


class Memories:
    """The user's memories, under the settings of now."""

    def __init__(self, at: House) -> None:
        self._at = at

    @property
    def enabled(self) -> bool:
        return self._at.at(self._at.cwd).settings.memories.enabled

    @cached_property
    def keeper(self) -> Keeper:
        from pinfold.memories.keeper import Keeper
        from pinfold.wiring.sessions import CLOCK

        return Keeper(self._at.home, CLOCK.now)

    async def run(self) -> str:
        """Raises `Refused`, `StateError`."""
        at = self._at.at(self._at.cwd)
        if not at.settings.memories.enabled:
            raise Refused("Memories are off: /memories on, or enabled = true below [memories].")
        if at.settings.memories.generate == "off":
            raise Refused('No memories are made: generate = "off" stands below [memories].')
        report = await phase1(at, self.keeper.reader.state).run(force=True)
        outcome = await phase2(at, self.keeper, force=True)
        return " ".join(part for part in (*_read(report), outcome.note) if part)

    def switch(self, *, on: bool) -> str:
        """Raises `SettingsError`."""
        from pinfold.wiring.defaults import write

        said = write(self._at, "memories", {"enabled": on})
        return f"{said} Memories are {'on' if on else 'off'} from the next session on" + (
            "." if on else "; f on their row in /context leaves them out of this one."
        )


def phase1(at: House, state: State) -> Phase1:
    """What reads the sessions that have changed."""
    from pinfold.memories.eligible import Rules
    from pinfold.memories.pipeline import Phase1
    from pinfold.wiring.models import connect
    from pinfold.wiring.sessions import CLOCK

    wanted = at.settings.memories
    return Phase1(
        state,
        at.store,
        Rules(
            timedelta(days=wanted.max_rollout_age_days),
            timedelta(hours=wanted.min_rollout_idle_hours),
            wanted.include_adopted,
        ),
        CLOCK,
        limit=wanted.max_rollouts_per_startup,
        connect=partial(connect, at, wanted.extract_model) if wanted.generate == "model" else None,
        metadata=at.settings.agent.turn_metadata,
        cache=paths.cache_folder(),
    )


async def phase2(at: House, keeper: Keeper, *, force: bool = False) -> Outcome:
    """Bring the files up to date with what was read. Raises `StateError`."""
    from pinfold.memories.consolidate import Options, consolidate
    from pinfold.wiring.models import connect
    from pinfold.wiring.sessions import CLOCK

    wanted = at.settings.memories
    model = wanted.consolidation_model
    return await consolidate(
        keeper.places,
        keeper.reader.state,
        CLOCK,
        Options(wanted.max_raw_memories_for_consolidation, wanted.max_unused_days, wanted.review),
        partial(connect, at, model) if wanted.generate == "model" else None,
        force=force,
    )


def _read(report: Report) -> Iterator[str]:
    """What phase 1 came to, in sentences."""
    count = len(report.results)
    if not count:
        yield "No session has changed since memories were made last."
    else:
        some = sum(each == "succeeded" for each in report.results.values())
        yield f"{count:,} session{'s' if count != 1 else ''} read, {some:,} with memories."
    if report.errors:
        yield f"{len(report.errors):,} failed: {next(iter(report.errors.values()))}"
    yield report.note


def reader_of(at: House) -> Reader | None:
    """What a new session reads memories from; None where it is not to."""
    memories = at.settings.memories
    if not (memories.enabled and memories.use):
        return None
    from pinfold.memories.reader import Reader
    from pinfold.wiring.sessions import CLOCK

    return Reader(at.home, CLOCK.now)
