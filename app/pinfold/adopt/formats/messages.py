"""Lists of OpenAI messages: how they are recognized."""

from typing import Any

from pinfold.adopt import messages
from pinfold.adopt.adoption import Adoption
from pinfold.adopt.formats.format import FileLines, Format


def _recognizes(record: dict[str, Any]) -> bool:
    return bool(messages.conversations([record]))


def _read(found: FileLines) -> Adoption:
    return messages.read_lines(found.lines, found.file, found.modified_at, found.index)


FORMAT = Format(
    name="messages",
    title="a list of messages",
    file="a list of OpenAI messages",
    recognizes=_recognizes,
    read=_read,
)
