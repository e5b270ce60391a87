"""One agent: its session, from the task to the last reply."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pinfold.agent.children.definition import ChildSession
from pinfold.agent.state import State
from pinfold.agent.turn.ending import Ending
from pinfold.numbers import dollars, duration, tokens
from pinfold.ports.provider import Delta
from pinfold.rollout.events import (
    ArtifactObserved,
    ChildFinished,
    ChildStarted,
    Event,
    ItemAdded,
    RequestFinished,
)
from pinfold.rollout.forks import AGENTS
from pinfold.rollout.items import CHILD, Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.values import Usage
from pinfold.sanitize import one_line
from pinfold.tokens.prices import Price, Spend

WAITS = "waits for its turn"
BEGUN = 12
"""Minimum characters of a line being written before it is shown."""
FILES_NAMED = 12
"""Files that a result names at most."""


@dataclass(slots=True, eq=False)
class Child:
    """An agent that was started since the session was opened."""

    started: ChildStarted
    begun: float
    """As the clock's `monotonic` has it."""
    prompt: str
    fork: str = "none"
    """How much of its parent's window it begins with: `none`, `all`, `compacted`."""
    fork_at: int | None = None
    """The last item of that."""
    session: ChildSession | None = None
    """While it works."""
    place: Callable[[str], Awaitable[Path]] | None = None
    """Makes its folder, by the name of its worktree; without one it is as for any agent."""
    folder: Path | None = None
    """The folder it works in, inside its own worktree."""
    kept: str = ""
    """Where that worktree is kept."""
    stopped: str = ""
    """Why it was told to end."""
    line: str = WAITS
    """What it does."""
    writes: str = ""
    """The tail of the streaming reply."""
    streamed: list[Delta] = field(default_factory=list)
    """Deltas since its last item, for a screen that opens its transcript now."""
    spend: Spend = field(default_factory=Spend)
    items: int = 0
    finished: ChildFinished | None = None
    answer: str = ""
    task: asyncio.Task[None] | None = None

    @property
    def number(self) -> int:
        return self.started.child

    @property
    def name(self) -> str:
        return child_name(self.started)

    @property
    def tokens(self) -> int:
        return used_tokens(self.spend.models)


def child_name(child: ChildStarted) -> str:
    """`a1 explore`."""
    return f"a{child.child} {one_line(child.agent)}".rstrip()


def folder_of(parent: Journal, child: ChildStarted) -> Path:
    """Where its session lies. A session's id comes from a rollout: it must be a name.

    The agents that an agent knows from its fork of the window lie beside it.
    """
    name = child.session if child.session.replace("-", "").isalnum() else "?"
    beside = parent.started.parent is not None and parent.folder.parent.name == AGENTS
    return parent.folder.parent / name if beside else parent.folder / AGENTS / name


def result_of(state: State, item: Item) -> str:
    """Whose result an item is: `a3 explore · 41k used · find the callers`; else empty."""
    number = item.detail.get("agent", item.detail.get(CHILD))
    started = state.children.get(number) if isinstance(number, int) else None
    if started is None:
        return ""
    end = state.finished.get(started.child)
    size = f"{tokens(used_tokens(end.models))} used" if end is not None else "running"
    return f"{child_name(started)} · {size} · {one_line(started.description)}"


def last_line(text: str) -> str:
    """The last line of `text` that is not empty, without one that has just begun."""
    said = [one_line(line) for line in text.split("\n") if line.strip()]
    if len(said) > 1 and len(said[-1]) < BEGUN:
        return said[-2]
    return said[-1] if said else ""


def used_tokens(models: Mapping[str, Usage]) -> int:
    """Tokens in and out."""
    return sum(usage.input + usage.output for usage in models.values())


def summed_up(
    child: ChildStarted,
    ending: Ending,
    events: Sequence[Event],
    seconds: float,
    worktree: str = "",
) -> ChildFinished:
    """How an agent ended, from its own events; `worktree` is the path of one that is kept."""
    spend = Spend()
    files: dict[str, None] = {}
    items = 0
    for event in events:
        match event.data:
            case RequestFinished(provider=provider, model=model, usage=usage) if usage:
                spend.add(provider, model, usage)
            case ArtifactObserved(kind="file", op="create" | "update" | "delete", uri=uri):
                files[uri] = None
            case ItemAdded():
                items += 1
    return ChildFinished(
        child=child.child,
        state=ending.state,
        reason=ending.reason,
        items=items,
        files=tuple(files),
        models=spend.models,
        seconds=round(seconds, 1),
        worktree=worktree,
    )


def end_line(child: ChildStarted, end: ChildFinished, prices: Mapping[str, Price]) -> str:
    """How it ended and what it used, in one line for models and people."""
    money = Spend(dict(end.models)).total(prices)
    how = end.state if not end.reason else f"{end.state}: {one_line(end.reason)[:200]}"
    said = [f"agent {child_name(child)}", how, f"{end.items} items"]
    said.append(f"{tokens(used_tokens(end.models))} tokens")
    said += [dollars(money)] if money is not None else []
    said.append(duration(end.seconds))
    if end.files:
        more = len(end.files) - FILES_NAMED
        names = ", ".join(one_line(name) for name in end.files[:FILES_NAMED])
        said.append(f"changed {names}" + (f" and {more} more" if more > 0 else ""))
    if end.worktree and child.race:
        said.append(f"its folder is kept: {one_line(end.worktree)}")
    elif end.worktree:
        where = one_line(end.worktree)
        said.append(f"its worktree is kept: {where}, branch pinfold/{one_line(child.worktree)}")
    return f"[{' · '.join(said)}; recall a{child.child} lists what it did]"
