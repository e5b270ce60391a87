"""pinfold's own rollouts: how they are recognized."""

from typing import Any

from pinfold.adopt.adoption import Adoption
from pinfold.adopt.formats.format import FileLines, Format


def _recognizes(record: dict[str, Any]) -> bool:
    return record.keys() >= {"seq", "ts", "type"}


def _read(found: FileLines) -> Adoption:
    from pinfold.adopt import own

    return own.read_lines(found.lines, found.file)


FORMAT = Format(
    name="pinfold",
    title="pinfold",
    file="a pinfold rollout",
    recognizes=_recognizes,
    read=_read,
)
