"""One turn: a prompt, and requests and tool calls until the agent is done."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from pinfold.agent.calls.calls import Calls
from pinfold.agent.compaction.automatic import AutoCompaction
from pinfold.agent.context import goal
from pinfold.agent.context.front import Front
from pinfold.agent.files import Files
from pinfold.agent.hooks import Hooks
from pinfold.agent.record import Record
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learning import Learning
from pinfold.agent.requests.request import LOST, Requester, Response
from pinfold.agent.turn.budget import Budget
from pinfold.agent.turn.ending import UNSENT, Ending
from pinfold.agent.turn.joining import user_item
from pinfold.agent.updates import Told
from pinfold.compaction.refusals import Crowded, TooSmall
from pinfold.ports.approver import Approver
from pinfold.ports.errors import (
    AuthenticationFailed,
    ContextOverflow,
    ProviderError,
    RateLimited,
    RequestRejected,
    TimedOut,
)
from pinfold.rollout import provenance
from pinfold.rollout.events import ContextSet, Data, ItemAdded, TurnFinished, TurnStarted
from pinfold.rollout.items import Image, Item
from pinfold.rollout.journal import JournalError
from pinfold.rollout.values import Usage

if TYPE_CHECKING:
    from pinfold.agent.servers.in_session import SessionServers

INTERRUPTED = "Not run: the turn was interrupted."
FAILED = "Not run: the turn ended with an error."
_WAITING = (RateLimited, TimedOut, AuthenticationFailed)
"""After these the turn can continue unchanged, later or once the user has acted."""
_WORK = ("assistant", "tool_call", "tool_result")
CUT = "[Your reply reached the output limit and was cut there.]"
CUT_CALL = (
    "[Your reply reached the output limit in the middle of a call of {}, which did not run. "
    "Send it in smaller parts.]"
)
MOST_CUTS = 3
"""Replies in a row that reach the output limit."""
MOST_STOPS = 3
"""Times that hooks make the agent continue in one turn."""
MOST_REFUSALS = 5
"""Of one request as too long; after each a shorter one is sent."""


@dataclass(eq=False)
class Turn:
    """Runs turns, one at a time."""

    _record: Record
    _requester: Requester
    _calls: Calls
    _files: Files
    _auto_compaction: AutoCompaction
    _learning: Learning
    _front: Front
    _connection: Callable[[], Connection]
    _ask: Approver
    _budget: Budget
    _join: Callable[[int], Awaitable[None]]
    """Adds the prompts that came meanwhile to a turn, by its number."""
    _hooks: Hooks
    _servers: "SessionServers | None"
    _usage: Usage = field(default_factory=Usage, init=False)
    """Of this turn's requests so far."""

    async def run(
        self,
        prompt: provenance.Prompt,
        context: ContextSet,
        *before: Data,
        images: tuple[Image, ...] = (),
    ) -> Ending:
        """Run until the agent is done; `before` is journalled with the prompt.

        Cancel it to interrupt: what arrived is kept, and it still returns.
        """
        record = self._record
        number = record.state.turn + 1
        self._usage = Usage()
        self._auto_compaction.prompted()
        self._budget.begin(record)
        try:
            await self._calls.close_open(FAILED)  # of a turn that a full disk cut short
            user = user_item(prompt, number, images)
            await record.add(
                lambda n: [*before, *self._opening(structs.replace(user, n=n), context)]
            )
        except JournalError as error:
            record.tell(Told(str(error), "error"))
            return Ending("failed", str(error), sent=False)
        except asyncio.CancelledError:
            if record.state.turn != number:
                return UNSENT
            ending = Ending("interrupted")
        else:
            ending = await self._steps(number)
        closing = asyncio.ensure_future(self._close(number, ending))
        while not closing.done():
            # An interruption that comes now must not cut the ending off.
            with suppress(asyncio.CancelledError):
                await asyncio.shield(closing)
        return replace(closing.result(), usage=self._usage, answer=self._answer(number))

    def _answer(self, turn: int) -> str:
        said = (item for item in reversed(self._record.window.items) if item.turn == turn)
        last = next((item for item in said if item.kind in _WORK), None)
        return last.content if last is not None and last.kind == "assistant" else ""

    async def _close(self, number: int, ending: Ending) -> Ending:
        record = self._record
        try:
            await self._calls.close_open(INTERRUPTED if ending.state == "interrupted" else FAILED)
            await record.append(TurnFinished(turn=number, state=ending.state, reason=ending.reason))
        except JournalError as error:
            record.tell(Told(str(error), "error"))
            return Ending("failed", str(error))
        return ending

    def _opening(self, user: Item, context: ContextSet) -> list[Data]:
        changed = [context] if context.hash != self._record.state.context.hash else []
        return [*changed, TurnStarted(turn=user.turn), ItemAdded(item=user)]

    async def _steps(self, number: int) -> Ending:
        record = self._record
        steps = cuts = stops = 0
        asked_again = False
        try:
            while True:
                if ending := await self._budget.step(self._connection().model, self._ask):
                    return ending
                if steps:
                    await self._join(number)
                await self._tell()
                if await self._auto_compaction.check(
                    "threshold", "mid_turn" if steps else "pre_turn"
                ):
                    await self._front.renew()
                    await self._tell()
                response = await self._respond(number)
                steps += 1
                if response.empty and response.stop != "length" and not asked_again:
                    record.warn("The model sent an empty reply: trying once more.")
                    asked_again = True
                    continue
                asked_again = False
                await self._act(response)
                cuts = cuts + 1 if response.stop == "length" else 0
                if (response.calls or response.lost) and cuts < MOST_CUTS:
                    continue
                if response.stop == "length":
                    record.warn("The reply reached the model's output limit and was cut there.")
                    return Ending("done", limit="output")
                if response.empty:
                    record.warn("The model sent an empty reply.")
                if stops < MOST_STOPS and await self._goes_on(number):
                    stops += 1
                    continue
                return Ending("done")
        except asyncio.CancelledError:
            return Ending("interrupted")
        except ContextOverflow as error:
            advice = (
                "/context shows what fills the window, /compact makes room; "
                "/model switches to a model with a larger one."
            )
            said = str(error).rstrip(".")
            return Ending("failed", f"{said}. {advice}")
        except _WAITING as error:
            return Ending("waiting", str(error))
        except (TooSmall, Crowded, ProviderError, JournalError) as error:
            return Ending("failed", str(error))
        except Exception as error:  # the session must outlive our own mistakes
            return Ending("failed", f"pinfold failed: {type(error).__name__}: {error}")

    async def _act(self, response: Response) -> None:
        """Run the calls of a response, and explain what was cut off. Raises `JournalError`."""
        cut = response.cut_call
        if calls := [call for call in response.calls if call is not cut]:
            await self._calls.run(calls)
        if cut is not None:
            await self._calls.close_open(CUT_CALL.format(cut.name))
        elif response.stop == "length":
            await self._explain(CUT_CALL.format(response.lost) if response.lost else CUT)
        elif response.lost:
            await self._explain(LOST.format(response.lost))

    async def _goes_on(self, number: int) -> bool:
        """Whether a hook has the agent go on; the model reads why. Raises `JournalError`."""
        outcome = await self._hooks.run("stop", answer=self._answer(number))
        if outcome.stop:
            await self._explain(f"[A hook says that you are not done: {outcome.stop}]")
        return bool(outcome.stop)

    async def _explain(self, text: str) -> None:
        turn = self._record.state.turn
        await self._record.put(Item(n=0, kind="context", content=text, turn=turn))

    async def _tell(self) -> None:
        """Append what has changed and the model does not know. Raises `JournalError`."""
        await goal.tell(self._record)
        if self._connection().model.tools:
            await self._calls.tell_limits()
        await self._files.tell()
        await self._front.tell()
        if self._servers is not None and self._connection().model.tools:
            await self._servers.tell()

    async def _respond(self, number: int) -> Response:
        """The next response. After a request that is too long, the window is learned and compacted,
        and the request is sent again."""
        fit = partial(self._auto_compaction.check, "threshold", "mid_turn")
        refusals = 0
        while True:
            try:
                response = await self._requester.respond(self._connection(), number, fit)
            except ContextOverflow as error:
                refusals += 1
                if refusals > MOST_REFUSALS:
                    raise
                learned = await self._learning.refused(error)
                if learned:
                    self._auto_compaction.acted()  # earlier failures were about another window
                elif refusals > 1:
                    raise
                if not await self._auto_compaction.check("overflow", "mid_turn"):
                    raise
                await self._front.renew()
                await self._tell()
            except RequestRejected as error:
                if self._servers is None or not await self._servers.refused(error):
                    raise
            else:
                self._usage += response.usage
                await self._learning.accepted(response.usage.input)
                return response
