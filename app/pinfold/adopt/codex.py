"""Codex rollouts of all generations, as an adoption."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pinfold.adopt import codex_items
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.artifacts import Touched
from pinfold.adopt.builder import Builder
from pinfold.adopt.codex_acts import CodexActs
from pinfold.adopt.codex_tools import outcome, touched
from pinfold.adopt.lines import number_of, object_of, records, text_of, time_of
from pinfold.rollout.context import Context
from pinfold.rollout.items import WRITTEN, Item
from pinfold.rollout.values import Usage

_REDUNDANT = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "context_compacted",
        "entered_review_mode",
        "exec_command_begin",
        "exec_command_end",
        "exited_review_mode",
        "item_completed",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "patch_apply_begin",
        "patch_apply_end",
        "plan_update",
        "turn_diff",
        "user_message",
        "view_image_tool_call",
        "web_search_begin",
        "web_search_end",
    }
)
"""Events that repeat items or other lines."""

_STATE_ONLY = frozenset({"ghost_snapshot", "other"})
"""Response items that no model sees."""


def read_lines(lines: Iterable[bytes], file: Path) -> Adoption:
    """The session in a rollout's lines. Raises `NotASession` if it has no items."""
    reader = _Reader(Builder("codex", str(file)))
    for record in records(lines, reader.builder):
        reader.take(record)
    if not reader.builder.items:
        raise NotASession(f"{file} is a Codex rollout without any messages.")
    return reader.builder.finish()


