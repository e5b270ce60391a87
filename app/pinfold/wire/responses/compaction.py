"""What a compaction endpoint answers, without I/O."""

from typing import Any

import msgspec
from msgspec import Struct

from pinfold.ports.errors import MalformedStream
from pinfold.ports.provider import Compacted
from pinfold.wire.errors import ApiServer, from_answer
from pinfold.wire.responses.stream import ResponsesUsage, usage_of

_KINDS = {"compaction", "compaction_summary"}


class _Answer(Struct):
    output: list[dict[str, Any]]
    usage: ResponsesUsage | None = None


def read_compaction(answer: object, server: ApiServer) -> Compacted:
    """The compaction item of an answer, as it came. Raises `ProviderError`."""
    if isinstance(answer, str) or (isinstance(answer, dict) and answer.get("error")):
        raise from_answer(answer, server, status=200)
    try:
        found = msgspec.convert(answer, _Answer)
    except msgspec.ValidationError as exc:
        raise MalformedStream(
            f"{server.host} sent something that is not a compaction: {exc}"
        ) from exc
    items = [
        item
        for item in found.output
        if item.get("type") in _KINDS and item.get("encrypted_content")
    ]
    if not items:
        raise MalformedStream(f"{server.host} answered without a compaction")
    return Compacted(items[-1], usage_of(found.usage) if found.usage else None)
