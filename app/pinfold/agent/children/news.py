"""Tells a session's model of its agents, and closes those that a crash cut off."""

import asyncio
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from pinfold.agent.children.child import child_name, end_line, folder_of, summed_up
from pinfold.agent.children.past import events_of, last_words, own_events, was_done
from pinfold.agent.children.reply import LAST_REPLY, NOTHING, shortened
from pinfold.agent.record import Record
from pinfold.agent.state import State
from pinfold.agent.turn.ending import Ending
from pinfold.ports.clock import Clock
from pinfold.rollout.events import ChildFinished, ChildStarted, Data, ItemAdded, SessionStarted
from pinfold.rollout.items import ABOUT, CHILD, CHILDREN, Item
from pinfold.rollout.journal import JournalError
from pinfold.sanitize import one_line
from pinfold.tokens.prices import Price

MOST_LISTED = 20
"""Agents that have ended."""
STOPPED = "pinfold stopped"
ELSEWHERE = "it works on for the session that started you"


async def take_up(record: Record, clock: Clock, prices: Mapping[str, Price]) -> Mapping[str, str]:
    """Journal the end of agents that an earlier opening left running; the results of the calls
    that waited for them, by the calls' ids. Raises `JournalError`."""
    state = record.state
    left = [child for n, child in state.children.items() if n not in state.finished]
    if record.journal.started.parent is not None:  # this is an agent, with a fork of the window
        await record.append(*(_interrupted(child, ELSEWHERE) for child in left))
        return {}
    told_by_call: dict[str, str] = {}
    for child in left:
        end, answer = await asyncio.to_thread(_end_from_rollout, record, clock, child)
        reply = shortened(
            end_line(child, end, prices), answer, LAST_REPLY, record.gauge.counter.count
        )
        if child.background:
            end = replace(end, answer=reply.text[reply.head :])
        elif end.state == "done":
            told_by_call[child.call_id] = reply.text
        else:
            told_by_call[child.call_id] = (
                f"Agent {child_name(child)} was interrupted: pinfold stopped. What it did until "
                f"then is kept: recall a{child.child} lists it. Start another one to go on."
                + (f" Its worktree is kept: {one_line(end.worktree)}." if end.worktree else "")
            )
        await record.append(end)
    return told_by_call


def _end_from_rollout(
    record: Record, clock: Clock, child: ChildStarted
) -> tuple[ChildFinished, str]:
    """Its end, from its own rollout, and its last text."""
    try:
        events = own_events(events_of(folder_of(record.journal, child), clock))
    except JournalError:  # pinfold stopped before it began
        return _interrupted(child, STOPPED), ""
    seconds = (events[-1].ts - events[0].ts).total_seconds()
    ending = Ending("done") if was_done(events) else Ending("interrupted", STOPPED)
    first = events[0].data
    folder = first.cwd if child.worktree and isinstance(first, SessionStarted) else ""
    return summed_up(child, ending, events, seconds, folder), last_words(events)


def _interrupted(child: ChildStarted, why: str) -> ChildFinished:
    return ChildFinished(child=child.child, state="interrupted", reason=why)


async def tell(record: Record, prices: Mapping[str, Price]) -> None:
    """Append what the model does not know yet: which background agents have ended, and which
    run. Raises `JournalError`."""
    if not record.state.unreported_children and record.state.knows_agents:
        return

    def make(first: int) -> list[Data]:
        state = record.state
        items = [
            _ended_item(state.children[n], state.finished[n], prices)
            for n in sorted(state.unreported_children)
        ]
        if not state.knows_agents:
            detail = {ABOUT: [CHILDREN, state.agents_digest]}
            text = "\n".join([*_running_lines(state), *_ended_lines(state)])
            items.append(Item(n=0, kind="context", content=text, detail=detail))
        return [ItemAdded(item=replace(item, n=n)) for n, item in enumerate(items, first)]

    await record.add(make)


def _running_lines(state: State) -> Iterator[str]:
    children = state.in_background
    yield "These agents run in the background:" if children else "No agent runs in the background."
    yield from (
        f"- {child_name(child)}: {one_line(child.description)}" for child in children.values()
    )


def _ended_lines(state: State) -> Iterator[str]:
    """Lines on agents whose results a compaction may have removed from the window."""
    behind = state.children_behind[-MOST_LISTED:]
    if not behind:
        return
    yield "These agents ended before the window was compacted (recall a1#3 brings item 3 of a1):"
    if more := len(state.children_behind) - len(behind):
        yield f"- and {more} before these"
    for n in behind:
        child, end = state.children[n], state.finished[n]
        how = end.state + (f": {one_line(end.reason)[:80]}" if end.reason else "")
        about = one_line(child.description)[:120]
        yield f"- {child_name(child)}, {how}, {end.items} items: {about}"


def _ended_item(child: ChildStarted, end: ChildFinished, prices: Mapping[str, Price]) -> Item:
    head = f"{end_line(child, end, prices)}\n"
    return Item(
        n=0,
        kind="context",
        content=head + (end.answer or NOTHING),
        detail={
            CHILD: child.child,
            "act": "agent",
            "title": f"task {one_line(child.description)}",
            "ok": end.state == "done",
            "host": [[0, len(head)]],
        },
    )
