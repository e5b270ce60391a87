"""The part of a card about the agent that its call started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from pinfold.agent.children.reply import NOTHING
from pinfold.numbers import dollars, duration, tokens
from pinfold.rollout.acts import told
from pinfold.sanitize import clean, one_line
from pinfold.tui.transcript.lines import TranscriptLine, clip
from pinfold.tui.transcript.rows import printed_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pinfold.agent.children.status import ChildState, ChildStatus
    from pinfold.rollout.items import Item
    from pinfold.tui.transcript.looks import Looks
    from pinfold.tui.transcript.states import State

STATES: dict[ChildState, State] = {
    "queued": "calling",
    "working": "running",
    "asks": "asks",
    "done": "ok",
    "waiting": "interrupted",
    "interrupted": "interrupted",
    "failed": "failed",
}
"""The signs and colours of other cards."""
SAID: dict[ChildState, str] = {
    "queued": "queued",
    "working": "",
    "asks": "asks you",
    "done": "done",
    "waiting": "stopped early",
    "interrupted": "interrupted",
    "failed": "failed",
}
FILES = 4
"""Changed files that a closed card names."""


def facts(agent: ChildStatus, room: int, *, state: bool = True) -> str:
    """`done · 1m 04s · 20k tokens · $0.03`; in little room without its end."""
    said = [SAID[agent.state]] if state else []
    if agent.state != "queued":
        said.append(duration(agent.seconds))
    if agent.tokens:
        said.append(f"{tokens(agent.tokens)} tokens")
    if agent.cost is not None:
        said.append(dollars(agent.cost))
    said = [fact for fact in said if fact]
    while len(said) > 1 and cell_len(" · ".join(said)) > room:
        said.pop()
    return " · ".join(said)


def body(
    agent: ChildStatus, result: Item | None, width: int, looks: Looks, *, closed: bool
) -> list[TranscriptLine]:
    """What it does now; or what it changed, why it ended early, and its last reply."""
    if agent.running:
        return [TranscriptLine([Segment(clip(agent.line, width), looks.dim)])] if agent.line else []
    rows = []
    if agent.files:
        changed = clip(f"changed {named(agent.files, FILES if closed else None)}", width)
        rows.append(TranscriptLine([Segment(changed, looks.plain)]))
    if agent.worktree:
        where = clip(f"in its worktree {agent.worktree}", width)
        rows.append(TranscriptLine([Segment(where, looks.plain)]))
    if agent.reason:
        why = clip(one_line(agent.reason), width)
        rows.append(TranscriptLine([Segment(why, looks.warning)]))
    return [*rows, *printed_rows(_reply(agent, result), width, looks, closed=closed, key="space")]


def text(agent: ChildStatus, result: Item | None) -> str:
    """Everything an open card shows."""
    said = [f"changed {named(agent.files)}"] if agent.files else []
    said += [f"in its worktree {agent.worktree}"] if agent.worktree else []
    said += [one_line(agent.reason)] if agent.reason else []
    return "\n".join([agent.line, *said, clean(_reply(agent, result))])


def named(files: Sequence[str], most: int | None = None) -> str:
    """`a.py, b.py and 3 more`."""
    names = ", ".join(one_line(name) for name in files[:most])
    more = len(files) - len(files[:most])
    return f"{names} and {more} more" if more else names


def _reply(agent: ChildStatus, result: Item | None) -> str:
    """Its last reply, without what the host wrote about it."""
    reply = (told(result) if result is not None else "") or agent.answer
    return "" if agent.reason and reply == NOTHING else reply
