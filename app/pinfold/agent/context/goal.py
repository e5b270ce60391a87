"""What the model is told of the goal that the user sets."""

from pinfold.agent.record import Record
from pinfold.rollout.items import GOAL, Item


async def tell(record: Record) -> None:
    """Add an item on the goal where the model does not know it yet. Raises `JournalError`.

    Not while a response streams: the item would cut it in two.
    """
    state = record.state
    if state.goal_set == state.known_goal:
        return
    goal = state.goal_set
    said = (
        f"The user has set the goal of this session: {goal}"
        if goal
        else "The user has cleared the goal of this session: their first request is the goal again."
    )
    await record.put(Item(n=0, kind="context", content=said, detail={GOAL: goal}))
