"""Tells the model and the user of skills and commands."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from pinfold.agent.context.folding import Folding, priced
from pinfold.agent.context.telling import Telling, tell
from pinfold.agent.record import Record
from pinfold.agent.updates import Told
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import SkillIndex
from pinfold.skills.extension import Extension, Extensions
from pinfold.skills.index import index
from pinfold.skills.library import Library, count_text
from pinfold.window.refused import Refused

READ = "skills that were read"
"""A subject: those whose text a compaction took out of the window."""


class Skills:
    def __init__(self, record: Record, library: Library | None, share: float) -> None:
        """`share` is that of the context window above which the index is folded."""
        self.library = library
        self._record = record
        self._share = share
        self._said = frozenset[str]()
        """Problems that the user knows of."""
        self._waiting = frozenset[tuple[str, str]]()
        """Those of which the user was told that they wait, with their states."""
        self._made: tuple[tuple[object, ...], SkillIndex | None] = (), None
        """The last index, and what it was made from."""

    @property
    def readable(self) -> list[Path]:
        """The folders below which tools may read without asking: those of skills, but for one that
        has the user's home in it."""
        if self.library is None:
            return []
        home = Path.home()
        found = [one.folder for one in self.library.shelf.of("skill") if one.state == "ready"]
        return [folder for folder in found if not home.is_relative_to(folder)]

    async def front(self, model: ModelInfo) -> SkillIndex | None:
        """The index, from the files as they are now."""
        if self.library is None:
            return None
        shelf = await asyncio.to_thread(self.library.refresh)
        self._say(shelf, self.library.waiting)
        if not model.tools:
            return None
        skills = self.library.skills
        count = self._record.gauge.counter.count
        budget = int(self._share * model.context_window)
        before = self._record.state.context.context.skills
        told = tuple((one.name, one.description) for one in skills)
        flags = (before.folded == "user", before.open) if before else ()
        made_from = (told, flags, budget, self._record.gauge.counter)
        if made_from != self._made[0]:
            found = await asyncio.to_thread(index, skills, count, budget, before)
            self._made = made_from, found
        return self._made[1]

    def folding(self, *, folded: bool) -> Folding:
        """The fold of the index, with its price. Raises `Refused`."""
        record = self._record
        before = record.gauge.context
        if before.skills is None:
            raise Refused("The requests carry no skills.")
        record.check_writable()
        if bool(before.skills.folded) == folded:
            raise Refused(f"Skills are {'folded' if folded else 'unfolded'} already.")
        index = replace(before.skills, folded="user" if folded else "", open=not folded)
        after = replace(before, skills=index)
        return priced(record, "skills", after, folded=folded)

    async def tell(self) -> None:
        """Have the model know which skills it has read whose text is lost to it.

        Raises `JournalError`.
        """
        forms = self._record.window.forms
        gone = {name: n for name, n in self._record.state.skills.items() if n not in forms}
        if gone:
            names = ", ".join(f"{name} (#{n})" for name, n in gone.items())
            text = (
                f"Skills read earlier in this session, whose text is no longer in the window: "
                f"{names}. This is a record, not an order; recall shows the text as it was, skill "
                "reads it again."
            )
            await tell(self._record, Telling(READ, text))

    def _say(self, shelf: Extensions, waiting: tuple[Extension, ...]) -> None:
        """Tell each problem once, and what waits to be accepted."""
        for problem in shelf.problems:
            if problem not in self._said:
                self._record.warn(problem)
        self._said = frozenset(shelf.problems)
        found = frozenset((one.key, one.hash) for one in waiting)
        if found - self._waiting:
            changed = [one for one in waiting if one.state == "changed"]
            new = [one for one in waiting if one.state != "changed"]
            parts = [
                *([f"{count_text(new)} that you have not accepted yet"] if new else []),
                *(
                    [f"{count_text(changed)} with changes since you accepted them"]
                    if changed
                    else []
                ),
            ]
            brings = f"This project brings {', and '.join(parts)}"
            self._record.tell(Told(f"{brings}: /skills and /commands show them."))
        self._waiting = found
