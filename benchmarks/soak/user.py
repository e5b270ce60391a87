"""The user: steers the window between turns and during them."""

import asyncio
from collections import Counter as Tally
from collections.abc import Awaitable, Callable
from random import Random

from benchmarks.soak.violated import Violated
from pinfold.agent.session import Session
from pinfold.ports.errors import ProviderError
from pinfold.rollout.events import Pin
from pinfold.rollout.values import CoreStatement
from pinfold.window.actions import Act
from pinfold.window.refused import Refused

SMALL = 200
"""Tokens of an item that is worth a pin."""
PINS = 4
"""More are taken off again."""
STRATEGIES = ["checkpoint", "prune", "layered", "snapshot", "handoff", "remote"]

Do = Callable[[Session], Awaitable[object]]


class User:
    """Does one thing after another, as its seed has it. What is refused changes nothing."""

    def __init__(self, rng: Random, models: list[str]) -> None:
        self.tally: Tally[str] = Tally()
        """What was done, by name; `refused` for what was not."""
        self.sent: dict[str, None] = {}
        """Prompts that were not taken back."""
        self._rng = rng
        self._models = models

    async def act(self, session: Session) -> None:
        """Do something to a session at rest. Raises `JournalError`."""
        between: dict[Do, int] = {
            self.compact: 3,
            self.break_off: 1,
            self.look_too_long: 1,
            self.undo: 4,
            self.restore: 1,
            self.keep: 2,
            self.set_threshold: 2,
            self.switch_model: 2,
            self.set_core: 1,
            self.set_strategy: 1,
            self.run_command: 1,
        }
        await self._do(session, self._steering | between)

    async def interfere(self, session: Session) -> None:
        """Do something while a turn runs. Raises `JournalError`."""
        await self._do(session, self._steering | {self.queue: 3, self.unqueue: 1})

    def send(self, session: Session, prompt: str) -> None:
        self.sent[prompt] = None
        session.send(prompt)

    @property
    def _steering(self) -> dict[Do, int]:
        return {
            self.pin: 4,
            self.unpin: 3,
            self.mask: 3,
            self.fold: 3,
            self.unfold: 3,
            self.set_goal: 1,
        }

    async def heed(self, session: Session) -> None:
        """Do what the errors of a full window advise. Raises `JournalError`."""
        session.set_threshold("auto")
        if pins := [pin for pin, _ in session.window.pins]:
            await session.window.act("unpin", pins)

    async def _do(self, session: Session, weighed: dict[Do, int]) -> None:
        act = self._rng.choices(list(weighed), list(weighed.values()))[0]
        try:
            await act(session)
        except (Refused, ProviderError):
            self.tally["refused"] += 1
        else:
            self.tally[act.__name__] += 1

    async def pin(self, session: Session) -> None:
        window = session.window
        pins = [pin for pin, _ in window.pins]
        if len(pins) >= PINS:
            await window.act("unpin", pins[:1])
        rows = window.overview().rows
        small = [row.n for row in rows if row.full < SMALL]
        globs: list[Pin] = ["src/part_3.py"]
        await window.act("pin", [self._rng.choice(small + globs)])

    async def unpin(self, session: Session) -> None:
        await self._on(session, "unpin", [pin for pin, _ in session.window.pins])

    async def mask(self, session: Session) -> None:
        await self._on(session, "mask", self._standing(session))

    async def fold(self, session: Session) -> None:
        await self._on(session, "fold", self._standing(session))

    async def unfold(self, session: Session) -> None:
        await self._on(session, "unfold", self._standing(session))

    async def set_goal(self, session: Session) -> None:
        await session.window.set_goal(self._rng.choice(["", "Link all parts.", "Only part 3."]))

    async def set_core(self, session: Session) -> None:
        some = [f"Never touch part {n}." for n in self._rng.sample(range(1, 6), 2)]
        await session.window.change_core(add=[CoreStatement(some[0])], remove=some[1:])

    async def compact(self, session: Session) -> None:
        await session.compact(self._rng.choice(STRATEGIES))

    async def break_off(self, session: Session) -> None:
        """Compact, and press Esc in the midst."""
        compacting = asyncio.ensure_future(session.compact(self._rng.choice(STRATEGIES)))
        for _ in range(self._rng.randint(0, 30)):
            await asyncio.sleep(0)
        session.interrupt()
        await compacting

    async def look_too_long(self, session: Session) -> None:
        """Look at a plan until it no longer fits. Raises `Violated` where it is applied then."""
        draft = await session.compaction.draft(self._rng.choice(STRATEGIES))
        await self.pin(session)
        try:
            await session.compaction.apply(draft)
        except Refused:
            return
        raise Violated("a plan was applied to a window that had changed")

    async def queue(self, session: Session) -> None:
        self.send(session, f"Then look at part {self.tally['queue']}.")

    async def unqueue(self, session: Session) -> None:
        for waiting, *_ in session.queue[-1:]:
            self.sent.pop(session.unqueue(waiting), None)

    async def set_strategy(self, session: Session) -> None:
        compaction = session.compaction
        compaction.keep_defaults(self._rng.choice(STRATEGIES), compaction.options)

    async def run_command(self, session: Session) -> None:
        session.run_command(f"seq {self._rng.randint(1, 200)}")
        await session.idle()

    async def undo(self, session: Session) -> None:
        await session.window.undo()

    async def restore(self, session: Session) -> None:
        now = session.window.generations[-1].generation
        await session.window.restore(self._rng.randint(max(0, now - 5), now))

    async def keep(self, session: Session) -> None:
        generation = session.window.generations[-1].generation
        n = self._rng.randint(1, len(session.window.history) or 1)
        await session.window.keep(generation, n)

    async def set_threshold(self, session: Session) -> None:
        session.set_threshold(self._rng.choice(["auto", "ask", "off", "0.6", "0.75", "0.9"]))

    async def switch_model(self, session: Session) -> None:
        await session.set_model(self._rng.choice(self._models))

    async def _on(self, session: Session, act: Act, pins: list[Pin]) -> None:
        if not pins:
            raise Refused("There is nothing.")
        await session.window.act(act, [self._rng.choice(pins)])

    def _standing(self, session: Session) -> list[Pin]:
        return [row.n for row in session.window.overview().rows]
