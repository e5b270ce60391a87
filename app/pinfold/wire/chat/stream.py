"""A Chat Completions stream as deltas, without I/O."""

from typing import Any, Literal
from uuid import uuid4

import msgspec
from msgspec import Struct, field

from pinfold.ports.errors import ContentRefused, MalformedStream
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


class _Function(Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct):
    content: str | list[dict[str, Any]] | None = None
    reasoning_content: str | None = None
    """DeepSeek, llama.cpp, Qwen, older vLLM."""
    reasoning: str | None = None
    """OpenRouter, vLLM, Ollama, Groq."""
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: UsageDetails | None = None
    completion_tokens_details: UsageDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    """DeepSeek."""


class _PromptProgress(Struct):
    """llama.cpp, where `return_progress` was asked for."""

    total: int = 0
    processed: int = 0


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None
    prompt_progress: _PromptProgress | None = None


class _Open(Struct):
    """A tool call under way."""

    index: int
    """Its place among the calls of the response."""
    wire_index: int | None
    id: str | None
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ChatStream(Stream[_Chunk]):
    name = "chat stream"
    decoder = msgspec.json.Decoder(_Chunk)

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self._kind: Literal["assistant", "reasoning"] | None = None
        self._text: list[str] = []
        self._field: str | None = None
        self._calls: list[_Open] = []
        self._finish: str | None = None
        self._usage: Usage | None = None

    def take(self, chunk: _Chunk) -> list[Delta]:
        if chunk.error:
            raise from_answer(chunk.error, self.server)
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        deltas: list[Delta] = []
        if chunk.prompt_progress is not None and chunk.prompt_progress.total:
            progress = chunk.prompt_progress
            deltas.append(Progress("reading the prompt", progress.processed / progress.total))
        for choice in chunk.choices or ():
            if choice.delta is not None:
                self._take_delta(choice.delta, deltas)
            if choice.finish_reason and self._finish is None:
                self._finish = choice.finish_reason
                self._close_parts(deltas)
        return deltas

    def end(self) -> list[Delta]:
        return super().end() if self._finish is None else self.close()

    def close(self) -> list[Delta]:
        if self._finish is None:
            raise MalformedStream(
                f"{self.server.host} ended the answer without marking it complete"
            )
        if self._finish == "content_filter":
            raise ContentRefused(f"The content filter of {self.server.host} cut the answer")
        self.done = True
        if self._finish in {"length", "max_tokens"}:
            return [ResponseDone(self._usage, "length")]
        return [ResponseDone(self._usage, "tool_calls" if self._calls else "stop")]

    def _take_delta(self, delta: _Delta, deltas: list[Delta]) -> None:
        if delta.reasoning_content:
            self._add("reasoning", delta.reasoning_content, deltas, "reasoning_content")
        elif delta.reasoning:
            self._add("reasoning", delta.reasoning, deltas, "reasoning")
        if isinstance(delta.content, str):
            self._add("assistant", delta.content, deltas)
        elif delta.content:
            for part in delta.content:
                self._take_part(part, deltas)
        if delta.refusal:
            self._add("assistant", delta.refusal, deltas)
        for piece in delta.tool_calls or ():
            self._take_call(piece, deltas)

    def _take_part(self, part: dict[str, Any], deltas: list[Delta]) -> None:
        """Mistral's content: a list of text and thinking."""
        if part.get("type") == "thinking":
            pieces = part.get("thinking")
            for piece in pieces if isinstance(pieces, list) else ():
                if isinstance(piece, dict):
                    self._add("reasoning", str(piece.get("text") or ""), deltas)
        else:
            self._add("assistant", str(part.get("text") or ""), deltas)

    def _add(
        self,
        kind: Literal["assistant", "reasoning"],
        text: str,
        deltas: list[Delta],
        name: str | None = None,
    ) -> None:
        if not text:
            return
        if kind != self._kind:
            self._close_text(deltas)
            self._kind = kind
            self._field = name
        self._text.append(text)
        deltas.append(TextDelta(text) if kind == "assistant" else ReasoningDelta(text))

    def _take_call(self, piece: _Call, deltas: list[Delta]) -> None:
        self._close_text(deltas)
        function = piece.function or _Function()
        call = self._call_of(piece, function)
        call.name = call.name or function.name or ""
        arguments = function.arguments or ""
        if isinstance(arguments, dict):
            arguments = msgspec.json.encode(arguments).decode()
        call.arguments.append(arguments)
        deltas.append(CallDelta(call.index, call.name, arguments))

    def _call_of(self, piece: _Call, function: _Function) -> _Open:
        """The call that a piece belongs to: by index; servers that omit it send whole calls."""
        same = [call for call in self._calls if piece.index in {None, call.wire_index}]
        last = same[-1] if same else None
        another = last is not None and (
            # Some servers number every call 0, and tell them apart by id alone.
            (piece.id and last.id and piece.id != last.id)
            or (piece.index is None and not piece.id and function.name and last.name)
        )
        if last is None or another:
            last = _Open(len(self._calls), piece.index, piece.id)
            self._calls.append(last)
        last.id = last.id or piece.id
        return last

    def _close_text(self, deltas: list[Delta]) -> None:
        if self._kind is not None:
            # `render` gives reasoning back under the field in which it came.
            opaque = {"field": self._field} if self._field else None
            deltas.append(PartDone(self._kind, "".join(self._text), opaque=opaque))
        self._kind, self._field, self._text = None, None, []

    def _close_parts(self, deltas: list[Delta]) -> None:
        self._close_text(deltas)
        used: set[str] = set()
        for call in self._calls:
            if not call.id or call.id in used:
                call.id = f"call_{uuid4().hex[:24]}"
            used.add(call.id)
            deltas.append(PartDone("tool_call", "".join(call.arguments), call.id, call.name))


def _usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details or UsageDetails()
    output = usage.completion_tokens_details or UsageDetails()
    return Usage(
        input=usage.prompt_tokens or 0,
        cached=details.cached_tokens or usage.prompt_cache_hit_tokens or 0,
        written=details.cache_write_tokens or 0,
        output=usage.completion_tokens or 0,
        reasoning=output.reasoning_tokens or 0,
    )
