"""Recorded Claude Code sessions, against counts that are taken from the raw files by other means.

The recordings are no part of the project: `PINFOLD_SESSIONS` names their folder, else
`../shared/sessions` beside the checkout is tried.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.adopted import window
from fakes.foreign import damaged
from fakes.foreign_claude import claude_session
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.claude import read_lines
from pinfold.rollout.events import ItemAdded, RequestFinished, WindowReplaced
from pinfold.window.window import Window
from pinfold.wire.atoms import atoms

SESSIONS = Path(
    os.environ.get("PINFOLD_SESSIONS")
    or Path(__file__).resolve().parents[2].parent / "shared" / "sessions"
)
FILES = sorted((SESSIONS / "claude").glob("*.jsonl"))
NOT_WORDS = (
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "[Request interrupted",
    "Operation stopped by hook: ",
)

recorded = pytest.mark.parametrize(
    "file",
    FILES or [pytest.param(None, marks=pytest.mark.skip(reason=f"no recordings in {SESSIONS}"))],
    ids=lambda file: file.stem if file else "none",
)


class Raw:
    """A file as plain JSON."""

    def __init__(self, file: Path) -> None:
        self.lines: dict[str, dict[str, Any]] = {}
        for line in file.read_bytes().splitlines():
            try:
                told = json.loads(line)
            except ValueError:
                continue
            if "uuid" in told:
                self.lines.setdefault(told["uuid"], told)

    def blocks(self, kind: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for line in self.lines.values():
            content = line.get("message", {}).get("content")
            if isinstance(content, list):
                yield from ((line, block) for block in content if block["type"] == kind)

    def is_prompt(self, line: dict[str, Any]) -> bool:
        return line["type"] == "user" and not line.get("isMeta") and bool(self.words(line))

    def words(self, line: dict[str, Any]) -> str:
        if line.get("isCompactSummary"):
            return ""
        content = line["message"]["content"]
        texts = [content] if isinstance(content, str) else [b.get("text", "") for b in content]
        return "\n".join(text for text in texts if text and not text.startswith(NOT_WORDS))

    def counts(self) -> Counter[str]:
        calls = [block["id"] for _, block in self.blocks("tool_use")]
        results = [block["tool_use_id"] for _, block in self.blocks("tool_result")]
        lines = self.lines.values()
        return Counter(
            user=sum(self.is_prompt(line) for line in lines),
            tool_call=len(calls),
            tool_result=len(results),
            reasoning=sum(1 for _ in self.blocks("thinking")),
            compactions=sum(bool(line.get("isCompactSummary")) for line in lines),
            requests=len(
                {
                    line["message"]["id"]
                    for line in lines
                    if line["type"] == "assistant" and line["message"]["model"] != "<synthetic>"
                }
            ),
        )

    def window(self) -> tuple[list[str], set[str]]:
        """The prompts and the calls on the way back from the last line to a compaction."""
        chain = [line for line in self.lines.values() if line["type"] in {"user", "assistant"}]
        at: dict[str, Any] | None = chain[-1]
        way = []
        while at and at.get("subtype") != "compact_boundary":
            way.append(at)
            at = self.lines.get(at["parentUuid"])
        prompts = [self.words(line) for line in reversed(way) if self.is_prompt(line)]
        responses = {line["message"]["id"] for line in way if line["type"] == "assistant"}
        calls = {
            block["id"]
            for line, block in self.blocks("tool_use")
            if line["message"]["id"] in responses
        }
        return prompts, calls


def counts(adoption: Adoption) -> Counter[str]:
    found: Counter[str] = Counter()
    for event in adoption.events:
        match event.data:
            case ItemAdded(item=item):
                found[item.kind] += 1
            case WindowReplaced(reason="adopted"):
                found["compactions"] += 1
            case RequestFinished():
                found["requests"] += 1
    return found


@recorded
def test_nothing_of_a_recording_is_lost_and_the_window_is_what_leads_to_the_leaf(
    file: Path,
) -> None:
    with file.open("rb") as lines:
        adoption = read_lines(lines, file)
    raw = Raw(file)
    expected, found = raw.counts(), counts(adoption)
    assert {name: found[name] for name in expected} == dict(expected)
    items = window(adoption).items
    prompts, calls = raw.window()
    assert [item.content for item in items if item.kind == "user"] == prompts
    assert {item.call_id for item in items if item.kind == "tool_call"} == calls
    assert {item.call_id for item in items if item.kind == "tool_result"} == calls


@given(st.integers(0, 10_000))
def test_a_damaged_session_is_read_as_far_as_it_goes(seed: int) -> None:
    try:
        adoption = read_lines(damaged(claude_session().encoded(), seed), Path("s.jsonl"))
    except NotASession:
        return
    assert_sound(adoption)


@recorded
def test_a_damaged_recording_is_read_as_far_as_it_goes(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)[:200]
    for seed in range(3):
        assert_sound(read_lines(damaged(lines, seed), file))


def assert_sound(adoption: Adoption) -> None:
    """Numbers go up, nothing in the window is unknown, and every pair is whole, always."""
    folded = Window()
    numbers = []
    for event in adoption.events:
        folded.step(event)
        match event.data:
            case ItemAdded(item=item):
                numbers.append(item.n)
            case WindowReplaced(window=entries, inserted=inserted):
                numbers += [item.n for item in inserted]
                assert {n for n, _ in entries} <= set(numbers)
                atoms(folded.items)
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    atoms(folded.items)
