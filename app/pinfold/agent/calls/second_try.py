"""A command that failed because of its sandbox, offered to the user once more."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pinfold.agent.calls.approvals import decided, refusal
from pinfold.agent.calls.live import headed
from pinfold.agent.record import Record
from pinfold.ports.approver import Decision, Question
from pinfold.ports.tool import Review, Tool, ToolOutcome
from pinfold.rollout.items import Item
from pinfold.settings import Mode
from pinfold.tools.sandbox.denied import Way

Ask = Callable[[Question], Awaitable[Decision]]
Again = Callable[[Way, str | None], Awaitable[ToolOutcome]]
"""Runs the call that way, with other arguments where there are any."""


@dataclass(eq=False)
class SecondTry:
    """Remembers the commands that the user declined to run again."""

    _record: Record
    _ask: Ask
    _declined: set[str] = field(default_factory=set, init=False)

    async def offer(
        self,
        call: Item,
        tool: Tool,
        review: Review,
        mode: Mode,
        outcome: ToolOutcome,
        again: Again,
    ) -> ToolOutcome:
        """The final outcome of the command. Raises `JournalError`, and what `again` raises."""
        denied = outcome.detail.get("denied")
        command = review.command or ""
        if not denied:
            return outcome
        limits = "no network, " if "network" in denied else ""
        failed = f"This may have failed because of its sandbox: {limits}writes only in its folder."
        if mode == "read-only":
            return headed(outcome, f"[{failed} Approvals are read-only.]\n")
        if command in self._declined:
            return headed(outcome, f"[{failed} The user did not let it run again.]\n")
        question = Question(
            call.call_id or "",
            call.name or "",
            call.content,
            review,
            f"failed in its sandbox: {limits}writes only in its folder",
            outside=True,
            network="network" in denied,
            editable=tool.editable,
        )
        decision = await self._ask(question)
        way: Way | None = None
        if decision.verdict in ("yes", "always"):
            way = "network" if decision.network else "outside"
        await self._record.append(decided(question, decision, way))
        if way is None:
            self._declined.add(command)
            why = decision.note
            if decision.verdict != "policy":
                why = refusal("The user did not let it run again.", decision)
            return headed(outcome, f"[{failed} {why}]\n")
        let = "with the network" if way == "network" else "outside it"
        ended = await again(way, decision.arguments)
        return headed(ended, f"[It failed in its sandbox; the user let it run {let}.]\n")
