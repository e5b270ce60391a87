"""The state of a session, for the screen, `exec` and the commands."""

import asyncio
from collections.abc import Sequence

from pinfold.agent.parts import Parts
from pinfold.agent.record import READ_ONLY
from pinfold.agent.turn.large_prompts import LargePrompts
from pinfold.agent.turn.reopening import damage_of
from pinfold.agent.updates import Phase, WaitingPrompt
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.acts import Step
from pinfold.rollout.events import Event
from pinfold.rollout.items import Item
from pinfold.settings import Auto
from pinfold.tokens.counter import Counter


class SessionFacts:
    """Reads, changes nothing."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._record = parts.record
        self._recorded = False
        """Whether it is a recording that is played."""
        self.id = parts.record.state.id
        self.folder = parts.record.journal.folder
        self.read_only = parts.record.journal.read_only
        self.cwd = parts.cwd
        self.files = parts.files
        self.compaction = parts.compaction
        self.preparing = parts.preparing
        self.window = parts.window
        self.choice = parts.choice
        """Its model, how hard that thinks, and what it costs."""
        self.jobs = parts.background.jobs
        """The commands that run in the background."""
        self.children = parts.children
        """The agents that it started."""
        self.races = parts.races
        """The races between some of them."""
        self.servers = parts.servers
        """The MCP servers; None where none is configured."""
        self.skills = parts.skills
        self.library = parts.skills.library
        """Skills and commands; none where there can be none."""
        self.reading = parts.reading
        """The gauge now."""
        self.large = LargePrompts(
            parts.record, lambda: self.model, self.reading, self._takes_nothing
        )
        self.left_at = parts.left_at
        """The last request and plan of a session that is resumed; empty for a new one."""
        self.opened_after = parts.opened_after
        """The last event before this opening."""

    # What it is

    @property
    def damage(self) -> tuple[str, ...]:
        """What of the journal could not be read."""
        return damage_of(self._record.journal.torn, self._record.state.unreadable)

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the user when a session is opened."""
        found = [*self.damage, *self._parts.found]
        if self.unconfined and self.model.tools and self._parts.consent.mode != "full":
            asks = "`workspace` asks for each command, `read-only` runs none"
            found.append(f"No sandbox: {self.unconfined}. {asks}.")
        if self.read_only:
            found.append(READ_ONLY)
        return tuple(found)

    @property
    def items(self) -> Sequence[Item]:
        """Every item of the session, oldest first; `window` tells which the model sees."""
        return self.window.history

    async def events(self) -> Sequence[Event]:
        """All that happened so far, oldest first. Raises `JournalError`."""
        return await asyncio.to_thread(lambda: tuple(self._record.journal.read()))

    @property
    def counter(self) -> Counter:
        """The gauge's counter."""
        return self._record.gauge.counter

    @property
    def model(self) -> ModelInfo:
        return self.choice.model

    @property
    def choice_note(self) -> str:
        return self._parts.choice.connection.note

    @property
    def phase(self) -> Phase:
        return self._record.phase

    @property
    def approvals(self) -> str:
        """The approval mode, or `plan`."""
        return self._parts.consent.name

    @property
    def edits_allowed(self) -> bool:
        """Whether plain edits run without asking, though the mode is `ask`."""
        return self._parts.consent.edits

    @property
    def unconfined(self) -> str:
        """Why the agent's commands run in no sandbox; empty where they do."""
        return self._parts.confinement.missing

    @property
    def auto(self) -> Auto:
        """What happens at the threshold."""
        return self._parts.limits.auto

    @property
    def threshold(self) -> float:
        """The share of the usable window at which it happens."""
        return self._parts.limits.threshold

    @property
    def compacts_next(self) -> bool:
        """Whether that would happen at the next request: it may be too soon after the last time."""
        return self._parts.auto_compaction.due()

    @property
    def auto_paused(self) -> bool:
        """Whether automatic compaction is paused, as it failed again and again."""
        return self._parts.auto_compaction.paused

    @property
    def cited(self) -> tuple[str, ...]:
        """The `session#item` that the last citation of memories names."""
        return self._record.state.cited

    @property
    def queue(self) -> tuple[WaitingPrompt, ...]:
        return self._parts.work.queue.prompts

    @property
    def plan(self) -> Sequence[Step]:
        """The agent's plan, in order; empty where there is none, or it was done before."""
        return self._record.state.plan

    def _takes_nothing(self) -> str:
        """Why nothing can be sent or run here; empty if it can."""
        if self.read_only:
            return READ_ONLY
        if self._recorded:
            return (
                "This is a recording: nothing is sent and nothing runs. /fork continues in a fork."
            )
        return ""
