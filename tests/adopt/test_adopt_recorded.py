"""Real recordings adopt with nothing lost: counted once more here, from the raw lines."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fakes.adopted import data, items, window
from fakes.foreign import damaged
from fakes.recorded import recorded
from pinfold.adopt import codex
from pinfold.adopt.adoption import NotASession
from pinfold.adopt.detect import read
from pinfold.rollout import codec
from pinfold.rollout.events import RequestFinished, WindowReplaced


def raw(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def payloads(lines: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line["payload"] for line in lines if line["type"] == kind]


def text(message: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in message["content"] if "text" in part)


@pytest.mark.parametrize("path", recorded("codex"))
def test_codex_recordings_lose_nothing_and_keep_their_windows(path: Path) -> None:
    lines = raw(path)
    told = payloads(lines, "response_item")
    said = payloads(lines, "event_msg")
    adoption = read(path)
    found = items(adoption)
    prompts = [entry["message"] for entry in said if entry["type"] == "user_message"]
    assert [item.content for item in found if item.kind == "user"] == prompts
    answers = [entry["message"] for entry in said if entry["type"] == "agent_message"]
    assert [item.content for item in found if item.kind == "assistant"] == answers
    messages = [entry for entry in told if entry["type"] == "message"]
    context = len(messages) - len(prompts) - len(answers)
    assert sum(item.kind == "context" for item in found) == context
    calls = [entry for entry in told if entry["type"].endswith("_call")]
    outputs = [entry for entry in told if entry["type"].endswith("_output")]
    states = Counter(item.state for item in found if item.kind == "tool_result")
    assert sum(item.kind == "tool_call" for item in found) == len(calls)
    assert (states["complete"], states["unknown"]) == (len(outputs), len(calls) - len(outputs))
    outcomes = {item.call_id: item.content for item in found if item.kind == "tool_result"}
    assert all(
        outcomes[output["call_id"]] == output["output"] for output in outputs if "output" in output
    )
    reasoning = sum(entry["type"] == "reasoning" for entry in told)
    assert sum(item.kind == "reasoning" for item in found) == reasoning
    assert adoption.skipped == {}
    replaced = data(adoption, WindowReplaced)
    histories = [payload["replacement_history"] for payload in payloads(lines, "compacted")]
    assert len(replaced) == len(histories)
    archive = {item.n: item for item in found}
    for base, history in zip(replaced, histories, strict=True):
        archive |= {item.n: item for item in base.inserted}
        contents = [archive[n].content for n, _ in base.window]
        assert contents == [text(entry) for entry in history]
    counted = [
        info["last_token_usage"]["input_tokens"]
        for payload in payloads(lines, "event_msg")
        if payload["type"] == "token_count" and (info := payload["info"])
    ]
    usages = [request.usage for request in data(adoption, RequestFinished)]
    assert usages
    assert {usage.input for usage in usages if usage} <= set(counted)
    assert max(usage.input for usage in usages if usage) == max(counted)
    window(adoption)


@pytest.mark.parametrize("path", recorded("codex"))
def test_damaged_slices_of_codex_recordings_never_break_a_pair(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    compactions = [at for at, line in enumerate(lines) if b'"type":"compacted"' in line]
    for seed in range(6):
        around = compactions or [Random(seed).randrange(len(lines))]
        at = Random(seed).choice(around)
        part = damaged([*lines[:6], *lines[max(6, at - 40) : at + 40]], seed)
        try:
            adoption = codex.read_lines(part, path)
        except NotASession:
            continue
        window(adoption)
        assert all(codec.decode(codec.encode(event)) for event in adoption.events)


@pytest.mark.parametrize("path", recorded("messages"))
def test_message_recordings_lose_nothing(path: Path) -> None:
    document = json.loads(path.read_text())
    several = document if isinstance(document, list) else [document]
    for index, conversation in enumerate(several):
        messages = conversation["messages"]
        adoption = read(path, index)
        found = items(adoption)
        kinds = Counter(item.kind for item in found)
        roles = Counter(message["role"] for message in messages)
        calls = [call for message in messages for call in message.get("tool_calls") or ()]
        assert kinds["user"] == roles["user"]
        assert kinds["tool_call"] == len(calls)
        assert kinds["tool_result"] == len(calls)
        complete = [i for i in found if i.kind == "tool_result" and i.state == "complete"]
        assert len(complete) == roles["tool"]
        spoken = [m["content"] for m in messages if m["role"] == "assistant" and m["content"]]
        assert [item.content for item in found if item.kind == "assistant"] == spoken
        assert adoption.skipped == {}
        assert len(window(adoption)) == len(found)
