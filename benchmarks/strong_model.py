"""A scripted model behind an OpenAI-compatible server, which reads sessions and consolidates.

Of what it reads it makes true statements, and every fifth is false: a number of its own, words that
stand nowhere, or an order that only a tool's output gives.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any, Self

from pinfold.digests.sentences import sentences
from pinfold.tokens.counter import Counter

FALSE = 5
"""One statement in so many is false."""
MOST = 30
"""Statements of a session."""
MARK = 777_777
"""A number that no session holds: it stands in each false statement."""
_ENTRY = re.compile(r"^#(\d+) (user|assistant|result|USER|agent)[^:\n]*: (.*)", re.MULTILINE)


class StrongModel:
    """The server; `url` ends in /v1."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self.true = self.false = 0
        """Statements that it wrote of sessions."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 26)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.partition("content-length:")[2].split()[0])
        body = json.loads(await reader.readexactly(size))
        messages = body["messages"]
        delta = self._agent(messages) if body.get("tools") else self._reader(messages)
        read = sum(self._counter.count(str(message.get("content") or "")) for message in messages)
        usage = {
            "prompt_tokens": read,
            "completion_tokens": self._counter.count(json.dumps(delta)),
        }
        why = "tool_calls" if "tool_calls" in delta else "stop"
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": why}]},
            {"choices": [], "usage": usage},
        ]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"Connection: close\r\n\r\n")
        for chunk in chunks:
            whole = {"id": "1", "object": "chat.completion.chunk", "model": "strong", **chunk}
            writer.write(f"data: {json.dumps(whole)}\n\n".encode())
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()

    def _reader(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        text = messages[-1]["content"]
        found = list(_statements(text))
        every = found[:: max(1, len(found) // MOST)][:MOST]
        wrong = every[FALSE - 1 :: FALSE]
        for at, entry in enumerate(wrong):
            entry["text"] += f" It is {MARK}."
            if at % 2:
                entry["evidence"][0]["quote"] += f" {MARK}"
        self.false += len(wrong)
        self.true += len(every) - len(wrong)
        answer = {"raw_memory": every, "rollout_summary": "Work was done.", "rollout_slug": "work"}
        return {"content": json.dumps(answer)}

    def _agent(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Read the records, then keep each statement once, with one line of its own."""
        results = [message for message in messages if message["role"] == "tool"]
        if not results:
            return _calls(("read_file", {"path": "raw_memories.md"}))
        if len(results) > 1:
            return {"content": "Consolidated."}
        kept: dict[str, None] = {}
        folder = ""
        for line in str(results[0]["content"]).splitlines():
            told = line.partition("\t")[2] or line
            if told.startswith(("## ", "cwd: ")):
                folder = told
            if told.startswith("- "):
                kept[told] = None
        lines = [*kept, f"- fact: The answer is {MARK}. [00000000#1]"]
        page = "\n".join(["# Memory", "", folder if folder.startswith("## ") else "", *lines])
        summary = "\n".join(["# Memory summary", "", *lines[:60]])
        return _calls(
            ("write_file", {"path": "MEMORY.md", "content": page + "\n"}),
            ("write_file", {"path": "memory_summary.md", "content": summary + "\n"}),
        )


def _calls(*made: tuple[str, dict[str, str]]) -> dict[str, Any]:
    return {
        "tool_calls": [
            {
                "index": at,
                "id": f"call_{name}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for at, (name, arguments) in enumerate(made)
        ]
    }


def _statements(text: str) -> Iterator[dict[str, Any]]:
    for found in _ENTRY.finditer(text):
        told = next(
            (sentence for sentence in sentences(found[3]) if 20 <= len(sentence) <= 300), None
        )
        if told is None:
            continue
        quoted = {"item": int(found[1]), "quote": told}
        kind = "rule" if found[2] in ("user", "USER") else "fact"
        yield {"kind": kind, "evidence": [quoted], "text": told, "file": ""}
