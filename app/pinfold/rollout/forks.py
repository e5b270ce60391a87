"""Forking: a new session whose rollout begins as a copy of another's."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from pinfold.rollout import events, files
from pinfold.rollout.events import (
    SCHEMA,
    ArtifactObserved,
    Event,
    ItemAdded,
    MemoryApplied,
    MemoryRefused,
    RequestFinished,
    TurnFinished,
    TurnStarted,
    WindowReplaced,
)
from pinfold.rollout.journal import ROLLOUT, Journal, JournalError


@dataclass(slots=True)
class _Added:
    n: int
    response: int
    lines: int
    """Length of the rollout through the item and the events that close what came with it."""


def copy(source: Path, target: Path, at: int | None, now: Callable[[], datetime]) -> int:
    """Fill the new session folder `target` from `source`, through item `at` (None: all).

    Lines are copied as they stand. Returns the last item copied. Raises `JournalError`.
    """
    with Journal.open(source, now, read_only=True) as parent:
        count, n = _cut(parent, at)
        _copy(parent, target, count, n, now)
    return n


def copy_before(source: Path, target: Path, prompt: int, now: Callable[[], datetime]) -> None:
    """Like `copy`, up to where the user's `prompt`, an item, begins its turn."""
    with Journal.open(source, now, read_only=True) as parent:
        count, n = _before(parent, prompt)
        _copy(parent, target, count, n, now)


def copy_window(source: Path, target: Path, generation: int, now: Callable[[], datetime]) -> None:
    """Like `copy`, up to where the window of that generation was replaced."""
    with Journal.open(source, now, read_only=True) as parent:
        count, n = _through(parent, generation)
        _copy(parent, target, count, n, now)


def _copy(parent: Journal, target: Path, count: int, n: int, now: Callable[[], datetime]) -> None:
    """Copy the first `count` lines of `parent`, which go through item `n`."""
    forked_from = f"{parent.started.id}:{n}"
    started = replace(parent.started, schema=SCHEMA, id=target.name, forked_from=forked_from)
    try:
        files.make_folder(target)
        for name in ("blobs", "outputs"):
            if (parent.folder / name).is_dir():
                shutil.copytree(parent.folder / name, target / name)
        with files.replacing(target / ROLLOUT) as file:
            file.write(events.encode(Event(1, now(), started)) + b"\n")
            file.writelines(line + b"\n" for line in islice(parent.lines(), 1, count))
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise JournalError(files.failure(target, error)) from error


def _cut(journal: Journal, at: int | None) -> tuple[int, int]:
    """How many lines to copy, and the last item in them."""
    items: list[_Added] = []
    count, closing = 0, False
    for count, event in enumerate(journal.read(), 1):
        match event.data:
            case ItemAdded(item=item):
                items.append(_Added(item.n, item.response, count))
                closing = True
            case WindowReplaced(inserted=inserted):
                items += (_Added(item.n, 0, count) for item in inserted)
                closing = False
            case (
                ArtifactObserved()
                | MemoryApplied()
                | MemoryRefused()
                | RequestFinished()
                | TurnFinished()
            ) if closing:
                items[-1].lines = count
            case _:
                closing = False
    if at is None:
        return count, items[-1].n if items else 0
    index = next((index for index, item in enumerate(items) if item.n == at), None)
    if index is None:
        raise JournalError(f"There is no item #{at} in this session.")
    response = items[index].response
    if response and any(item.response == response for item in items[index + 1 :]):
        index = next(i for i, item in enumerate(items) if item.response == response) - 1
    return (items[index].lines, items[index].n) if index >= 0 else (1, 0)


def _before(journal: Journal, prompt: int) -> tuple[int, int]:
    """How many lines come before the turn of a prompt, and the last item in them."""
    last, begun = 0, None
    for count, event in enumerate(journal.read()):
        match event.data:
            case ItemAdded(item=item) if item.n == prompt:
                if item.kind != "user":
                    raise JournalError(f"#{prompt} is not one of your prompts.")
                return (count if begun is None else begun), last
            case ItemAdded(item=item):
                last, begun = item.n, None
            case WindowReplaced(inserted=inserted):
                last = max(last, *(item.n for item in inserted), 0)
            case TurnStarted():
                begun = count
    raise JournalError(f"There is no prompt #{prompt} in this session.")


def _through(journal: Journal, generation: int) -> tuple[int, int]:
    """How many lines come before that window was replaced, and the last item in them."""
    count = last = now = 0
    for count, event in enumerate(journal.read(), 1):
        match event.data:
            case WindowReplaced() if now == generation:
                return count - 1, last
            case WindowReplaced(generation=now, inserted=inserted):
                last = max(last, *(item.n for item in inserted), 0)
            case ItemAdded(item=item):
                last = item.n
    if now != generation:
        raise JournalError(f"There is no window {generation} in this session.")
    return count, last
