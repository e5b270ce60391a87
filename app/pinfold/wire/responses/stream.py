"""A Responses stream as deltas, without I/O."""

from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from pinfold.ports.errors import ContentRefused
from pinfold.ports.provider import (
    CallDelta,
    Delta,
    PartDone,
    Progress,
    ReasoningDelta,
    ResponseDone,
    TextDelta,
)
from pinfold.rollout.values import Usage
from pinfold.wire.errors import ApiServer, from_answer
from pinfold.wire.wires import Stream, UsageDetails


class ResponsesUsage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: UsageDetails | None = None
    output_tokens_details: UsageDetails | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    usage: ResponsesUsage | None = None
    error: Any = None
    incomplete_details: _Incomplete | None = None


class _Event(Struct):
    type: str = ""
    delta: Any = None
    item_id: str = ""
    summary_index: int = 0
    item: dict[str, Any] | None = None
    response: _Response | None = None
    code: str | int | None = None
    message: str | None = None
    error: Any = None


class ResponsesStream(Stream[_Event]):
    name = "responses stream"
    decoder = msgspec.json.Decoder(_Event)

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self._calls: dict[str, tuple[int, str]] = {}
        """Place and tool of each call begun, by the id of its output item."""
        self._call_ids: set[str] = set()

    def take(self, event: _Event) -> list[Delta]:
        match event.type:
            case "response.output_text.delta" | "response.refusal.delta":
                return [TextDelta(str(event.delta))]
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return [ReasoningDelta(str(event.delta))]
            case "response.reasoning_summary_part.added" if event.summary_index:
                return [ReasoningDelta("\n\n")]
            case "response.function_call_arguments.delta":
                index, name = self._calls.get(event.item_id, (0, ""))
                return [CallDelta(index, name, str(event.delta))]
            case "response.output_item.added":
                return self._begin(event.item or {})
            case "response.output_item.done":
                return self._part(event.item or {})
            case "response.completed" | "response.incomplete":
                return self._complete(event.response or _Response())
            case "response.failed":
                raise from_answer(event.response and event.response.error, self.server)
            case "error":
                said = event.error or {"code": event.code, "message": event.message}
                raise from_answer(said, self.server)
            case _:
                return []

    def _begin(self, item: dict[str, Any]) -> list[Delta]:
        if item.get("type") == "web_search_call":
            return [Progress("searching the web")]
        if item.get("type") != "function_call":
            return []
        index, name = len(self._calls), _string(item, "name")
        self._calls[_string(item, "id")] = (index, name)
        return [CallDelta(index, name, "")]

    def _part(self, item: dict[str, Any]) -> list[Delta]:
        foreign_id = _string(item, "id") or None
        match item.get("type"):
            case "message":
                text = "".join(_texts(item, "content"))
                return [PartDone("assistant", text, foreign_id=foreign_id)] if text else []
            case "reasoning":
                text = "\n\n".join(_texts(item, "summary") or _texts(item, "content"))
                return [PartDone("reasoning", text, foreign_id=foreign_id, opaque=item)]
            case "web_search_call":
                return [PartDone("reasoning", _searched(item), foreign_id=foreign_id, opaque=item)]
            case "function_call":
                call_id = _string(item, "call_id")
                if not call_id or call_id in self._call_ids:
                    call_id = f"call_{uuid4().hex[:24]}"
                self._call_ids.add(call_id)
                name, arguments = _string(item, "name"), _string(item, "arguments")
                return [PartDone("tool_call", arguments, call_id, name, foreign_id)]
            case _:
                return []

    def _complete(self, response: _Response) -> list[Delta]:
        reason = response.incomplete_details and response.incomplete_details.reason
        if reason == "content_filter":
            raise ContentRefused(f"The content filter of {self.server.host} cut the answer")
        self.done = True
        usage = usage_of(response.usage) if response.usage else None
        if reason:
            return [ResponseDone(usage, "length")]
        return [ResponseDone(usage, "tool_calls" if self._call_ids else "stop")]


def _searched(item: dict[str, Any]) -> str:
    """One line on a search by the provider."""
    action = item.get("action")
    match action if isinstance(action, dict) else {}:
        case {"query": str(query)} if query:
            return f"Searched the web: {query}"
        case {"queries": [*queries]} if queries:
            return f"Searched the web: {'; '.join(map(str, queries))}"
        case {"url": str(url)}:
            return f"Opened {url}"
    return "Searched the web"


def _string(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _texts(item: dict[str, Any], key: str) -> list[str]:
    parts = item.get(key)
    found = parts if isinstance(parts, list) else []
    return [
        str(part.get("text") or part.get("refusal") or "")
        for part in found
        if isinstance(part, dict)
    ]


def usage_of(usage: ResponsesUsage) -> Usage:
    details = usage.input_tokens_details or UsageDetails()
    return Usage(
        input=usage.input_tokens or 0,
        cached=details.cached_tokens or 0,
        written=details.cache_write_tokens or 0,
        output=usage.output_tokens or 0,
        reasoning=(usage.output_tokens_details or UsageDetails()).reasoning_tokens or 0,
    )
