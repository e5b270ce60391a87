"""Rollouts as Codex writes them, made from nothing, and ways to damage the lines of a file."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

Line = dict[str, Any]

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
PATCH = "*** Begin Patch\n*** Update File: app/x.py\n@@\n-a\n+b\n*** End Patch"


class Codex:
    """A rollout that grows line by line, a second each."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def line(self, kind: str, payload: Any) -> None:
        at = START + timedelta(seconds=len(self.lines))
        stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append({"timestamp": stamp, "type": kind, "payload": payload})

    def meta(self, **fields: Any) -> None:
        told = {"id": "019-a", "cwd": "/p", "cli_version": "0.141.0", "model_provider": "openai"}
        instructions = {"base_instructions": {"text": "Be brief."}, "source": "cli"}
        self.line("session_meta", told | instructions | fields)

    def turn_context(self, model: str = "gpt-5.5") -> None:
        self.line("turn_context", {"cwd": "/p", "model": model})

    def event(self, kind: str, **fields: Any) -> None:
        self.line("event_msg", {"type": kind, **fields})

    def item(self, kind: str, **fields: Any) -> None:
        self.line("response_item", {"type": kind, **fields})

    def message(self, role: str, text: str) -> None:
        self.item("message", **said(role, text))

    def user(self, text: str) -> None:
        self.message("user", text)
        self.event("user_message", message=text)

    def assistant(self, text: str) -> None:
        self.event("agent_message", message=text)
        self.message("assistant", text)

    def call(self, call_id: str, command: str) -> None:
        arguments = json.dumps({"cmd": command})
        self.item("function_call", name="exec_command", arguments=arguments, call_id=call_id)

    def result(self, call_id: str, output: Any = "done") -> None:
        self.item("function_call_output", call_id=call_id, output=output)

    def tokens(self, count: int, window: int = 258_400) -> None:
        last = {"input_tokens": count, "cached_input_tokens": 5, "output_tokens": 7}
        self.event("token_count", info={"last_token_usage": last, "model_context_window": window})

    def encoded(self) -> list[bytes]:
        return [json.dumps(line).encode() + b"\n" for line in self.lines]


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"role": role, "content": [{"type": kind, "text": text}]}


def codex_session() -> Codex:
    """Two turns with all that a rollout can hold: a compaction, a rollback, a lost result."""
    made = Codex()
    made.meta()
    made.event("task_started", model_context_window=258_400)
    made.message("developer", "<permissions instructions>\nAll.")
    made.message("user", "# AGENTS.md instructions for /p\n\nBe kind.")
    made.turn_context()
    made.user("Fix the test.")
    made.item("reasoning", summary=[{"type": "summary_text", "text": "Think."}], id="rs_1")
    made.assistant("I look.")
    made.call("call_1", "cat app/x.py")
    made.call("call_2", "pytest -q")
    made.result("call_1", "Process exited with code 0\nOutput:\na")
    made.result("call_2", "Process exited with code 1\nOutput:\nfailed")
    made.tokens(1_000)
    made.item("custom_tool_call", name="apply_patch", input=PATCH, call_id="call_3")
    made.item("custom_tool_call_output", call_id="call_3", output="Exit code: 0\nSuccess.")
    made.item("web_search_call", action={"type": "search", "query": "pytest"})
    made.assistant("Done.")
    made.tokens(2_000)
    made.event("task_complete")
    history = [said("user", "Fix the test.") | {"type": "message"}]
    history.append(said("user", "Another language model started to solve this problem: x."))
    history[-1]["type"] = "message"
    made.line("compacted", {"message": "", "replacement_history": history, "window_id": 1})
    made.event("context_compacted")
    made.event("task_started", model_context_window=258_400)
    made.user("And the docs.")
    made.call("call_4", "ls")
    made.result("call_4", [{"type": "input_text", "text": "README.md"}])
    made.event("thread_rolled_back", num_turns=1)
    made.user("No, the changelog.")
    made.call("call_5", "ls")
    made.event("turn_aborted", reason="interrupted")
    return made


def damaged(lines: Sequence[bytes], seed: int) -> list[bytes]:
    """The lines with a few things wrong: cut, moved, doubled, missing, of another type."""
    random = Random(seed)
    found = list(lines)
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(found))
        match random.randrange(7):
            case 0:
                found[at] = found[at][: random.randrange(len(found[at]) or 1)] + b"\n"
            case 1:
                found.insert(random.randrange(len(found)), found.pop(at))
            case 2:
                found.insert(random.randrange(len(found)), found[at])
            case 3 if len(found) > 1:
                del found[at]
            case 4:
                random.shuffle(found)
            case 5:
                found[-1] = found[-1][: len(found[-1]) // 2]
            case _:
                found[at] = _retyped(found[at], random)
    return found


def _retyped(line: bytes, random: Random) -> bytes:
    """The line with one of its values, however deep, turned into something else."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    places: list[tuple[Any, Any]] = []

    def walk(inner: Any) -> None:
        keys = inner if isinstance(inner, dict) else range(len(inner))
        for key in keys:
            places.append((inner, key))
            if isinstance(inner[key], dict | list):
                walk(inner[key])

    if isinstance(value, dict | list):
        walk(value)
    if places:
        holder, key = random.choice(places)
        others = [None, 0, -1.5, True, "", "x", "\ud800", [], {}, [1], {"type": 1}, 10**30]
        holder[key] = random.choice(others)
    return json.dumps(value).encode() + b"\n"
