"""Plan mode: the agent only reads and ends its turn with a plan, which the user accepts or not."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pinfold.agent.calls.approvals import Consent
from pinfold.agent.record import Record
from pinfold.agent.turn.ending import Ending
from pinfold.ports.approver import Decision, Question
from pinfold.ports.tool import Review
from pinfold.rollout.items import Item
from pinfold.rollout.provenance import Prompt

QUESTION = "Go ahead with this plan?"
MODES = {
    "Yes, and ask before each edit": "ask",
    "Yes, and edit without asking": "workspace",
}
"""The answers that accept it, with the approval mode that they set."""
OWN = "Keep planning: say what to change"
GO = "Go ahead with the plan."
MAX_STEPS = 32
_STEP = re.compile(r"^(?:\*\*)?\d{1,2}[.)]\s+(.+)$", re.MULTILINE)


@dataclass(eq=False)
class Planning:
    _record: Record
    _consent: Consent
    _ask: Callable[[Question], Awaitable[Decision]]

    async def offer(self, ending: Ending) -> Prompt | None:
        """After a turn that ended with a plan: ask the user; the prompt to continue with.

        Where they accept it, the plan is journalled and the mode is the one that they chose.
        Raises `JournalError`.
        """
        steps = steps_of(ending.answer)
        if not (self._consent.planning and steps):
            return None
        question = Question(
            call_id="",
            tool="",
            arguments="",
            review=Review("read", QUESTION),
            reason="plan mode",
            choices=tuple(MODES),
            own=OWN,
        )
        decision = await self._ask(question)
        if decision.verdict != "yes":
            return None
        mode = MODES.get(decision.note)
        if mode is None:
            return Prompt(decision.note, decision.pasted)
        self._consent.set(mode)
        told = "The user accepted the plan. It is recorded, as update_plan would record it."
        plan = [{"text": step, "status": "pending"} for step in steps]
        item = Item(n=0, kind="context", content=told, detail={"act": "plan", "plan": plan})
        await self._record.put(item)
        return Prompt(GO)


def steps_of(text: str) -> list[str]:
    """The items of the numbered lists of a reply, without the marks of Markdown."""
    found = (re.sub(r"[*_`]{1,2}", "", step).strip() for step in _STEP.findall(text))
    return [step for step in found if step][:MAX_STEPS]
