"""What the user sees of the window and does to it, between and during turns."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from pinfold.agent.children.child import result_of
from pinfold.agent.context import goal
from pinfold.agent.context.folding import Folding
from pinfold.agent.context.instructions import hashed
from pinfold.agent.record import BUSY, Record
from pinfold.compaction.restore import keep_of, restore_of, undo_of
from pinfold.numbers import tokens
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import Context
from pinfold.rollout.events import CoreChanged, GoalSet, Pin
from pinfold.rollout.items import Form, Item
from pinfold.rollout.values import CoreStatement
from pinfold.window import selectors
from pinfold.window.actions import Act, Effect, Outlook, Planner
from pinfold.window.archive import ArchivedItems
from pinfold.window.generations import (
    Difference,
    Generation,
    WindowItem,
    differences,
    generations,
    standing,
)
from pinfold.window.overview import Overview, overview
from pinfold.window.pins import named
from pinfold.window.reading import GaugeReading
from pinfold.window.refused import NothingToDo, Refused
from pinfold.window.show import Shown, show
from pinfold.window.window import Boundary

MOST_CORE = 0.15
"""Of the usable window that the protected core may take: no compaction cuts it."""


@dataclass(eq=False)
class Steering:
    """`Session.window`. Every change is an event; all but the goal can be undone."""

    _record: Record
    _model: Callable[[], ModelInfo]
    _reading: Callable[[], GaugeReading]
    _busy: Callable[[], bool]

    # What it is

    def overview(self) -> Overview:
        """What the next request carries, item by item."""
        record = self._record
        agent = partial(result_of, record.state)
        return overview(record.window, record.gauge, self._reading(), agent)

    @property
    def context(self) -> Context:
        """The front of the next request."""
        return self._record.gauge.context

    @property
    def history(self) -> ArchivedItems:
        """Every item of the session, also those that left the window."""
        archive = self._record.window.archive
        return ArchivedItems(archive, tuple(archive))

    @property
    def boundaries(self) -> Sequence[Boundary]:
        """Where windows ended."""
        return self._record.window.boundaries

    @property
    def generations(self) -> Sequence[Generation]:
        """The windows so far, oldest first; the last is the one now."""
        return generations(self._record.window)

    def standing(self, generation: int) -> Sequence[WindowItem]:
        """The items of a window. Raises `Refused`."""
        return standing(self._record.window, generation)

    def differences(self, one: int, other: int) -> Sequence[Difference]:
        """The items that differ between two windows. Raises `Refused`."""
        return differences(self._record.window, one, other)

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return self._record.gauge.counter.count(text)

    @property
    def items(self) -> tuple[Item, ...]:
        """The window as the next request carries it, placeholders in place."""
        return self._record.window.items

    def item(self, n: int) -> Item | None:
        """Any item of the session."""
        return self._record.window.item(n)

    def at(self, n: int) -> datetime:
        """When item `n` came."""
        return self._record.window.archive.at(n)

    def partner(self, n: int) -> int | None:
        """The result of call `n`, or the call of result `n`."""
        return self._record.window.partner(n)

    def form(self, n: int) -> Form | None:
        """The form of item `n` in the window; None if it is not in it."""
        return self._record.window.form(n)

    def pin_on(self, n: int) -> Pin | None:
        """The pin that holds item `n` of the window."""
        window = self._record.window
        return window.pin_on(n) if window.is_pinned(n) else None

    @property
    def pins(self) -> Sequence[tuple[Pin, int]]:
        """The pins in their order, each with the tokens that what it holds takes now."""
        window, gauge = self._record.window, self._record.gauge
        held: dict[Pin, int] = dict.fromkeys(window.pins, 0)
        for shown, count in zip(window.shown, gauge.tokens, strict=True):
            pin = None if shown.form == "placeholder" else self.pin_on(shown.item.n)
            if pin is not None:
                held[pin] += count
        return [(pin, gauge.correct_share(count)) for pin, count in held.items()]

    @property
    def goal(self) -> str:
        """What the user said that the session is for; else the first request."""
        return self._record.state.goal

    # What one can do

    def select(self, text: str) -> tuple[Pin, ...]:
        """The items, or globs, that `text` names. Raises `Refused`."""
        return selectors.parse(text, self._record.window)

    def numbers(self, text: str) -> tuple[int, ...]:
        """The items that `text` names, those of a glob included. Raises `Refused`."""
        return selectors.numbers(text, self._record.window)

    def effect(self, act: Act, pins: Sequence[Pin]) -> Effect:
        """What `act` would do. Raises `Refused`."""
        return Planner(self._record.window, self._record.gauge, self._model()).plan(act, pins)

    async def act(self, act: Act, pins: Sequence[Pin]) -> Effect:
        """Do it. Raises `Refused`, `JournalError`."""
        self._record.check_writable()
        effect = self.effect(act, pins)
        await self._record.append(effect.event)
        return effect

    async def undo(self) -> str:
        """Undo the newest change of the window; its name. Raises `Refused`, `JournalError`."""
        self._record.check_writable()
        self._check_idle()
        newest = self._record.window.undo.newest
        if newest is None:
            raise NothingToDo(
                "There is nothing to undo in this window. /rewind goes back to before one of your "
                "prompts, with the files."
            )
        await self._record.append(undo_of(self._record.window, newest.seq))
        return newest.what

    async def outlook(self, generation: int) -> Outlook:
        """The sizes before and after `restore`. Raises `Refused`."""
        window, gauge = self._record.window, self._record.gauge
        forms = dict(restore_of(window, generation).window)

        def read() -> list[Shown]:
            """Much of it left the window long ago; the gauge remembers what it has counted."""
            shown = list(show(forms, window.archive))
            for entry in shown:
                gauge.count(entry)
            return shown

        shown = await asyncio.to_thread(read)
        before, after = Planner(window, gauge, self._model()).sizes(shown)
        return Outlook(len(forms), before, after)

    async def keep(self, generation: int, n: int) -> str:
        """Bring back an item that the change to that window took away; says so.

        Raises `Refused`, `JournalError`.
        """
        self._record.check_writable()
        self._check_idle()
        before = self._reading().used
        back = keep_of(self._record.window, generation, n)
        await self._record.append(back)
        more = tokens(max(0, self._reading().used - before))
        return f"Restored {named(back.why)}: {more} tokens more."

    async def restore(self, generation: int) -> str:
        """Bring an earlier window back, with what came since; says so.

        Raises `Refused`, `JournalError`.
        """
        self._record.check_writable()
        self._check_idle()
        window = self._record.window
        await self._record.append(restore_of(window, generation))
        return f"Window {generation} is restored, with everything since: {len(window):,} items."

    async def fold_front(self, folding: Folding) -> str:
        """Fold or unfold something before the window; says so. Raises `Refused`, `JournalError`."""
        self._check_idle()
        await self._record.append(hashed(folding.context))
        return folding.done

    async def fold_memories(self, *, folded: bool) -> str:
        """Leave what earlier sessions learned out of the requests, or take it in again; says so.

        Raises `Refused`, `JournalError`.
        """
        self._record.check_writable()
        context = self.context
        memories = context.memories
        if memories is None or not memories.text:
            raise Refused("This session has no memories.")
        if memories.folded == folded:
            raise Refused(f"Memories are {'folded' if folded else 'in the requests'} already.")
        self._check_idle()
        changed = replace(context, memories=replace(memories, folded=folded))
        await self._record.append(hashed(changed))
        size = tokens(self.count(memories.text))
        done = f"Folded the memories: {size} tokens freed." if folded else "Unfolded the memories."
        return f"{done} The next request is not cached."

    async def set_goal(self, text: str) -> None:
        """Say what the session is for; empty goes back to the first request.

        Raises `Refused`, `JournalError`.
        """
        self._record.check_writable()
        await self._check_core([text])
        await self._record.append(GoalSet(text=text))
        if not self._busy():
            await goal.tell(self._record)

    async def change_core(
        self, add: Sequence[CoreStatement] = (), remove: Sequence[str] = ()
    ) -> None:
        """Change what the protected core holds beside the goal; `remove` names texts.

        Raises `Refused`, `JournalError`.
        """
        self._record.check_writable()
        if add:
            await self._check_core([statement.text for statement in add], remove)
        await self._record.append(CoreChanged(add=tuple(add), remove=tuple(remove)))

    async def _check_core(self, add: Sequence[str], remove: Sequence[str] = ()) -> None:
        """Refuse what would make the core larger than its share of the window."""
        core = (await self._record.known()).core
        kept = [statement.text for statement in core.stated() if statement.text not in remove]
        size = sum(self.count(text) for text in (core.goal, *kept, *add))
        most = int(MOST_CORE * self._reading().usable)
        if size > most:
            raise Refused(
                f"The protected core would take {size:,} tokens, and at most {most:,} of this "
                "window are for it: shorten it, or remove something from it first."
            )

    def _check_idle(self) -> None:
        if self._busy():
            raise Refused(BUSY)
