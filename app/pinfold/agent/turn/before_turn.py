"""Before a turn: the context, hooks, pictures, and what changed since the last one."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.agent.context import goal
from pinfold.agent.context.front import Front
from pinfold.agent.context.git_state import GitState
from pinfold.agent.files import Files
from pinfold.agent.hooks import Hooks, Stopped
from pinfold.agent.record import Record
from pinfold.agent.turn.expanding import Expanding
from pinfold.agent.turn.reopening import changed_since
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ContextSet
from pinfold.rollout.items import FOR_USER, Image, Item, Kind
from pinfold.rollout.provenance import Prompt
from pinfold.tools.pictures import attached

if TYPE_CHECKING:
    from pinfold.agent.servers.mentioned import Mentioned


@dataclass(eq=False)
class BeforeTurn:
    """Journals what the model should read before the prompt."""

    _record: Record
    _cwd: Path
    _model: Callable[[], ModelInfo]
    _front: Front
    _hooks: Hooks
    _files: Files
    _tell_limits: Callable[[], Awaitable[None]]
    _git: GitState
    _left: str
    """How the session was left, until the model is told."""
    _expanding: Expanding
    _mentioned: "Mentioned | None"
    _greeted: bool = field(default=False, init=False)
    """Whether the hooks of `session_start` have run in this opening."""

    async def ready(self, prompt: Prompt) -> tuple[ContextSet, tuple[Image, ...]]:
        """The context of a turn that begins with `prompt`, and the pictures that it names.

        Raises `JournalError`, and `Stopped` where a hook stops the prompt, or what it calls can't
        be used.
        """
        theirs = self._mentioned
        of_server = theirs.called(prompt) if theirs is not None else None
        called = None if of_server else await self._expanding.called(prompt)
        if called is not None:
            await self._expanding.choose_model(called)
        context = await self._front.settle()
        await self._greet()
        await self.check(prompt.text)
        images = await self.attachments(prompt)
        await goal.tell(self._record)
        if self._model().tools:
            await self._tell_limits()
            await self._git.tell()
        await self._catch_up()
        if called is not None:
            await self._expanding.put(called)
        if theirs is not None and of_server is not None:
            images += await theirs.put(of_server)
        return context, images

    async def _greet(self) -> None:
        if self._greeted:
            return
        self._greeted = True
        outcome = await self._hooks.run("session_start", resumed=self._record.state.turn > 0)
        if outcome.stop:
            self._record.warn(f"A hook of session_start said: {outcome.stop}")
        await self._add("context", outcome.context)

    async def check(self, prompt: str) -> None:
        """Have the hooks of `user_prompt` read it. Raises `Stopped`, `JournalError`."""
        outcome = await self._hooks.run("user_prompt", prompt=prompt)
        if outcome.stop:
            raise Stopped(f"A hook stopped this prompt: {outcome.stop}")
        await self._add("context", outcome.context)

    async def attachments(self, prompt: Prompt) -> tuple[Image, ...]:
        """The pictures that a prompt names; the resources of servers are journalled.

        Raises `JournalError`.
        """
        images, problems = await asyncio.to_thread(attached, prompt.text, self._cwd)
        for problem in problems:
            self._record.warn(problem)
        theirs = await self._mentioned.resources(prompt) if self._mentioned is not None else ()
        return images + theirs

    async def _catch_up(self) -> None:
        """Journal what changed since the last request, for the model."""
        if self._model().tools:
            left, self._left = self._left, ""
            await self._add("checkpoint", left, "where the last turn ended")
        if self._files.up_to_date:
            await self._files.tell()
            return
        meanwhile = await self._files.news()
        if meanwhile.seen and self._model().tools:
            checkpoint = (await self._record.known()).checkpoint
            await self._add("checkpoint", changed_since(meanwhile, checkpoint), str(meanwhile))

    async def _add(self, kind: Kind, text: str, for_user: str = "") -> None:
        if text:
            detail = {FOR_USER: for_user} if for_user else {}
            await self._record.put(Item(n=0, kind=kind, content=text, detail=detail))
