"""The user: steers the window between turns and during them."""

from collections import Counter as Tally
from collections.abc import Awaitable, Callable
from random import Random

from pinfold.agent.session import Session
from pinfold.ports import ProviderError
from pinfold.rollout.events import Pin, Stated
from pinfold.window.actions import Act
from pinfold.window.refused import Refused

SMALL = 200
"""Tokens of an item that is worth a pin."""
PINS = 4
"""More are taken off again."""
STRATEGIES = ["checkpoint", "prune", "layered", "snapshot", "handoff", "core", "remote"]

Do = Callable[[Session], Awaitable[object]]


class User:
    """Does one thing after another, as its seed has it. What is refused changes nothing."""

    def __init__(self, rng: Random, models: list[str]) -> None:
        self.tally: Tally[str] = Tally()
        """What was done, by name; `refused` for what was not."""
        self._rng = rng
        self._models = models

    async def act(self, session: Session) -> None:
        """Do something to a session at rest. Raises `JournalError`."""
        between: dict[Do, int] = {
            self.compact: 3,
            self.undo: 4,
            self.restore: 1,
            self.keep: 2,
            self.set_threshold: 2,
            self.switch_model: 2,
            self.set_core: 1,
        }
        await self._do(session, self._steering | between)

    async def interfere(self, session: Session) -> None:
        """Do something while a turn runs. Raises `JournalError`."""
        await self._do(session, self._steering)

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
        await session.window.change_core(
            add=[Stated(f"Never touch part {self._rng.randint(1, 5)}.")]
        )

    async def compact(self, session: Session) -> None:
        await session.compact(self._rng.choice(STRATEGIES))

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
