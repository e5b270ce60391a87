"""A session as a rollout that Codex reads and can continue with."""

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from pinfold import __version__
from pinfold.export.pairs import whole
from pinfold.export.transcript import ExportedSession
from pinfold.rollout.items import WRITTEN, Item
from pinfold.wire.images import data_url, described

_EPOCH = datetime.fromtimestamp(0, UTC)
_SAID = {"user": "user_message", "assistant": "agent_message"}
"""Events that Codex's screen needs besides the items."""
_OF_A_TURN = WRITTEN | {"user"}

Payload = dict[str, Any]


def render(transcript: ExportedSession) -> str:
    """A line for each item. If the window differs from them, it comes last, as a compaction.

    Reasoning is left out: only the account that it was made for can decrypt it.
    """
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _lines(transcript))


def file_name(transcript: ExportedSession) -> str:
    """The name under which Codex finds a rollout in its folder of sessions."""
    return f"rollout-{_started_at(transcript):%Y-%m-%dT%H-%M-%S}-{thread_id(transcript)}.jsonl"


def thread_id(transcript: ExportedSession) -> str:
    """The session's id if Codex accepts it, else one derived from it."""
    try:
        return str(uuid.UUID(transcript.session))
    except ValueError:
        name = f"pinfold:{transcript.session}:{_started_at(transcript).isoformat()}"
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def _started_at(transcript: ExportedSession) -> datetime:
    return transcript.started_at or _EPOCH


def _lines(transcript: ExportedSession) -> Iterator[Payload]:
    at = _started_at(transcript)
    # No model provider: Codex would refuse to continue with any but that one.
    meta = {
        "id": thread_id(transcript),
        "timestamp": _stamp(at),
        "cwd": transcript.cwd,
        "originator": "pinfold",
        "cli_version": __version__,
        "source": "cli",
    }
    yield _line(at, "session_meta", meta)
    times = {entry.item.n: entry.at for entry in transcript.entries}
    for number, items in enumerate(_turns(whole(entry.item for entry in transcript.entries))):
        turn_id = str(uuid.uuid5(uuid.UUID(thread_id(transcript)), str(number)))
        if number:
            at = times.get(items[0].n, at)
            yield _line(at, "event_msg", {"type": "task_started", "turn_id": turn_id})
            if transcript.model.name:
                yield _line(at, "turn_context", _context(transcript, turn_id))
        for item in items:
            at = times.get(item.n, at)
            if (payload := _payload(item)) is None:
                continue
            yield _line(at, "response_item", payload)
            if said := _SAID.get(item.kind):
                yield _line(at, "event_msg", {"type": said, "message": item.content})
        if number:
            yield _line(at, "event_msg", _ending(items, turn_id))
    if [entry.item for entry in transcript.entries] != list(transcript.window):
        history = [
            payload for payload in map(_payload, whole(transcript.window)) if payload is not None
        ]
        yield _line(at, "compacted", {"message": "", "replacement_history": history})


def _turns(items: Iterable[Item]) -> Iterator[list[Item]]:
    """The items of each turn, first those before any. Without turn numbers, prompts begin turns."""
    turn, group = 0, list[Item]()
    for item in items:
        begins = item.turn != turn if item.turn else item.kind == "user"
        if begins:
            yield group
            group = []
        turn = item.turn or turn
        group.append(item)
    yield group


def _ending(items: Sequence[Item], turn_id: str) -> Payload:
    last = next((item for item in reversed(items) if item.kind in _OF_A_TURN), None)
    if last is None or last.kind != "assistant" or last.state != "complete":
        return {"type": "turn_aborted", "turn_id": turn_id, "reason": "interrupted"}
    return {"type": "task_complete", "turn_id": turn_id, "last_agent_message": last.content}


def _line(at: datetime, kind: str, payload: Payload) -> Payload:
    return {"timestamp": _stamp(at), "type": kind, "payload": payload}


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _context(transcript: ExportedSession, turn_id: str) -> Payload:
    return {
        "turn_id": turn_id,
        "cwd": transcript.cwd,
        "model": transcript.model.name,
        "approval_policy": "on-request",
        "sandbox_policy": {"type": "read-only"},
        "summary": "auto",
    }


def _payload(item: Item) -> Payload | None:
    """The response item; None for items that Codex does not get."""
    match item.kind:
        case "user":
            return _message("user", "input_text", item)
        case "assistant":
            return _message("assistant", "output_text", item)
        case "context" | "checkpoint" | "summary":
            return _message("developer", "input_text", item)
        case "tool_call":
            call: Payload = {
                "type": "function_call",
                "name": item.name or "",
                "arguments": item.content,
                "call_id": item.call_id,
            }
            namespace = item.detail.get("namespace")
            return call | ({"namespace": namespace} if isinstance(namespace, str) else {})
        case "tool_result":
            output = list(_parts("input_text", item)) if item.images else item.content
            return {"type": "function_call_output", "call_id": item.call_id, "output": output}
        case "compaction":
            return item.opaque
        case "reasoning":
            return None


def _message(role: str, text: str, item: Item) -> Payload:
    return {"type": "message", "role": role, "content": list(_parts(text, item))}


def _parts(text: str, item: Item) -> Iterable[Payload]:
    if item.content or not item.images:
        yield {"type": text, "text": item.content}
    for image in item.images:
        if image.data:
            yield {"type": "input_image", "image_url": data_url(image)}
        else:
            yield {"type": text, "text": f"[image: {described(image)}]"}
