"""The model's responses in a Claude Code session, and the results of its calls."""

from typing import Any, NamedTuple

from pinfold.adopt.claude_acts import ClaudeActs, touched
from pinfold.adopt.claude_chain import ChainNode
from pinfold.adopt.claude_records import Block, Record, blocks, cleared, flag, output, usage
from pinfold.adopt.claude_thread import Thread
from pinfold.adopt.lines import compact, object_of, text_of
from pinfold.rollout.items import Item


class _Response(NamedTuple):
    number: int
    node: ChainNode | None
    """None in a side chain."""


class _Call(NamedTuple):
    """What a result needs of its call."""

    node: ChainNode | None
    tool: str
    arguments: dict[str, Any]


class Replies:
    """Adds responses and results to a thread."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._acts = ClaudeActs()
        self._model = ""
        self._last_lines: dict[str, Record] = {}
        """The last line of each response, by the response's id."""
        self._responses: dict[str, _Response] = {}
        self._calls: dict[str, _Call] = {}
        self._results: dict[str, int] = {}

    def foresee(self, record: Record) -> None:
        """Note where each response ends, before any line is added."""
        message_id = text_of(object_of(record, "message"), "id")
        if message_id:
            self._last_lines[message_id] = record

    def add(self, record: Record) -> None:
        """Add a line of a response. Its usage, which all lines repeat, counts with the last."""
        message = object_of(record, "message")
        message_id = text_of(message, "id")
        model = text_of(message, "model")
        if model and model != self._model:
            self._model = model
            self._thread.builder.model(self._thread.at, "anthropic", model)
        response = self._response(record, message_id)
        for block in blocks(message.get("content")):
            self._part(record, response, block)
        counted = usage(message)
        whole = self._last_lines.get(message_id, record) is record
        if counted and whole and not flag(record, "isSidechain"):
            self._thread.builder.usage(self._thread.at, counted, response=response.number)

    def _response(self, record: Record, message_id: str) -> _Response:
        known = self._responses.get(message_id)
        if known:
            if known.node:
                self._thread.chain.link(text_of(record, "uuid"), known.node)
            return known
        node = self._thread.node(record)
        response = _Response(self._thread.builder.response(), node)
        if message_id:
            self._responses[message_id] = response
        return response

    def _part(self, record: Record, response: _Response, block: Block) -> None:
        number, node = response
        kind = block["type"]
        if kind == "text":
            if text := text_of(block, "text"):
                item = Item(n=0, kind="assistant", content=text, response=number)
                self._thread.add(record, node, item)
        elif kind in {"thinking", "redacted_thinking"}:
            sealed = "signature" if kind == "thinking" else "data"
            item = Item(
                n=0,
                kind="reasoning",
                content=text_of(block, "thinking"),
                response=number,
                opaque={"type": kind, sealed: text_of(block, sealed)},
            )
            self._thread.add(record, node, item)
        elif kind.endswith("tool_use"):
            self._call(record, response, block)
        elif kind.endswith("tool_result"):  # of a tool that the provider ran
            self.result(record, block)
        else:
            self._thread.builder.skip(f"{kind} block")

    def _call(self, record: Record, response: _Response, block: Block) -> None:
        number, node = response
        call_id, tool = text_of(block, "id"), text_of(block, "name")
        if call_id:
            self._calls[call_id] = _Call(node, tool, object_of(block, "input"))
            if node:
                self._thread.waiting.add(call_id)
        arguments = compact(block.get("input", {}))
        item = Item(
            n=0, kind="tool_call", content=arguments, response=number, call_id=call_id, name=tool
        )
        self._thread.add(record, node, item)

    def result(self, record: Record, block: Block) -> ChainNode | None:
        """Add a result to the node of its call, and return that node."""
        call_id = text_of(block, "tool_use_id")
        call = self._calls.get(call_id)
        node = call.node if call else self._thread.node(record)
        text, images = output(block)
        ok = not flag(block, "is_error")
        extra = object_of(record, "toolUseResult")
        tool, given = (call.tool, call.arguments) if call else ("", {})
        acts = self._acts if node else ClaudeActs()  # the tasks of a side chain are its own
        detail = acts.detail(tool, given, text, extra, self._thread.cwd, ok=ok)
        item = Item(
            n=0, kind="tool_result", content=text, call_id=call_id, images=images, detail=detail
        )
        n = self._thread.add(record, node, item)
        if call:
            self._results[call_id] = n
            self._thread.waiting.discard(call_id)
            seen = touched(call.tool, call.arguments, self._thread.cwd, ok=ok)
            if seen and not detail.get("refused"):
                self._thread.builder.observe(self._thread.at, *seen, n)
        return node

    def mask(self, record: Record) -> None:
        """A micro-compaction cleared results."""
        ids = cleared(object_of(record, "microcompactMetadata"))
        numbers = [self._results[call_id] for call_id in ids if call_id in self._results]
        if numbers:
            self._thread.builder.mask(self._thread.at, numbers)
        else:
            self._thread.builder.note("A micro-compaction does not say which results it cleared.")
