"""OpenAI message lists and Responses API items, as an adoption."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pinfold.adopt import codex_items
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.builder import Builder
from pinfold.adopt.changes import DiffPart, edited, signed
from pinfold.adopt.codex_acts import CodexActs
from pinfold.adopt.codex_tools import arguments_of, command_of
from pinfold.adopt.content import content
from pinfold.adopt.lines import compact, list_of, object_of, records, text_of, time_of
from pinfold.rollout.acts import EDITORS
from pinfold.rollout.context import Context
from pinfold.rollout.items import WRITTEN, Item

_PATHS = ("path", "file_path", "filename")
_BEFORE = ("old_string", "old_str")
_AFTER = ("new_string", "new_str", "content", "file_text", "insert_text")


def conversations(value: Any) -> list[list[Any]]:
    """The lists of messages in a JSON document: one, several, or none."""
    if isinstance(value, dict):
        found = next((value[key] for key in ("messages", "input") if key in value), None)
        return [found] if isinstance(found, list) and any(map(is_message, found)) else []
    if not isinstance(value, list):
        return []
    if any(map(is_message, value)):
        return [value]
    several = value if all(isinstance(inner, list) for inner in value) else None
    if several is not None:
        return [messages for messages in several if any(map(is_message, messages))]
    return [found for inner in value if isinstance(inner, dict) for found in conversations(inner)]


def is_message(value: Any) -> bool:
    """Whether a JSON value is a chat message or an item of the Responses API."""
    if not isinstance(value, dict):
        return False
    kind = text_of(value, "type")
    if isinstance(value.get("role"), str) and kind in {"", "message"}:
        return True
    return kind == "reasoning" or ("call_id" in value and kind.endswith(("_call", "_call_output")))


def read_document(value: Any, file: Path, modified_at: datetime, index: int = 0) -> Adoption:
    """Conversation `index` of a JSON document; messages without a time get `modified_at`.

    Raises `NotASession`.
    """
    return _read(value, Builder("messages", str(file)), file, modified_at, index)


def read_lines(
    lines: Iterable[bytes], file: Path, modified_at: datetime, index: int = 0
) -> Adoption:
    """Like `read_document`, for a file with one message or conversation per line."""
    builder = Builder("messages", str(file))
    return _read(list(records(lines, builder)), builder, file, modified_at, index)


def _read(value: Any, builder: Builder, file: Path, at: datetime, index: int) -> Adoption:
    found = conversations(value)
    if not found:
        raise NotASession(f"{file} is JSON, but has no list of messages.")
    if not 0 <= index < len(found):
        raise NotASession(f"{file} holds {len(found)} conversations, counted from 0; not {index}.")
    if len(found) > 1:
        builder.note(f"The file holds {len(found)} conversations, counted from 0; this is {index}.")
    adoption = _Reader(builder, at).read(found[index])
    if not builder.items:
        raise NotASession(f"{file} has instructions but no messages.")
    return replace(adoption, conversations=len(found))


class _Reader:
    def __init__(self, builder: Builder, at: datetime) -> None:
        self.builder = builder
        self._at = at
        self._instructions: list[str] = []
        self._begun = False
        """Whether the conversation has begun: later instructions are items in it."""
        self._response = 0
        """The current response; 0 once something else came."""
        self._acts = CodexActs()
        self._calls: dict[str, Item] = {}
        """The open calls, by call id."""

    def read(self, messages: Sequence[Any]) -> Adoption:
        self.builder.start(self._at)
        for message in messages:
            if isinstance(message, dict):
                self._at = time_of(message) or self._at
                self._take(message)
            else:
                self.builder.skip("entry that is not a message")
        self._begin()
        self.builder.end_turn(self._at)
        return self.builder.finish()

    def _take(self, message: dict[str, Any]) -> None:
        role = text_of(message, "role")
        if not role or text_of(message, "type") == "message":
            self._item(codex_items.entry(message), message)
        elif role in {"system", "developer"}:
            text, _ = content(message.get("content"))
            self._add(Item(n=0, kind="context", content=text, detail={"act": "host"}))
        elif role == "user":
            text, images = content(message.get("content"))
            said = {"act": "said"}
            self._add(Item(n=0, kind="user", content=text, images=images, detail=said))
        elif role == "assistant":
            self._assistant(message)
        elif role in {"tool", "function"}:
            self._result(message)
        else:
            self.builder.skip(f"message of role {role}")

    def _item(self, entry: Item | None, message: dict[str, Any]) -> None:
        if entry is None:
            self.builder.skip(f"item of type {text_of(message, 'type')}".strip())
        else:
            self._add(entry)

    def _assistant(self, message: dict[str, Any]) -> None:
        self._response = 0
        for name in ("reasoning_content", "reasoning"):
            if text := text_of(message, name):
                self._add(Item(n=0, kind="reasoning", content=text, opaque={"field": name}))
                break
        text, images = content(message.get("content"))
        text = text or text_of(message, "refusal")
        calls = [call for call in list_of(message, "tool_calls") if isinstance(call, dict)]
        function = object_of(message, "function_call")
        if function:
            calls.append({"function": function})
        if text or images or not calls:
            self._add(Item(n=0, kind="assistant", content=text, images=images))
        for call in calls:
            self._add(_call(call))
        if not isinstance(message.get("tool_calls"), list | None):
            self.builder.skip("tool_calls that are not a list")

    def _result(self, message: dict[str, Any]) -> None:
        text, images = content(message.get("content"))
        ids = [text_of(message, "tool_call_id"), *list_of(message, "tool_call_ids")]
        call_id = next(
            (known_id for known_id in ids if isinstance(known_id, str) and known_id), None
        )
        # Before there were ids, a function's result followed its only call.
        call_id = call_id or self.builder.waiting_call()
        name = text_of(message, "name") or None
        self._add(
            Item(n=0, kind="tool_result", content=text, images=images, call_id=call_id, name=name)
        )

    def _add(self, entry: Item) -> None:
        if entry.kind == "context" and not self._begun:
            self._instructions.append(entry.content)
            return
        self._begin()
        if entry.kind == "user":
            self.builder.turn(self._at)
        response = 0
        if entry.kind in WRITTEN and entry.kind != "tool_result":
            self._response = response = self._response or self.builder.response()
        else:
            self._response = 0
        detail = self._outcome(entry) if entry.kind == "tool_result" else entry.detail
        self.builder.item(self._at, replace(entry, response=response, detail=detail))
        if entry.kind == "tool_call":
            self._calls[entry.call_id or ""] = entry

    def _outcome(self, result: Item) -> dict[str, Any]:
        call = self._calls.pop(result.call_id or "", None)
        if call is None:
            return {"act": "read"}
        return _detail(self._acts, call.name or "", call.content, result.content)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            if self._instructions:
                self.builder.context(
                    self._at, Context(instructions="\n\n".join(self._instructions))
                )


def _call(call: dict[str, Any]) -> Item:
    function = object_of(call, "function") or object_of(call, "custom")
    given = function.get("arguments", function.get("input", ""))
    return Item(
        n=0,
        kind="tool_call",
        content=given if isinstance(given, str) else compact(given),
        call_id=text_of(call, "id") or None,
        name=text_of(function, "name") or None,
    )


def _detail(acts: CodexActs, name: str, arguments: str, output: str) -> dict[str, Any]:
    """The detail of a result. Anyone may have named the tools: Codex's names tell, else the
    arguments, else the names that editing tools have."""
    detail = acts.detail(name, arguments, output, "")
    if detail["act"] != "read":
        return detail
    given = arguments_of(arguments)
    path = _first(given, _PATHS)
    bodies = [key for key in (*_BEFORE, *_AFTER) if isinstance(given.get(key), str)]
    if path and bodies:
        part = DiffPart(path, signed(_first(given, _BEFORE), _first(given, _AFTER)))
        return {**detail, **edited([path], [part] if part.lines else [], bodies=bodies)}
    if name.lower() in EDITORS:
        return {**detail, **edited([path] if path else [], bodies=bodies)}
    if not path and (command := command_of(given)):
        return {**detail, "act": "command", "command": command}
    return detail


def _first(given: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := text_of(given, key))), "")
