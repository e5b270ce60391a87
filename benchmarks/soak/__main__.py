"""`python -m benchmarks.soak`: sessions from seeds, one after the other, until the time is up.

The first is whole, and its memory is that of the process. Of the second, Python tells the memory
that its own objects take. The rest is for what only some seeds bring about.
"""

import argparse
import asyncio
import gc
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import results, soak
from benchmarks.figures import Figure, conditions, table
from benchmarks.memory import pss
from benchmarks.soak.run import AGAIN, Soak
from benchmarks.soak.violated import Violated
from pinfold.host.allocator import share_heaps

TURNS, MINUTES = 2_000, 10.0
WARM = 0.1
"""The share of a session's turns after which all that is loaded once is there."""
SAMPLE = 50
"""Turns between two looks at the memory."""
FLAT, LEVEL = 1.15, 1.05
"""What the memory at the end may be of what it was when warm, and of what it was half-way.

Not 1: of an item that left the window stays where it lies in the rollout, and which words it holds.
"""
TRACED = (100, 400)
"""Turns of the second session between which the memory of Python's own objects is measured."""
EVENTS, LINE = 40, 400
"""Events that are shown where something does not hold, and characters of each."""
ENCODING = "o200k_base"


@dataclass
class Course:
    """What a session came to."""

    soak: Soak
    cpu: float = 0.0
    memory: list[tuple[int, int, float]] = field(default_factory=list)
    """Turn, items, MiB."""

    def at(self, share: float) -> tuple[int, float]:
        """Items and MiB after that share of the turns."""
        _, items, size = next(e for e in self.memory if e[0] >= share * self.soak.turn)
        return items, size


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description="A scripted agent.")
    parser.add_argument("--turns", type=int, help=f"one session of so many, not {TURNS:,}")
    parser.add_argument("--seed", type=int, default=1, help="of the first session")
    given = parser.parse_args()
    turns, seconds = given.turns or TURNS, 0.0 if given.turns else 60 * MINUTES
    share_heaps()  # as the shell does
    end, courses = time.monotonic() + seconds, list[Course]()
    started = time.monotonic()
    try:
        while not courses or time.monotonic() < end:
            seed = given.seed + len(courses)
            until = end if courses else None
            if len(courses) == 1:
                courses.append(traced(seed, until))
            else:
                courses.append(asyncio.run(session(seed, turns, until)))
    except Violated:
        return 1
    told = list(figures(courses, (time.monotonic() - started) / 60))
    for figure in told:
        print(figure.line())
    if not given.turns:
        results.write_section(soak.TITLE, f"{conditions()}\n\n{table(told)}")
    return 0


def traced(seed: int, until: float | None) -> Course:
    """A session whose memory is that of Python's objects. Raises `Violated`."""
    tracemalloc.start()
    try:
        return asyncio.run(session(seed, TRACED[1], until, size=python))
    finally:
        tracemalloc.stop()


def python() -> float:
    """MiB of Python's own objects."""
    return tracemalloc.get_traced_memory()[0] / 2**20


async def session(
    seed: int, turns: int, until: float | None, size: Callable[[], float] = pss
) -> Course:
    """A session of so many turns; fewer where it is `until` that time before.

    Prints a line a minute. Raises `Violated`, once it has said how to see that again.
    """
    with tempfile.TemporaryDirectory() as root:
        course = Course(Soak(Path(root).resolve(), seed, ENCODING))
        running, before = course.soak, time.process_time()
        said = time.monotonic()
        await running.start()
        try:
            while running.turn < turns and (until is None or time.monotonic() < until):
                if time.monotonic() - said >= 60:
                    print(line(seed, running), flush=True)
                    said = time.monotonic()
                # A disk is full once, in the midst.
                await running.step(full_disk=running.turn == turns // 2)
                if running.turn % min(SAMPLE, max(1, turns // 10)) == 0:
                    gc.collect()
                    course.memory.append((running.turn, running.items, size()))
            await running.close()
        except Violated as violated:
            print(f"Seed {seed}, turn {running.turn}: {violated}. What came last:", file=sys.stderr)
            for event in running.newest(EVENTS):
                print(f"{event.seq} {event.data}"[:LINE], file=sys.stderr)
            print(f"Again: make soak ARGS='--seed {seed} --turns {turns}'", file=sys.stderr)
            raise
        course.cpu = time.process_time() - before
        return course


def line(seed: int, running: Soak) -> str:
    """Where a session stands."""
    return (
        f"seed {seed}, turn {running.turn:,}: {running.model.tally['requests']:,} requests, "
        f"{running.compactions:,} compactions, {running.items:,} items, {pss():.0f} MiB"
    )


def figures(courses: Sequence[Course], minutes: float) -> Iterator[Figure]:
    """Of the first session, which is whole; of all, how many turns they had."""
    first = courses[0]
    running, model, user = first.soak, first.soak.model.tally, first.soak.user.tally
    turns = sum(course.soak.turn for course in courses)
    yield Figure(f"turns in {len(courses)} sessions, in {minutes:.1f} minutes", turns, "turns")
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
    for how in AGAIN:
        yield Figure(f"{about}: {how}", running.tally[how], "times")
    yield Figure(f"{about}: a turn, with its checks", first.cpu / running.turn * 1e3, "ms CPU")
    few, warm = first.at(WARM)
    _, half = first.at(0.5)
    many, end = first.at(1.0)
    name = f"{about}: memory at its end (PSS)"
    yield Figure(name, end, "MiB", warm, f"after {WARM:.0%} of the turns", FLAT)
    yield Figure(name, end, "MiB", half, "half-way", LEVEL)
    growth = (end - warm) * 1024 / max(1, many - few)
    yield Figure(f"{about}: what an item adds to that", growth, "KiB")
    if len(courses) > 1 and courses[1].soak.turn >= TRACED[1]:
        few, small = courses[1].at(TRACED[0] / TRACED[1])
        many, large = courses[1].at(1.0)
        growth = (large - small) * 1024 / (many - few)
        name = f"the second session: what an item adds to Python's objects, turns {TRACED[0]} to"
        yield Figure(f"{name} {TRACED[1]}", growth, "KiB")


if __name__ == "__main__":
    sys.exit(main())
