"""The parts of a Claude Code session's lines that pinfold reads."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pinfold.adopt.lines import compact, list_of, number_of, object_of, text_of
from pinfold.rollout.items import Image
from pinfold.rollout.values import Usage

Record = dict[str, Any]
Block = dict[str, Any]

LINKED = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Types that `parentUuid` links. In old versions messages also follow `progress` lines."""

SILENT = frozenset(
    {
        "agent-name",
        "ai-title",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "queue-operation",
        "summary",
    }
)
"""Types that no model sees."""

_SYNTHETIC = "<synthetic>"
"""The model name of messages that Claude Code wrote itself."""


def flag(record: Record, key: str) -> bool:
    return record.get(key) is True


def parents_first(records: Sequence[Record]) -> Iterator[Record]:
    """The records in order, but none before its parent: Claude Code may write the first reply
    before the prompt."""
    left = {uuid for record in records if (uuid := text_of(record, "uuid"))}
    waiting: dict[str, list[Record]] = {}
    for come in records:
        ready = [come]
        while ready:
            record = ready.pop()
            uuid, parent = text_of(record, "uuid"), text_of(record, "parentUuid")
            if parent in left and parent != uuid:
                waiting.setdefault(parent, []).append(record)
                continue
            yield record
            left.discard(uuid)
            ready += reversed(waiting.pop(uuid, []))
    for ring in waiting.values():
        yield from ring


def is_synthetic(record: Record) -> bool:
    """Whether no model wrote this assistant message."""
    message = object_of(record, "message")
    return message.get("model") == _SYNTHETIC or flag(record, "isApiErrorMessage")


def blocks(content: Any) -> Iterator[Block]:
    """The blocks of a message's content, which may be bare text."""
    for part in content if isinstance(content, list) else [content]:
        match part:
            case str():
                yield {"type": "text", "text": part}
            case dict():
                yield {**part, "type": text_of(part, "type") or "unnamed"}
            case None:
                pass
            case _:
                yield {"type": "unnamed"}


def image(block: Block) -> Image | None:
    """The picture that a block holds."""
    source = object_of(block, "source")
    data = text_of(source, "data")
    if block["type"] == "image" and source.get("type") == "base64" and data:
        return Image(text_of(source, "media_type"), data)
    return None


def output(block: Block) -> tuple[str, tuple[Image, ...]]:
    """The text and pictures of a tool result; other parts become JSON text."""
    texts: list[str] = []
    images: list[Image] = []
    for part in blocks(block.get("content")):
        picture = image(part)
        if picture:
            images.append(picture)
        else:
            texts.append(text_of(part, "text") if part["type"] == "text" else compact(part))
    return "\n".join(texts), tuple(images)


def usage(message: Record) -> Usage | None:
    """Tokens of the request: the input includes what was read from and written to the cache."""
    counts = object_of(message, "usage")
    cached = number_of(counts, "cache_read_input_tokens")
    fresh = number_of(counts, "input_tokens") + number_of(counts, "cache_creation_input_tokens")
    if not cached + fresh:
        return None
    return Usage(input=cached + fresh, cached=cached, output=number_of(counts, "output_tokens"))


def preserved(metadata: Record, parents: Mapping[str, str]) -> tuple[str, list[str]]:
    """The records that a compaction kept: the one they follow, then they in order."""
    kept, segment = (
        object_of(metadata, "preservedMessages"),
        object_of(metadata, "preservedSegment"),
    )
    anchor = text_of(kept, "anchorUuid") or text_of(segment, "anchorUuid")
    uuids = [uuid for uuid in list_of(kept, "uuids") if isinstance(uuid, str)]
    if not uuids:
        uuids = _span(text_of(segment, "headUuid"), text_of(segment, "tailUuid"), parents)
    return anchor, uuids


def _span(head: str, tail: str, parents: Mapping[str, str]) -> list[str]:
    """The records from `head` to `tail`; none if `tail` does not lead back to `head`."""
    way: dict[str, None] = {}
    uuid = tail
    while uuid and uuid not in way:
        way[uuid] = None
        if uuid == head:
            return list(reversed(way))
        uuid = parents.get(uuid, "")
    return []


def figures(metadata: Record) -> Record:
    """The texts and numbers in a compaction's metadata."""
    return {name: value for name, value in metadata.items() if isinstance(value, str | int)}


def cleared(metadata: Record) -> list[str]:
    """The ids of the calls whose results a micro-compaction cleared."""
    return [
        call_id for call_id in list_of(metadata, "compactedToolIds") if isinstance(call_id, str)
    ]
