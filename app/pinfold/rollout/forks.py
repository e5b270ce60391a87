"""Forking: a new session whose rollout begins as a copy of another's.

A fork begins in window 0; the windows that it has from its parent are numbered -1, -2 ... back.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from pinfold import atomic_files
from pinfold.rollout import codec
from pinfold.rollout.blobs import Blobs
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
from pinfold.rollout.hold import Hold
from pinfold.rollout.journal import ROLLOUT, Journal, JournalError

AGENTS = "agents"
"""The folder in a session's that holds the sessions of its agents."""
_LOCKS = shutil.ignore_patterns("*.lock", "sandbox")


@dataclass(slots=True)
class _Added:
    n: int
    response: int
    lines: int
    """Length of the rollout through the item and the events that close what came with it."""
    turn: int | None
    """The turn that runs there."""


class _Cut(NamedTuple):
    """Where a copy ends."""

    lines: int
    n: int
    """The last item in them."""
    turn: int | None = None
    """The turn that is cut off there."""


def copy(
    source: Path,
    target: Path,
    at: int | None,
    now: Callable[[], datetime],
    parent: str | None = None,
    cwd: str | None = None,
) -> int:
    """Fill the new session folder `target` from `source`, through item `at` (None: all).

    Lines are copied unchanged, except for the numbers of windows. Returns the last item copied.
    `parent` is the session that starts it as its agent, `cwd` the folder that it works in, where
    that is another one. Raises `JournalError`.
    """
    with Journal.open(source, now, read_only=True) as journal:
        cut = _cut(journal, at)
        _copy(journal, target, cut, now, parent, cwd)
    return cut.n


def copy_before(source: Path, target: Path, prompt: int, now: Callable[[], datetime]) -> None:
    """Like `copy`, up to where the user's `prompt`, an item, begins its turn."""
    with Journal.open(source, now, read_only=True) as parent:
        _copy(parent, target, _before(parent, prompt), now)


def copy_window(source: Path, target: Path, generation: int, now: Callable[[], datetime]) -> None:
    """Like `copy`, up to where the window of that generation was replaced."""
    with Journal.open(source, now, read_only=True) as parent:
        _copy(parent, target, _cut_before(parent, generation), now)


def _copy(
    parent: Journal,
    target: Path,
    cut: _Cut,
    now: Callable[[], datetime],
    agent_of: str | None = None,
    cwd: str | None = None,
) -> None:
    """Copy the lines of `parent` up to the cut; a turn that it cuts off ends there."""
    forked_from = f"{parent.started.id}:{cut.n}"
    adopted = parent.started.adopted
    if adopted is not None:
        adopted = replace(adopted, through=min(adopted.through, cut.lines))
    started = replace(
        parent.started, schema=SCHEMA, id=target.name, forked_from=forked_from, adopted=adopted
    )
    if agent_of is not None:
        started = replace(started, parent=agent_of, source="agent", cwd=cwd or started.cwd)
    try:
        atomic_files.make_folder(target)
        # Held: until its rollout is there, nothing says that the rest is needed.
        with Hold(target, now), atomic_files.replacing(target / ROLLOUT) as file:
            if (parent.folder / "outputs").is_dir():
                shutil.copytree(parent.folder / "outputs", target / "outputs")
            if agent_of is None and (parent.folder / AGENTS).is_dir():
                shutil.copytree(parent.folder / AGENTS, target / AGENTS, ignore=_LOCKS)
            Blobs(parent.folder).link_to(target)
            file.write(codec.encode(Event(1, now(), started)) + b"\n")
            line = b""
            windows = _windows(islice(parent.lines(), 1, cut.lines))
            for line in _renumbered(islice(parent.lines(), 1, cut.lines), windows):
                file.write(line + b"\n")
            if cut.turn is not None:
                head = codec.header(line)
                ended = TurnFinished(turn=cut.turn, state="interrupted", reason="forked here")
                seq = cut.lines if head is None else head.seq
                file.write(codec.encode(Event(seq + 1, now(), ended)) + b"\n")
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise JournalError(atomic_files.failure(target, error)) from error


