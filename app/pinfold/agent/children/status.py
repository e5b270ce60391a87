"""An agent's status, as the screen shows it."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from pinfold.agent.children.child import WAITS, Child, child_name, used_tokens
from pinfold.rollout.events import ChildFinished, ChildStarted
from pinfold.rollout.values import Usage
from pinfold.sanitize import one_line
from pinfold.tokens.prices import Price, Spend

ChildState = Literal["queued", "working", "asks", "done", "waiting", "interrupted", "failed"]
"""`asks` waits for the user's answer; `waiting` ended, and could go on."""
BEGINS = "waiting for the model"


class ChildStatus(Struct, frozen=True, kw_only=True):
    """An agent's identity, current step, and result."""

    number: int
    name: str
    """`a1 explore`."""
    agent: str
    description: str
    call_id: str
    """Of the call that started it; empty where the user did."""
    background: bool
    state: ChildState
    line: str = ""
    """What it does, while it works: the tool that runs, or the last line of what it writes."""
    reason: str = ""
    """Why it did not reach `done`."""
    tokens: int = 0
    """Input plus output."""
    cost: float | None = None
    """USD; None where a price is not known."""
    seconds: float = 0.0
    items: int = 0
    files: tuple[str, ...] = ()
    """Files it changed."""
    worktree: str = ""
    """Its worktree and branch, if kept; else empty."""
    answer: str = ""
    """Its last reply, if no call's result holds it."""

    @property
    def running(self) -> bool:
        return self.state in ("queued", "working", "asks")


def status_of(
    started: ChildStarted,
    child: Child | None,
    end: ChildFinished | None,
    seconds: float,
    prices: Mapping[str, Price],
) -> ChildStatus:
    """`child` is there for one that was started since the session was opened."""
    state: ChildState = "working"
    line = child.line if child is not None and end is None else ""
    models: Mapping[str, Usage] = {}
    if end is not None:
        state, models, seconds = end.state, end.models, end.seconds
    elif child is not None:
        models = child.spend.models
        if child.session is None:
            state = "queued" if not child.items else "working"
        elif child.session.phase in ("approval", "question"):
            state = "asks"
        elif line == WAITS:
            line = BEGINS
    return ChildStatus(
        number=started.child,
        name=child_name(started),
        agent=started.agent,
        description=started.description,
        call_id=started.call_id,
        background=started.background,
        state=state,
        line=line,
        reason=end.reason if end is not None else "",
        tokens=used_tokens(models),
        cost=Spend(dict(models)).total(prices) if models else None,
        seconds=seconds,
        items=end.items if end is not None else child.items if child is not None else 0,
        files=end.files if end is not None else (),
        worktree=_worktree(started, end) if end is not None else "",
        answer=(end.answer or (child.answer if child is not None else "")) if end else "",
    )


def _worktree(started: ChildStarted, end: ChildFinished) -> str:
    if not end.worktree or started.race:
        return one_line(end.worktree)
    return f"{one_line(end.worktree)}, branch pinfold/{one_line(started.worktree)}"
