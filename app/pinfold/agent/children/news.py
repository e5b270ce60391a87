"""What a session's model is told of its agents, and what a crash did to them."""

from collections.abc import Mapping

from msgspec.structs import replace

from pinfold.agent.children.child import named, told
from pinfold.agent.record import Record
from pinfold.agent.state import running
from pinfold.rollout.events import ChildFinished, ChildStarted, Data, ItemAdded
from pinfold.rollout.items import ABOUT, CHILD, CHILDREN, Item
from pinfold.sanitize import one_line
from pinfold.tokens.prices import Price

STOPPED = "pinfold stopped"


async def take_up(record: Record) -> Mapping[str, str]:
    """Note that what an earlier opening left running has ended; by call, what becomes of those
    for which one waited. Raises `JournalError`."""
    state = record.state
    left = [child for n, child in state.children.items() if n not in state.finished]
    if left:
        await record.append(
            *(
                ChildFinished(child=child.child, state="interrupted", reason=STOPPED)
                for child in left
            )
        )
    return {
        child.call_id: f"Agent {named(child)} was interrupted: pinfold stopped. What it did until "
        f"then is kept: recall a{child.child} lists it. Start another one to go on."
        for child in left
        if not child.background
    }


async def tell(record: Record, prices: Mapping[str, Price]) -> None:
    """Append what the model does not know: which agents in the background have ended, and which
    run. Raises `JournalError`."""
    if not record.state.children_untold and not record.state.agents_untold:
        return

    def make(first: int) -> list[Data]:
        state = record.state
        items = [
            _ended(state.children[n], state.finished[n], prices)
            for n in sorted(state.children_untold)
        ]
        if state.agents_untold:
            detail = {ABOUT: [CHILDREN, running(state.in_background)]}
            text = _running_text(state.in_background)
            items.append(Item(n=0, kind="context", content=text, detail=detail))
        return [ItemAdded(item=replace(item, n=n)) for n, item in enumerate(items, first)]

    await record.add(make)


def _running_text(children: Mapping[int, ChildStarted]) -> str:
    if not children:
        return "No agent runs in the background any more."
    lines = (f"- {named(child)}: {one_line(child.description)}" for child in children.values())
    return "\n".join(["These agents run in the background:", *lines])


def _ended(child: ChildStarted, end: ChildFinished, prices: Mapping[str, Price]) -> Item:
    head = f"{told(child, end, prices)}\n"
    return Item(
        n=0,
        kind="context",
        content=head + (end.answer or "(It said nothing.)"),
        detail={
            CHILD: child.child,
            "act": "agent",
            "title": f"task {one_line(child.description)}",
            "ok": end.state == "done",
            "host": [[0, len(head)]],
        },
    )
