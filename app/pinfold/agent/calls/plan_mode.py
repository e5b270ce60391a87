"""Tells the model of plan mode."""

from pinfold.agent.calls.approvals import Consent
from pinfold.agent.context import telling
from pinfold.agent.record import Record

SUBJECT = "plan mode"
ASKED = (
    "The user wants a plan before anything is changed: plan mode. Read what you need, ask the user "
    "what only they can decide, and change nothing. Then end your turn with the plan: a numbered "
    "list of steps, each on a line of its own, with the files that it changes and how it is "
    "checked. Do not begin with the work and do not call update_plan: the user accepts the plan, "
    "or says what to change."
)
LEFT = "Plan mode has ended: you may work, as approvals allow."


async def tell(record: Record, consent: Consent) -> None:
    """Tell the model that the mode has begun or ended. Raises `JournalError`."""
    if consent.planning:
        await telling.tell(record, telling.Telling(SUBJECT, ASKED))
    elif SUBJECT in record.state.known:
        await telling.tell(record, telling.Telling(SUBJECT, LEFT))