def _windows(lines: Iterable[bytes]) -> int:
    return max((data.generation for data in map(_replaced, lines) if data is not None), default=0)


def _renumbered(lines: Iterable[bytes], by: int) -> Iterator[bytes]:
    """The lines, with the numbers of windows lowered; what else they say is kept."""
    for line in lines:
        if _replaced(line) is None or not by:
            yield line
            continue
        event = msgspec.json.decode(line)
        data = event["data"]
        data["generation"] -= by
        data["base"]["generation"] -= by
        yield msgspec.json.encode(event)


def _replaced(line: bytes) -> WindowReplaced | None:
    if b'"window_replaced"' not in line:
        return None
    try:
        data = codec.decode(line).data
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, WindowReplaced) else None


def _cut(journal: Journal, at: int | None) -> _Cut:
    """What goes through item `at`, and what came with it."""
    items: list[_Added] = []
    count, closing = 0, False
    for count, turn, event in _walk(journal):
        match event.data:
            case ItemAdded(item=item):
                items.append(_Added(item.n, item.response, count, turn))
                closing = True
            case WindowReplaced(inserted=inserted):
                items += (_Added(item.n, 0, count, turn) for item in inserted)
                closing = False
            case (
                ArtifactObserved()
                | MemoryApplied()
                | MemoryRefused()
                | RequestFinished()
                | TurnFinished()
            ) if closing:
                items[-1].lines, items[-1].turn = count, turn
            case _:
                closing = False
    if at is None:
        return _Cut(count, items[-1].n if items else 0)
    index = next((index for index, item in enumerate(items) if item.n == at), None)
    if index is None:
        raise JournalError(f"There is no item #{at} in this session.")
    response = items[index].response
    if response and any(item.response == response for item in items[index + 1 :]):
        index = next(i for i, item in enumerate(items) if item.response == response) - 1
    if index < 0:
        return _Cut(1, 0)
    last = items[index]
    return _Cut(last.lines, last.n, last.turn if last.lines < count else None)


def _before(journal: Journal, prompt: int) -> _Cut:
    """What comes before the turn of a prompt; before the prompt where it came within one."""
    last, begun = 0, None
    for count, turn, event in _walk(journal):
        match event.data:
            case ItemAdded(item=item) if item.n == prompt:
                if item.kind != "user":
                    raise JournalError(f"#{prompt} is not one of your prompts.")
                return _Cut(count - 1, last, turn) if begun is None else _Cut(begun, last)
            case ItemAdded(item=item):
                last, begun = item.n, None
            case WindowReplaced(inserted=inserted):
                last = max(last, *(item.n for item in inserted), 0)
            case TurnStarted():
                begun = count - 1
    raise JournalError(f"There is no prompt #{prompt} in this session.")


def _cut_before(journal: Journal, generation: int) -> _Cut:
    count = last = 0
    now = None
    for count, turn, event in _walk(journal):
        match event.data:
            case WindowReplaced(generation=next_one, inserted=inserted):
                if generation == (next_one - 1 if now is None else now):
                    return _Cut(count - 1, last, turn)
                now = next_one
                last = max(last, *(item.n for item in inserted), 0)
            case ItemAdded(item=item):
                last = item.n
    if generation != (now or 0):
        raise JournalError(f"There is no window {generation} in this session.")
    return _Cut(count, last)


def _walk(journal: Journal) -> Iterator[tuple[int, int | None, Event]]:
    """The events, each with the number of lines through it and the turn that runs after it."""
    turn = None
    for count, event in enumerate(journal.read(), 1):
        match event.data:
            case TurnStarted(turn=started):
                turn = started
            case TurnFinished():
                turn = None
        yield count, turn, event
