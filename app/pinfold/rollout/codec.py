"""Events as lines: `{"seq": 1, "ts": "...Z", "type": "item_added", "data": {...}}`."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from pinfold.rollout.events import NAMES, TYPES, Data, Event, Unknown

UNREADABLE = "unreadable"
"""The type of `Unknown` events for lines that are not events."""


class Header(Struct, frozen=True):
    """A line's outer fields, its data still raw."""

    seq: int
    ts: datetime
    type: str
    data: Raw = field(default_factory=lambda: Raw(b"{}"))


class _Schema(Struct, frozen=True):
    schema: int = 0


class _Out(Struct, frozen=True):
    seq: int
    ts: datetime
    type: str
    data: Data


_line = msgspec.json.Decoder(Header)
_schema = msgspec.json.Decoder(_Schema)
_data = {name: msgspec.json.Decoder(cls) for name, cls in TYPES.items()}
_encoder = msgspec.json.Encoder()


def encode(event: Event) -> bytes:
    """The line of an event, without its line end."""
    if isinstance(event.data, Unknown):
        return event.data.raw
    return _encoder.encode(_Out(event.seq, event.ts, NAMES[type(event.data)], event.data))


def written(event: Event) -> tuple[Event, bytes]:
    """An event as it can be written (see `repaired`), and its line."""
    try:
        return event, encode(event)
    except UnicodeEncodeError:
        event = Event(event.seq, event.ts, repaired(event.data))
        return event, encode(event)


def header(line: bytes) -> Header | None:
    """The header of a line; None where it is no event."""
    try:
        return _line.decode(line)
    except (ValueError, RecursionError):
        return None


def schema(head: Header) -> int:
    """The schema number in the first event of a rollout; 0 where it names none."""
    try:
        return _schema.decode(head.data).schema
    except (ValueError, RecursionError):
        return 0


def repaired(data: Data) -> Data:
    """`data` with its lone surrogates joined or replaced, so that it can be written."""
    return msgspec.convert(_repair(msgspec.to_builtins(data)), type(data))


def _repair(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_repair(key): _repair(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_repair(inner) for inner in value]
        case _:
            return value


def decode_leniently(line: bytes, seq: int, ts: datetime) -> Event:
    """The event of a line, `Unknown` where it can't be understood.

    `seq` and `ts` are used if the line does not have them.
    """
    try:
        return decode(line)
    except (ValueError, RecursionError):
        head = header(line)
    if head is None:
        return Event(seq, ts, Unknown(type=UNREADABLE, raw=bytes(line)))
    return Event(head.seq, head.ts, Unknown(type=head.type, raw=bytes(line)))


def decode(line: bytes) -> Event:
    """The event of a line. Raises `ValueError` (msgspec's are) on anything else."""
    head = _line.decode(line)
    decoder = _data.get(head.type)
    if decoder is None:
        return Event(head.seq, head.ts, Unknown(type=head.type, raw=bytes(line)))
    return Event(head.seq, head.ts, decoder.decode(head.data))
