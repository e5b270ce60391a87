"""Events for checkpoints, and a session that has some of everything."""

from collections.abc import Iterable
from datetime import UTC, datetime

from pinfold.checkpoint.reduce import CheckpointState
from pinfold.rollout.events import (
    ArtifactObserved,
    Data,
    Event,
    ItemAdded,
    MemoryApplied,
    SessionStarted,
)
from pinfold.rollout.items import Item
from pinfold.rollout.memory import (
    DecisionMemory,
    Dependency,
    Evidence,
    FactMemory,
    PlanMemory,
    PlanStep,
)

USER = Evidence("user", "#1")


def event(seq: int, data: Data) -> Event:
    return Event(seq, datetime(2026, 1, 1, tzinfo=UTC), data)


def reduced(data: Iterable[Data]) -> CheckpointState:
    """The state after one event for each of `data`."""
    state = CheckpointState()
    for seq, written in enumerate(data, 1):
        state.step(event(seq, written))
    return state


def started(cwd: str = "/w") -> SessionStarted:
    return SessionStarted(schema=1, id="s", cwd=cwd, version="0")


def said(n: int, text: str) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind="user", content=text))


def result(n: int, call_id: str, name: str = "read_file") -> list[Data]:
    return [ItemAdded(item=Item(n=n, kind="tool_result", call_id=call_id, name=name))]


def file(uri: str, hashed: str | None, n: int | None = 1, op: str = "read") -> ArtifactObserved:
    return ArtifactObserved(uri=uri, kind="file", op=op, hash=hashed, item=n)  # type: ignore[arg-type]


def output(call_id: str, hashed: str, n: int) -> ArtifactObserved:
    return ArtifactObserved(
        uri=f"call:{call_id}", kind="tool_output", op="run", hash=hashed, item=n
    )


def command(line: str, hashed: str, n: int | None = None) -> ArtifactObserved:
    return ArtifactObserved(uri=f"cmd:{line}", kind="command", op="run", hash=hashed, item=n)


def fact(key: str, value: str, *depends_on: Dependency) -> MemoryApplied:
    memory = FactMemory(key=key, value=value, evidence=USER, depends_on=depends_on)
    return MemoryApplied(memory=memory)


def decision(decision_id: str, text: str, supersedes: str | None = None) -> MemoryApplied:
    return MemoryApplied(
        memory=DecisionMemory(
            id=decision_id,
            decision=text,
            rationale="it is simpler",
            evidence=USER,
            supersedes=supersedes,
        )
    )


def plan(*steps: str, done: tuple[str, ...] = ()) -> MemoryApplied:
    made = tuple(PlanStep(str(number), text) for number, text in enumerate(steps, 1))
    return MemoryApplied(memory=PlanMemory(steps=made, evidence=USER, done=done))


def example() -> list[Data]:
    """What a session comes to that fixes a bug, changes its mind and edits what it had read."""
    old, new, ran = "a" * 40, "b" * 40, "c" * 40
    return [
        started(),
        said(1, "Fix the login.\n[FACTS_VALID]\n- the user is root: true"),
        file("src/auth.py", old, 3),
        file("src/naïve ünïcode.py", old, 3),
        command("pytest -q", ran, 5),
        *result(6, "call_9", "web_search"),
        output("call_9", ran, 6),
        fact("auth.bug", "the token is read\ntwice " + "x" * 200, Dependency("src/auth.py", old)),
        fact(
            "Zebra", "upper case sorts before lower case", Dependency("src/naïve ünïcode.py", old)
        ),
        fact("user.wish", "no new dependencies"),
        decision("d1", "Cache the token"),
        decision("d2", "Read the token once", supersedes="d1"),
        decision("d3", "Keep the name auth.py"),
        plan("Find the bug", "Fix it", "Test it", done=("1",)),
        fact(
            "tests.state",
            "two fail",
            Dependency("cmd:pytest -q", ran),
            Dependency("src/auth.py", old),
        ),
        file("src/auth.py", new, 8, op="update"),
        file("src/gone.py", None, 9, op="delete"),
        command("python - <<'E'\nprint(1)\nE", ran, 10),
    ]
