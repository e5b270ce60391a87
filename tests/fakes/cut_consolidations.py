"""Consolidations that are killed between any two steps: run as a program, with a folder of its own.

A step is whatever changes the disk or asks the database. Each is tried: a copy of the same home, a
process that kills itself before that step, and another one that comes after it. Prints what it
finds as JSON: the number of steps, and what is wrong, by step.

    python -m fakes.cut_consolidations ROOT model|rules EVERY     each EVERY-th step
    python -m fakes.cut_consolidations ROOT together PROCESSES    several processes at once
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fakes.consolidating import Memories, agent_writing, line, session
from fakes.provider import FakeClock
from pinfold.memories import applying, baseline, review, trees
from pinfold.memories.consolidate import ConsolidationOutcome
from pinfold.memories.places import DIFF, MEMORY, SUMMARY
from pinfold.memories.state import MemoriesState

OLD, NEW = (line(n, 1, f"Port {n} is 808{n}.") for n in (1, 2))
BEFORE, AFTER = (
    "\n".join(["# Memory", "", "## /home/me/app", "", *lines, ""]) for lines in ([OLD], [OLD, NEW])
)
_CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}
_WRITES = os.O_WRONLY | os.O_RDWR


class Steps:
    """Counts the steps of a process below `home`, and kills it before one."""

    def __init__(self, home: Path, fatal: int | None) -> None:
        self.names: list[str] = []
        self._home = str(home)
        self._fatal = fatal
        sys.addaudithook(self._hear)
        for name in ("claim_consolidation", "prune", "owns", "finish_consolidation"):
            setattr(MemoriesState, name, self._around(name, getattr(MemoriesState, name)))

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CHANGES or (event == "open" and arguments[2] and arguments[2] & _WRITES):
            path = str(arguments[0])
            # What `rmtree` removes, it names from within the folder.
            if path.startswith(self._home) or "/" not in path:
                self._step(f"{event} {path.removeprefix(self._home)}")

    def _around(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*given: Any, **named: Any) -> Any:
            self._step(f"before {name}")
            try:
                return method(*given, **named)
            finally:
                self._step(f"after {name}")

        return stepped

    def _step(self, name: str) -> None:
        if self._fatal == len(self.names):
            os.kill(os.getpid(), signal.SIGKILL)
        self.names.append(name)


def run(home: Path, *, by_model: bool, later: float = 0) -> tuple[Memories, ConsolidationOutcome]:
    clock = FakeClock()
    clock._elapsed = 86_400 + later
    at = Memories(home, clock)
    return at, asyncio.run(at.run(agent_writing(AFTER, BEFORE) if by_model else None))


def template(home: Path, *, by_model: bool) -> None:
    """One record is consolidated, another one waits."""
    at = Memories(home)
    at.remember(1, OLD)
    asyncio.run(at.run(agent_writing(BEFORE, BEFORE) if by_model else None))
    at.remember(2, NEW, days=0.5)
    at.state.close()


def forked(work: Callable[[], Any]) -> Any:
    """What a process of its own makes of `work`; None where it was killed."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(write, json.dumps(work()).encode())
        except BaseException as error:
            os.write(write, json.dumps(f"{type(error).__name__}: {error}").encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else None


def wrong(home: Path, *, by_model: bool) -> list[str]:
    """What is wrong where a process was killed, and after the next one has run."""
    found: list[str] = []
    files = home / "memories"
    old, new = (BEFORE, AFTER)
    page = (files / MEMORY).read_text()
    if by_model and page not in (old, new):
        found.append(f"half a page: {page!r}")
    at = Memories(home)
    stored = applying.load(at.places) is not None
    at.state.close()
    at, outcome = run(home, by_model=by_model, later=3_700)
    if outcome.status not in ("succeeded", "unchanged"):
        found.append(f"{outcome.status}: {outcome.note}")
    if by_model and stored and at.provider.requests:
        found.append("a second agent, though the first had finished")
    tree = trees.read(files)
    if by_model and tree.get(MEMORY) != new.encode():
        found.append(f"not the new page: {tree.get(MEMORY)!r}")
    if NEW not in tree[MEMORY].decode():
        found.append("the new line is lost")
    if baseline.read(at.places) != tree:
        found.append("the baseline is not what the files are")
    if (files / DIFF).exists():
        found.append("the diff is left")
    left = sorted(path.name for path in at.places.work.iterdir())
    if left != ["lock", "undo"]:
        found.append(f"left behind: {left}")
    marked = [output.session_id for output in at.state.outputs() if output.selected_for_phase2]
    if marked != [session(1), session(2)]:
        found.append(f"marked: {marked}")
    review.undo(at.places)
    undone = trees.read(files)
    if NEW in undone[MEMORY].decode() or OLD not in undone[SUMMARY].decode():
        found.append("undo does not bring the old page back")
    return found


def main(root: Path, *, by_model: bool, every: int) -> None:
    made = root / "template"
    template(made, by_model=by_model)

    def cut(fatal: int | None) -> Callable[[], list[str]]:
        def work() -> list[str]:
            steps = Steps(home, fatal)
            run(home, by_model=by_model)
            return steps.names

        return work

    def after() -> list[str]:
        return wrong(home, by_model=by_model)

    home = root / "counted"
    shutil.copytree(made, home, symlinks=True)
    names: list[str] = forked(cut(None))
    found: dict[str, Any] = {}
    for step in range(0, len(names), every):
        home = root / f"cut-{step}"
        shutil.copytree(made, home, symlinks=True)
        if forked(cut(step)) is not None:
            found[names[step]] = "was not killed"
        elif bad := forked(after):
            found[f"{step} {names[step]}"] = bad
        shutil.rmtree(home)
    print(json.dumps({"steps": len(names), "wrong": found}))


def together(root: Path, processes: int) -> None:
    """Several processes at once on one home; prints what came of each, and how often an agent
    began."""
    home = root / "home"
    template(home, by_model=True)
    read, write = os.pipe()
    children = []
    for _ in range(processes):
        if (child := os.fork()) == 0:
            os.close(write)
            os.read(read, 1)  # until all of them are there
            at, outcome = run(home, by_model=True)
            begun = bool(at.provider.requests)
            (root / f"{os.getpid()}.json").write_text(json.dumps([outcome.status, begun]))
            os._exit(0)
        children.append(child)
    os.close(write)
    for child in children:
        os.waitpid(child, 0)
    print(json.dumps([json.loads(path.read_text()) for path in root.glob("*.json")]))


if __name__ == "__main__":
    if sys.argv[2] == "together":
        together(Path(sys.argv[1]), int(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), by_model=sys.argv[2] == "model", every=int(sys.argv[3]))
