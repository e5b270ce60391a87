"""`python -m benchmarks.soak`: sessions from seeds, one after the other, until the time is up."""

import argparse
import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import results, soak
from benchmarks.figures import Figure, conditions, table
from benchmarks.memory import pss
from benchmarks.soak.checks import Violated
from benchmarks.soak.run import Soak

TURNS, MINUTES = 2_000, 10.0
WARM = 0.1
"""The share of a session's turns after which all that is loaded once is there."""
SAMPLE = 50
"""Turns between two looks at the memory."""
FLAT = 1.15
"""What the memory at the end may be of what it was when warm."""
ENCODING = "o200k_base"


@dataclass
class Course:
    """What a session came to."""

    soak: Soak
    cpu: float = 0.0
    memory: list[tuple[int, int, float]] = field(default_factory=list)
    """Turn, items, MiB."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--turns", type=int, help=f"one session of so many, not {TURNS:,}")
    parser.add_argument("--seed", type=int, default=1, help="of the first session")
    given = parser.parse_args()
    turns, seconds = given.turns or TURNS, 0.0 if given.turns else 60 * MINUTES
    started, seed = time.monotonic(), given.seed
    first: Course | None = None
    done = 0
    while first is None or time.monotonic() - started < seconds:
        try:
            course = asyncio.run(session(seed, turns, started, seconds if first else 0.0))
        except Violated:
            return 1
        first, seed, done = first or course, seed + 1, done + course.soak.turn
    told = list(figures(first, done, seed - given.seed, time.monotonic() - started))
    for figure in told:
        print(figure.line())
    if not given.turns:
        results.write_section(soak.TITLE, f"{conditions()}\n\n{table(told)}")
    return 0


async def session(seed: int, turns: int, started: float, seconds: float) -> Course:
    """A session of so many turns; fewer where `seconds` have passed since the start.

    Prints a line a minute. Raises `Violated`, once it has said how to see that again.
    """
    with tempfile.TemporaryDirectory() as root:
        course = Course(Soak(Path(root).resolve(), seed, ENCODING))
        running, before = course.soak, time.process_time()
        said = time.monotonic()
        await running.start()
        try:
            while running.turn < turns:
                now = time.monotonic()
                if seconds and now - started > seconds:
                    break
                if now - said >= 60:
                    print(line(seed, running), flush=True)
                    said = now
                # A disk is full once, in the midst.
                await running.step(full_disk=running.turn == turns // 2)
                if running.turn % min(SAMPLE, max(1, turns // 10)) == 0:
                    gc.collect()
                    course.memory.append((running.turn, running.items, pss()))
            await running.close()
        except Violated as violated:
            again = f"make soak ARGS='--seed {seed} --turns {turns}'"
            print(f"Seed {seed}, turn {running.turn}: {violated}. Again: {again}", file=sys.stderr)
            raise
        course.cpu = time.process_time() - before
        return course


def line(seed: int, running: Soak) -> str:
    """Where a session stands."""
    return (
        f"seed {seed}, turn {running.turn:,}: {running.model.tally['requests']:,} requests, "
        f"{running.compactions:,} compactions, {running.items:,} items, {pss():.0f} MiB"
    )


def figures(first: Course, turns: int, sessions: int, seconds: float) -> Iterator[Figure]:
    """Of the first session, which is whole; `turns` are those of all."""
    running, model, user = first.soak, first.soak.model.tally, first.soak.user.tally
    yield Figure(f"turns in {sessions} sessions, in {seconds / 60:.1f} minutes", turns, "turns")
    yield Figure("violated invariants", 0, "", target=0)
    about = "the first session"
    yield Figure(f"{about}: turns", running.turn, "turns")
    yield Figure(f"{about}: items", running.items, "items")
    yield Figure(f"{about}: requests", model["requests"], "requests")
    faults = sum(count for name, count in model.items() if name not in ("requests", "none"))
    yield Figure(f"{about}: faults of the model", faults, "faults")
    yield Figure(f"{about}: requests too large for it", model["too large"], "requests")
    edits = sum(count for name, count in user.items() if name != "refused")
    yield Figure(f"{about}: the user's edits", edits, "edits")
    yield Figure(f"{about}: compactions", running.compactions, "compactions")
    yield Figure(f"{about}: closed and opened again", running.tally["resumed"], "times")
    yield Figure(f"{about}: a turn, with its checks", first.cpu / running.turn * 1e3, "ms CPU")
    _, few, warm = next(each for each in first.memory if each[0] >= WARM * running.turn)
    _, many, end = first.memory[-1]
    against = f"after {WARM:.0%} of the turns"
    yield Figure(f"{about}: memory at its end (PSS)", end, "MiB", warm, against, FLAT)
    growth = (end - warm) * 1024 / max(1, many - few)
    yield Figure(f"{about}: what an item adds to it", growth, "KiB")


if __name__ == "__main__":
    sys.exit(main())
