"""pinfold's own rollouts, as an adoption: the events as they stand."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from pinfold.adopt.adoption import HALF_WRITTEN, Adoption, NotASession
from pinfold.rollout import events, pictures
from pinfold.rollout.acts import told
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.events import Adopted, Event, ItemAdded, ModelChanged, SessionStarted, Unknown
from pinfold.rollout.summaries import title_of


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
        raise NotASession(f"{file} is a rollout of pinfold's that lacks its first line.")
    if started.schema > events.SCHEMA:
        raise NotASession(f"{file} was written by a newer pinfold. Please update.")
    first = replace(started, adopted=Adopted("pinfold", str(file), started.id))
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
        notes.append(f"{were.capitalize()} not come along: `blobs/` does not lie beside the file.")
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


def _events(lines: Iterable[bytes], blobs: Blobs) -> Iterable[Event]:
    seq, at = 0, datetime.fromtimestamp(0, UTC)
    for line in lines:
        event = events.decode_leniently(line.rstrip(b"\n"), seq + 1, at)
        seq, at = event.seq, event.ts
        yield replace(event, data=pictures.filled(event.data, blobs))


def _in_order(read: list[Event]) -> list[Event]:
    """The events as they were written, each once."""
    first, rest = read[:1], read[1:]
    known = {event.seq: event for event in reversed(rest) if not _unreadable(event)}
    rest = sorted([*known.values(), *filter(_unreadable, rest)], key=lambda event: event.seq)
    return first + rest


def _unreadable(event: Event) -> bool:
    return isinstance(event.data, Unknown) and event.data.type == events.UNREADABLE
