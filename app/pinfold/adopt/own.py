"""pinfold's own rollouts, as an adoption."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from pinfold.adopt.adoption import HALF_WRITTEN, Adoption, NotASession
from pinfold.checkpoint.core import Core
from pinfold.rollout import codec, events, pictures
from pinfold.rollout.acts import told
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.events import (
    ApprovalDecided,
    ContextSet,
    CoreChanged,
    CoreSuggested,
    Event,
    GoalSet,
    ItemAdded,
    MemoryApplied,
    MemoryUsed,
    ModelChanged,
    PromptQueued,
    PromptUnqueued,
    SessionStarted,
    Unknown,
)
from pinfold.rollout.memory import DecisionMemory, FactMemory
from pinfold.rollout.summaries import title_of
from pinfold.rollout.values import AdoptedFrom, CoreStatement

MOST, LONGEST = 40, 2_000
"""Suggestions for the core from an adopted session, and characters of each, at most."""
_OWN = (
    ApprovalDecided,
    CoreChanged,
    CoreSuggested,
    GoalSet,
    MemoryApplied,
    MemoryUsed,
    PromptQueued,
    PromptUnqueued,
)
"""What a user said on another machine, and what a model noted there."""
_OWN_NAMES = {events.NAMES[kind] for kind in (*_OWN, ContextSet)}


class Unconfirmed(NamedTuple):
    """A session without anything that its new user has not said."""

    events: tuple[Event, ...]
    suggested: int
    """How much can be confirmed in `/core`."""
    waiting: int
    """Queued prompts, which are left out."""


def read_lines(lines: Iterable[bytes], file: Path) -> Adoption:
    """The session in a rollout's lines. Raises `NotASession`."""
    read = list(_events(lines, Blobs(file.parent)))
    notes: list[str] = []
    if read and _unreadable(read[-1]):
        read.pop()
        notes.append(HALF_WRITTEN)
    found = _in_order(read)
    if found != read:
        notes.append("Its lines were out of order, or repeated.")
    if not found or not isinstance(started := found[0].data, SessionStarted):
        raise NotASession(f"{file} is a pinfold rollout without its first line.")
    if started.schema > events.SCHEMA:
        raise NotASession(f"{file} was written by a newer pinfold. Please update.")
    first = replace(started, adopted=AdoptedFrom("pinfold", str(file), started.id))
    found[0] = replace(found[0], data=first)
    model: ModelChanged | None = None
    title = ""
    for event in found:
        match event.data:
            case ModelChanged() as model:
                pass
            case ItemAdded(item=item) if item.kind == "user" and not title:
                title = title_of(told(item))
    if lost := sum(pictures.lost(event.data) for event in found):
        were = "picture did" if lost == 1 else f"{lost:,} pictures did"
        notes.append(f"{were.capitalize()} not come along: there is no `blobs/` beside the file.")
    unreadable = sum(map(_unreadable, found))
    return Adoption(
        tool="pinfold",
        session=started.id,
        title=title,
        cwd=started.cwd,
        started_at=found[0].ts,
        model=model.model if model else "",
        context_window=model.context_window if model else 0,
        events=tuple(found),
        skipped={"unreadable line": unreadable} if unreadable else {},
        notes=tuple(notes),
    )


def unconfirmed(read: Iterable[Event]) -> Unconfirmed:
    """The session as its new user gets it. Goal, core and records come last, as suggestions that
    count once they are confirmed; consent, memories and queued prompts are left out."""
    core, kept = Core(), list[Event]()
    recorded: dict[str, str] = {}
    waiting: set[int] = set()
    for event in read:
        core.step(event)
        match event.data:
            case PromptQueued(id=queue_id):
                waiting.add(queue_id)
            case PromptUnqueued(id=queue_id):
                waiting.discard(queue_id)
            case MemoryApplied(memory=FactMemory(key=key, value=value)):
                recorded[f"fact {key}"] = f"{key}: {value}"
            case MemoryApplied(memory=DecisionMemory() as decision):
                recorded.pop(f"decision {decision.supersedes}", None)
                recorded[f"decision {decision.id}"] = decision.decision
            case ContextSet(context=context) as there:
                alone = replace(there, context=replace(context, memories=None))
                kept.append(replace(event, data=alone))
            case Unknown(type=name) if name in _OWN_NAMES:
                pass
            case data if not isinstance(data, _OWN):
                kept.append(event)
    # Without their source items: only the file claims those.
    texts = dict.fromkeys(
        [
            core.goal,
            *(statement.text for statement in core.stated()),
            *(suggestion.text for suggestion in core.suggested()),
            *recorded.values(),
        ]
    )
    short = (text for text in texts if text.strip() and len(text) <= LONGEST)
    suggested = tuple(map(CoreStatement, islice(short, MOST)))
    if suggested:
        last = kept[-1]
        kept.append(Event(last.seq + 1, last.ts, CoreSuggested(add=suggested)))
    return Unconfirmed(tuple(kept), len(suggested), len(waiting))


def _events(lines: Iterable[bytes], blobs: Blobs) -> Iterable[Event]:
    seq, at = 0, datetime.fromtimestamp(0, UTC)
    for line in lines:
        event = codec.decode_leniently(line.rstrip(b"\n"), seq + 1, at)
        seq, at = event.seq, event.ts
        yield replace(event, data=pictures.filled(event.data, blobs))


def _in_order(read: list[Event]) -> list[Event]:
    """The events as they were written, each once."""
    first, rest = read[:1], read[1:]
    known = {event.seq: event for event in reversed(rest) if not _unreadable(event)}
    rest = sorted([*known.values(), *filter(_unreadable, rest)], key=lambda event: event.seq)
    return first + rest


def _unreadable(event: Event) -> bool:
    return isinstance(event.data, Unknown) and event.data.type == codec.UNREADABLE
