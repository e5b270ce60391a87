"""A session for an export, as plain values: items, and how each is in the window."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pinfold.ports.provider import ModelInfo
from pinfold.rollout.acts import edited
from pinfold.rollout.arguments import parsed
from pinfold.rollout.context import Context
from pinfold.rollout.items import Form, Item
from pinfold.rollout.summaries import title_of
from pinfold.window import titles

if TYPE_CHECKING:
    from pinfold.window.window import Boundary


@dataclass(frozen=True, slots=True)
class ExportedItem:
    item: Item
    at: datetime
    form: Form | None
    """None if it is no longer in the window."""
    pinned: bool


@dataclass(frozen=True, slots=True)
class ExportedSession:
    """A session, or the part of it that the model sees."""

    opening: str
    """The first prompt, whole: a secret that is cut off may not be found."""
    session: str
    cwd: str
    model: ModelInfo
    context: Context
    entries: Sequence[ExportedItem]
    window: Sequence[Item]
    """The items as the next request carries them."""
    boundaries: Sequence[Boundary] = ()

    @property
    def title(self) -> str:
        return title_of(self.opening)

    @property
    def started_at(self) -> datetime | None:
        return self.entries[0].at if self.entries else None


@dataclass(frozen=True, slots=True)
class Passage:
    """An item other than a call and its result."""

    entry: ExportedItem


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A tool call and its result, if it has one."""

    call: ExportedItem
    result: ExportedItem | None


@dataclass(frozen=True, slots=True)
class WindowEnded:
    """The place where one window ended and the next began."""

    boundary: Boundary


SessionPart = Passage | CalledTool | WindowEnded


def window_alone(transcript: ExportedSession) -> ExportedSession:
    """The part of a session that the model sees, in the window's order, with placeholders."""
    entries = {entry.item.n: entry for entry in transcript.entries}
    shown = tuple(replace(entries[item.n], item=item) for item in transcript.window)
    return replace(transcript, entries=shown, boundaries=())


def parts(transcript: ExportedSession) -> Iterator[SessionPart]:
    """The session in reading order, each result with its call."""
    results = _results(transcript.entries)
    answers = {result.item.n for result in results.values()}
    boundaries = list(reversed(transcript.boundaries))
    for entry in transcript.entries:
        while boundaries and entry.item.n > boundaries[-1].last:
            yield WindowEnded(boundaries.pop())
        if entry.item.kind == "tool_call":
            yield CalledTool(entry, results.get(entry.item.n))
        elif entry.item.n not in answers:
            yield Passage(entry)
    for boundary in reversed(boundaries):
        yield WindowEnded(boundary)


def _results(entries: Sequence[ExportedItem]) -> dict[int, ExportedItem]:
    """The result of each call, by the call's number."""
    waiting: dict[tuple[int, str | None], list[ExportedItem]] = {}
    for entry in entries:
        if entry.item.kind == "tool_result":
            waiting.setdefault(_key(entry), []).append(entry)
    calls = (entry for entry in entries if entry.item.kind == "tool_call")
    return {call.item.n: found.pop(0) for call in calls if (found := waiting.get(_key(call)))}


def _key(entry: ExportedItem) -> tuple[int, str | None]:
    return entry.item.response, entry.item.call_id


MARKS = {"pinned": "⚑", "shortened": "◑", "masked": "◐", "folded": "○", "archived": "◌"}
"""What can happen to an item, with its sign."""
_FORMS: dict[Form | None, str] = {
    "full": "",
    "short": "shortened",
    "masked": "masked",
    "placeholder": "folded",
    None: "archived",
}


def marks(entry: ExportedItem) -> list[str]:
    """The marks of an item, from `MARKS`."""
    return [mark for mark in ("pinned" if entry.pinned else "", _FORMS[entry.form]) if mark]


def speaker(item: Item) -> str:
    """Who an item's words are from."""
    match item.kind:
        case "user":
            return "User"
        case "assistant":
            return item.origin.model if item.origin and item.origin.model else "Assistant"
        case "reasoning":
            return "Thinking"
        case "tool_call" | "tool_result":
            return item.name or "tool"
        case kind:
            return kind.capitalize()


class Code(NamedTuple):
    """Text to be shown as code."""

    text: str
    language: str


def arguments(text: str) -> Code:
    """A call's arguments: a lone command or patch as it is, anything else as JSON."""
    given: Any = parsed(text)
    if given is None:
        return Code(text, "")
    match given:
        case {"command": str(text), **rest} | {"cmd": str(text), **rest} if not rest:
            return Code(text, "bash")
        case {"patch": str(text), **rest} | {"input": str(text), **rest} if not rest:
            return Code(text, "diff")
    return Code(json.dumps(given, ensure_ascii=False, indent=2), "json")


def subject(call: ExportedItem, result: ExportedItem | None) -> str:
    """What a call was about, by its arguments, else by its tool."""
    stated = result.item.detail.get("title") if result is not None else None
    ran = edits(result)
    title = titles.title_of(ran or call.item.content) or (stated if isinstance(stated, str) else "")
    return f"{title} · edited by the user" if ran else title


def edits(result: ExportedItem | None) -> str:
    """The arguments that the user gave a call in place of the model's; empty if they gave none."""
    return edited(result.item if result is not None else None)


def outcome(result: ExportedItem | None) -> tuple[str, bool]:
    """The outcome of a call in a word or two, and whether it succeeded."""
    if result is None:
        return "no result", False
    detail = result.item.detail
    if result.item.state != "complete":
        return result.item.state, False
    code = detail.get("exit_code")
    if isinstance(code, int) and code:
        return f"exit {code}", False
    return ("ok", True) if detail.get("ok", True) else ("failed", False)


def diff_of(result: ExportedItem | None) -> str:
    """The unified diff of an edit; empty if there is none."""
    diff = result.item.detail.get("diff") if result is not None and result.form != "masked" else ""
    return diff if isinstance(diff, str) else ""
