"""What the index keeps of a session: its line in lists, and the text of its items."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from pinfold.catalog.words import indexed
from pinfold.rollout import codec, events
from pinfold.rollout.acts import told
from pinfold.rollout.arguments import parsed, strings
from pinfold.rollout.events import ChildStarted, Event, ItemAdded
from pinfold.rollout.items import Item
from pinfold.rollout.summaries import CUT_OFF, RolloutSummary, take
from pinfold.sanitize import encodable

KINDS = frozenset({"user", "assistant", "tool_call", "tool_result"})
"""Items that are searched."""
SPOKEN, PRINTED = 16_000, 4_000
"""Characters indexed of a message, and of a call or its output, at its beginning and its end."""
LINE = 64 * 2**20
"""Longest line in bytes; longer ones are left out."""
_LAST = 1_600
"""Characters kept of the last prompt and the last reply."""
_TYPES = frozenset(
    events.NAMES[kind]
    for kind in (
        events.SessionStarted,
        events.ModelChanged,
        events.TurnStarted,
        events.RequestFinished,
        ItemAdded,
        ChildStarted,
    )
)
_MOST = 2**53
"""Largest number of an item or an agent; SQLite would refuse one above 2**63."""
_LONG_AGO = datetime.fromtimestamp(0, UTC)


class IndexedText(Struct, frozen=True):
    """The text of an item."""

    n: int
    kind: str
    at: datetime
    text: str


class SourceReading(Struct):
    """What has been read of a session so far."""

    said: RolloutSummary
    read_to: int = 0
    """Bytes of the rollout."""
    prompt: str = ""
    reply: str = ""


class IndexChunk(Struct):
    """What the last lines read have added."""

    texts: list[IndexedText]
    agents: dict[str, int]
    """Numbers of agents that began, by their session's id."""
    size: int = 0
    """Characters of the texts, plus an overhead for each."""


def rollout(path: Path, reading: SourceReading, most: int) -> Iterator[IndexChunk]:
    """Read complete lines from `reading.read_to` on, in chunks of about `most` characters, and
    update `reading`. Raises `OSError`."""
    chunk = IndexChunk([], {})
    if reading.said.note == CUT_OFF:
        reading.said.note = ""
    with path.open("rb") as file:
        file.seek(reading.read_to)
        for line in iter(partial(file.readline, LINE), b""):
            if not line.endswith(b"\n"):
                if len(line) < LINE:
                    reading.said.note = CUT_OFF  # or it is being written now
                    break
                skipped = _skip(file)
                if skipped is None:
                    break
                reading.read_to += len(line) + skipped
                continue
            reading.read_to += len(line)
            head = codec.header(line)
            if head is not None and head.type not in _TYPES:
                continue
            step(reading, chunk, codec.decode_leniently(line[:-1], 0, _LONG_AGO))
            if chunk.size > most:
                yield chunk
                chunk = IndexChunk([], {})
    yield chunk


def of_events(found: Iterable[Event]) -> tuple[SourceReading, IndexChunk]:
    """The same for events that were read elsewhere."""
    reading, chunk = SourceReading(RolloutSummary()), IndexChunk([], {})
    for event in found:
        step(reading, chunk, event)
    return reading, chunk


def step(reading: SourceReading, chunk: IndexChunk, event: Event) -> None:
    take(reading.said, event.data)
    match event.data:
        case ItemAdded(item=item) if item.kind in KINDS and 0 <= item.n < _MOST:
            text = _text(item)
            if item.kind == "user":
                reading.prompt = text[:_LAST] or reading.prompt
            elif item.kind == "assistant":
                reading.reply = text[:_LAST] or reading.reply
            if text.strip():
                chunk.texts.append(IndexedText(item.n, item.kind, event.ts, indexed(text)))
                chunk.size += len(text) + 100
        case ChildStarted(child=number, session=session) if (
            0 <= number < _MOST and session.replace("-", "").isalnum()  # it names a folder
        ):
            chunk.agents[session] = number


def said_of(stored: bytes | None) -> RolloutSummary:
    """The session's line in lists, as it was stored."""
    try:
        return msgspec.json.decode(stored, type=RolloutSummary) if stored else RolloutSummary()
    except ValueError:
        return RolloutSummary()


def _text(item: Item) -> str:
    match item.kind:
        case "user":
            text = told(item)
        case "tool_call":
            arguments = parsed(item.content)
            said = item.content if arguments is None else "\n".join(strings(arguments))
            text = f"{item.name or ''} {said}"
        case _:
            text = item.content
    most = SPOKEN if item.kind in ("user", "assistant") else PRINTED
    if len(text) > most:
        text = f"{text[: most * 3 // 4]}\n…\n{text[-most // 4 :]}"
    return encodable(text)


def _skip(file: Iterable[bytes]) -> int | None:
    """Go to the end of a line that is too long. Returns its bytes; None if it has no end."""
    skipped = 0
    for piece in iter(partial(file.readline, 2**20), b""):  # type: ignore[attr-defined]
        skipped += len(piece)
        if piece.endswith(b"\n"):
            return skipped
    return None