class _Reader:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._at = datetime.fromtimestamp(0, UTC)
        self._has_meta = False
        """Whether a `session_meta` has been read."""
        self._cwd = ""
        self._provider = "openai"
        self._model = ""
        self._context_window = 0
        self._next_window = 0
        """The window of the model that the next `turn_context` names."""
        self._response = 0
        """The current response; 0 once something else came."""
        self._last_response = 0
        self._counted = 0
        self._marked_turns = False
        """Whether the rollout says where turns begin."""
        self._acts = CodexActs()
        self._calls: dict[str, Item] = {}
        """The open calls, by call id."""
        self._touched: dict[str, list[Touched]] = {}
        """What the open calls touch, by call id."""

    def take(self, record: dict[str, Any]) -> None:
        """Take one line, of any generation."""
        self._at = time_of(record) or self._at
        payload = record.get("payload")
        if not isinstance(payload, dict):
            self._bare(record)
            return
        match record.get("type"):
            case "session_meta":
                self._session(payload)
            case "turn_context":
                self._cwd = text_of(payload, "cwd") or self._cwd
                self._use(text_of(payload, "model"), self._next_window)
                self._next_window = 0
            case "response_item":
                self._item(payload)
            case "event_msg":
                self._event(payload)
            case "compacted":
                self._compacted(payload)
            case str() as name:
                self.builder.skip(name)
            case _:
                self.builder.skip("line without a type")

    def _bare(self, record: dict[str, Any]) -> None:
        """A line of the oldest rollouts, which have no envelope."""
        if "payload" in record:
            self.builder.skip(f"{text_of(record, 'type')} without a payload".strip())
        elif "type" in record or "role" in record:
            self._item(record)
        elif "id" in record and "timestamp" in record:
            self._session(record)
        elif "record_type" not in record:
            self.builder.skip("line without a type")

    def _session(self, meta: dict[str, Any]) -> None:
        if self._has_meta:
            return
        self._has_meta = True
        self._cwd = text_of(meta, "cwd")
        self._provider = text_of(meta, "model_provider") or self._provider
        self.builder.start(
            time_of(meta) or self._at,
            session=text_of(meta, "id"),
            cwd=self._cwd,
            version=text_of(meta, "cli_version"),
        )
        base = object_of(meta, "base_instructions")
        instructions = text_of(base, "text") or text_of(meta, "instructions")
        if instructions:
            self.builder.context(self._at, Context(instructions=instructions))
        if isinstance(source := meta.get("source"), dict):
            self.builder.note(_sub_agent(source))

    def _use(self, model: str, context_window: int) -> None:
        if model and model != self._model:
            self._model, self._context_window = model, 0
        self._context_window = context_window or self._context_window
        if self._model:
            self.builder.model(self._at, self._provider, self._model, self._context_window)

    # Items

    def _item(self, payload: dict[str, Any]) -> None:
        kind = text_of(payload, "type")
        if kind in _STATE_ONLY:
            return
        entry = codex_items.entry(payload)
        if entry is None:
            self.builder.skip(f"response_item {kind}".strip())
            return
        if entry.kind == "user":
            self._prompt()
        if entry.kind not in WRITTEN:
            self._response = 0
        n = self._add(entry)
        if entry.kind == "tool_call":
            self._calls[entry.call_id or ""] = entry
            self._touched[entry.call_id or ""] = touched(entry.name or "", entry.content, self._cwd)
        elif entry.kind == "tool_result":
            self._response = 0
            self._observe(n, entry)

    def _add(self, entry: Item) -> int:
        response = 0
        if entry.kind in WRITTEN and entry.kind != "tool_result":
            self._response = self._response or self.builder.response()
            self._last_response = response = self._response
        detail = self._outcome(entry) if entry.kind == "tool_result" else entry.detail
        return self.builder.item(self._at, replace(entry, response=response, detail=detail))

    def _outcome(self, result: Item) -> dict[str, Any]:
        call = self._calls.pop(result.call_id or "", None)
        if call is None:
            return outcome(result.content)
        return self._acts.detail(call.name or "", call.content, result.content, self._cwd)

    def _prompt(self) -> None:
        if not (self._marked_turns and self.builder.turn_open):
            self.builder.turn(self._at)

    def _observe(self, n: int, entry: Item) -> None:
        detail = self.builder.items[n].detail
        for file in self._touched.pop(entry.call_id or "", ()):
            if detail.get("ok", True) or (file.kind == "command" and not detail.get("refused")):
                self.builder.observe(self._at, file.uri, file.kind, file.op, n)

    # Events

    def _event(self, payload: dict[str, Any]) -> None:
        match kind := text_of(payload, "type"):
            case "task_started" | "turn_started":
                self._marked_turns = True
                self._response = 0
                self.builder.turn(self._at)
                self._next_window = number_of(payload, "model_context_window")
            case "task_complete" | "turn_complete":
                self.builder.end_turn(self._at)
            case "turn_aborted":
                reason = text_of(payload, "reason")
                self.builder.end_turn(self._at, "interrupted", reason)
            case "token_count":
                self._usage(object_of(payload, "info"))
            case "thread_rolled_back":
                self._rolled_back(number_of(payload, "num_turns"))
            case _ if kind not in _REDUNDANT:
                self.builder.skip(f"event_msg {kind}".strip())

    def _usage(self, info: dict[str, Any]) -> None:
        self._use("", number_of(info, "model_context_window"))
        last = object_of(info, "last_token_usage")
        # It comes again when only the rate limits changed.
        if not last or self._last_response == self._counted:
            return
        self._counted = self._last_response
        usage = Usage(
            input=number_of(last, "input_tokens"),
            cached=number_of(last, "cached_input_tokens"),
            output=number_of(last, "output_tokens"),
            reasoning=number_of(last, "reasoning_output_tokens"),
        )
        self.builder.usage(self._at, usage, response=self._counted)

    # Windows

    def _compacted(self, payload: dict[str, Any]) -> None:
        message = text_of(payload, "message")
        meta: dict[str, Any] = {
            key: payload[key] for key in ("window_id", "window_number") if key in payload
        }
        history = payload.get("replacement_history")
        if isinstance(history, list):
            window = self._matched(history, message)
        else:
            window = self._rebuilt(message)
        self._response = 0
        # A count that comes now is of the compaction's own request.
        self._counted = self._last_response
        self.builder.replace(self._at, window, strategy="codex", meta=meta)

    def _matched(self, history: list[Any], message: str) -> list[int | Item]:
        window: list[int | Item] = []
        for record in reversed(history):
            entry = codex_items.entry(record, message) if isinstance(record, dict) else None
            if entry is None:
                self.builder.skip("entry of a replacement history")
                continue
            n = self.builder.match(entry.kind, entry.content, entry.call_id, entry.name)
            if n is None and entry.kind == "tool_result":
                entry = replace(entry, detail=outcome(entry.content))
            window.append(entry if n is None else n)
        window.reverse()
        return window

    def _rebuilt(self, message: str) -> list[int | Item]:
        """Older rollouts record only the summary: the user's messages come before it."""
        self.builder.note(
            "A compaction in it records only its summary; the window after it is that summary and "
            "the user's earlier messages."
        )
        items = self.builder.items
        kept = [n for n in self.builder.window if items[n].kind in {"user", "context"}]
        return [*kept, Item(n=0, kind="summary", content=message)]

    def _rolled_back(self, turns: int) -> None:
        window = self.builder.window
        prompts = [at for at, n in enumerate(window) if self.builder.items[n].kind == "user"]
        if not turns or not prompts:
            self.builder.skip("event_msg thread_rolled_back")
            return
        cut = prompts[-turns] if turns <= len(prompts) else prompts[0]
        self._response = 0
        self.builder.end_turn(self._at)
        self.builder.replace(self._at, window[:cut], reason="rewind", meta={"num_turns": turns})


def _sub_agent(source: dict[str, Any]) -> str:
    spawned = object_of(object_of(source, "subagent"), "thread_spawn")
    parent = text_of(spawned, "parent_thread_id")
    return f"This is a sub-agent's session{f', started by session {parent}' if parent else ''}."
