"""A command that failed because of its sandbox, offered to the user once more."""

from collections.abc import Awaitable, Callable

from pinfold.agent.calls.confinement import Confinement
from pinfold.agent.calls.live import headed
from pinfold.agent.record import Record
from pinfold.ports.approver import Decision, Question
from pinfold.ports.tool import Review, Tool, ToolOutcome
from pinfold.rollout.events import ApprovalDecided
from pinfold.rollout.items import Item
from pinfold.settings import Mode
from pinfold.tools.sandbox.denied import Way

Ask = Callable[[Question], Awaitable[Decision]]
Again = Callable[[Way, str | None], Awaitable[ToolOutcome]]
"""Runs the call that way, with other arguments where there are any."""


class SecondTry:
    """Remembers what the user did not want to run again."""

    def __init__(self, record: Record, confinement: Confinement, ask: Ask) -> None:
        self._record = record
        self._confinement = confinement
        self._ask = ask
        self._declined: set[str] = set()

    async def offer(
        self,
        call: Item,
        tool: Tool,
        review: Review,
        mode: Mode,
        outcome: ToolOutcome,
        again: Again,
    ) -> ToolOutcome:
        """What the command came to in the end. Raises `JournalError`, and what `again` raises."""
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
        await self._record.append(
            ApprovalDecided(
                call_id=call.call_id or "",
                verdict=decision.verdict,
                reason=decision.note,
                arguments=decision.arguments,
                way=way or "",
                asked=question.reason,
            )
        )
        if way is None:
            self._declined.add(command)
            note = decision.note if decision.verdict == "policy" else _refused(decision)
            return headed(outcome, f"[{failed} {note}]\n")
        let = "with the network" if way == "network" else "outside it"
        ended = await again(way, decision.arguments)
        return headed(ended, f"[It failed in its sandbox; the user let it run {let}.]\n")


def _refused(decision: Decision) -> str:
    said = f" They said: {decision.note}" if decision.note else ""
    return f"The user did not let it run again.{said}"
