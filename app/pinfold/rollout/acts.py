"""What an item is and its outcome, read from the detail that the host recorded with it.

Nothing here reads what an output says: tools state their act, and `adopt/` sets it for other
vendors' sessions. Tools are known by name only where a journal of an older version does not say.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from pinfold.rollout.items import Item

ToolKind = Literal[
    "read", "edit", "command", "memory", "web", "agent", "foreign", "question", "plan"
]
"""What calls of a tool do. `memory` puts on record what the model says, `foreign` is a tool of
another program, of which nothing else is known."""
ActKind = Literal["said", "pasted", "host", ToolKind, "refused"]
"""`said` and `pasted` by the user, `host` in the user's name; what a tool call did; a call that the
user `refused`."""

_KINDS: frozenset[str] = frozenset(get_args(ActKind))
_PRINTING = frozenset({"read", "command", "memory", "web", "foreign"})

# Journals of older versions do not say these things.
_OLDER_MEMORY = frozenset({"memory_apply"})
_OLDER_QUIET = frozenset({"read_file", "list_dir", "glob", "grep"})
_OLDER_SEARCHES = frozenset({"grep"})
EDITORS = frozenset(
    [
        "apply_patch",
        "edit",
        "edit_file",
        "multiedit",
        "notebookedit",
        "patch",
        "str_replace",
        "write",
        "write_file",
    ]
)
"""Names of tools that change files, anyone's, in lower case."""


class Step(Struct, frozen=True):
    """A step of a plan."""

    text: str
    status: Literal["pending", "in_progress", "done"]


class Act(Struct, frozen=True, kw_only=True):
    """What an item is. Texts are neither cleaned nor cut."""

    kind: ActKind
    title: str = ""
    """What was done: `$ pytest -q`, `edit app/x.py`, what an agent was to do, the questions."""
    paths: tuple[str, ...] = ()
    """Files that were edited, relative to the workspace."""
    added: int = 0
    removed: int = 0
    """Lines."""
    diff: str = ""
    ok: bool = True
    """Whether it went well, as far as that is known."""
    exit_code: int | None = None
    words: str = ""
    """The user's: what was typed, said with a refusal, or answered."""
    text: str = ""
    """Content without what the host put into it."""
    plan: tuple[Step, ...] | None = None
    """The whole plan, if the item has one."""
    names: tuple[str, ...] = ()
    """Files that an edit meant to change, whether it did or not."""
    bodies: tuple[str, ...] | None = None
    """Arguments of the call that hold text of files, where the tool states them."""
    whole: bool = False
    """Whether a read or an edit holds all of the file."""
    span: tuple[int, int] | None = None
    """The first and the last line that a read shows, where that is known."""
    aside: bool = False
    """Whether a sub-agent did it, in a conversation of its own."""

    @property
    def prints(self) -> bool:
        """Whether its text is what a tool printed, not what somebody says."""
        return self.kind in _PRINTING

    @property
    def failed(self) -> bool:
        return not self.ok or bool(self.exit_code)


def act(call: Item | None, result: Item) -> Act | None:
    """The act of a result (with its call) or of another item; None for what a model wrote, and for
    what a compaction inserted."""
    detail = result.detail
    kind = kind_of(result)
    if kind is None:
        return None
    text = told(result)
    words = _text(detail, "words")
    return Act(
        kind=kind,
        title=_title(call, result),
        paths=_texts(detail, "paths"),
        added=_number(detail, "added"),
        removed=_number(detail, "removed"),
        diff=_text(detail, "diff"),
        ok=detail.get("ok") is not False or result.state == "unknown",
        exit_code=code if isinstance(code := detail.get("exit_code"), int) else None,
        words=words or (text if kind == "said" else ""),
        text=text,
        plan=plan(result),
        names=_texts(detail, "names") or _texts(detail, "paths"),
        bodies=_texts(detail, "bodies") if "bodies" in detail else None,
        whole=detail.get("whole", kind == "read") is True,
        span=_span(detail),
        aside=detail.get("aside") is True,
    )


def edits(call: Item, result: Item) -> bool:
    """Whether a call meant to change files, whether it did or not."""
    kind = kind_of(result)
    if kind == "edit" or any(result.detail.get(key) for key in ("names", "paths", "diff")):
        return True
    silent = kind == "refused" or "act" not in result.detail
    return silent and (call.name or "").lower() in EDITORS


def edited(result: Item | None) -> str:
    """The arguments that the user gave a call in place of the model's; empty if they gave none."""
    return "" if result is None else _text(result.detail, "edited")


def is_quiet(result: Item) -> bool:
    """Whether what the tool printed is for the model, more than for the user."""
    return _stated(result, "quiet", _OLDER_QUIET)


def searches(result: Item) -> bool:
    """Whether the files that the tool read were only searched."""
    return _stated(result, "searches", _OLDER_SEARCHES)


def _stated(result: Item, key: str, older: frozenset[str]) -> bool:
    stated = result.detail.get(key)
    if isinstance(stated, bool):
        return stated
    return result.kind == "tool_result" and result.name in older


def told(item: Item) -> str:
    """The content without the spans that the host put into it."""
    if text := _text(item.detail, "text"):
        return text
    return without(item.content, _list(item.detail, "host"))


def without(text: str, spans: Iterable[Any]) -> str:
    """The text without these spans: start and end in characters, in order. Invalid ones are
    ignored."""
    kept, at = [], 0
    for span in spans:
        match span:
            case [int(start), int(end)] if at <= start <= end:
                kept.append(text[at:start])
                at = end
    return "".join([*kept, text[at:]])


def plan(item: Item) -> tuple[Step, ...] | None:
    """The session's plan in an item; None if it has none."""
    stated = item.detail.get("plan")
    mine = kind_of(item) == "plan" and item.detail.get("aside") is not True
    if not mine or not isinstance(stated, list | tuple):
        return None
    found = []
    for step in stated:
        match step:
            case {"text": str(text), "status": "pending" | "in_progress" | "done" as status}:
                found.append(Step(text, status))
    return tuple(found)


def kind_of(item: Item) -> ActKind | None:
    """The kind of the item's act, as `act` has it."""
    if item.detail.get("refused"):
        return "refused"
    stated = item.detail.get("act")
    if stated in (None, "read") and item.kind == "tool_result" and item.name in _OLDER_MEMORY:
        return "memory"
    if isinstance(stated, str) and stated in _KINDS:
        return stated  # type: ignore[return-value]
    match item.kind:  # journals of older versions do not say
        case "user":
            return "said"
        case "context":
            return "host"
        case "tool_result":
            detail = item.detail
            return "edit" if "diff" in detail else "command" if "command" in detail else "read"
        case _:
            return None


def _title(call: Item | None, result: Item) -> str:
    detail = result.detail
    if command := _text(detail, "command"):
        return f"$ {command}"
    if title := _text(detail, "title"):
        return title
    if paths := _texts(detail, "paths"):
        return f"edit {', '.join(paths)}"
    name = result.name or (call.name if call else None) or ""
    if names := _texts(detail, "names"):
        return f"{name} {', '.join(names)}"
    return f"{name} {_subject(call.content)}".strip() if call else name


def _subject(arguments: str) -> str:
    """What a call is about: the first text among its arguments."""
    try:
        given: Any = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    values = given.values() if isinstance(given, dict) else [given]
    return next((value for value in values if isinstance(value, str) and value), "")


def _text(detail: Mapping[str, Any], key: str) -> str:
    value = detail.get(key)
    return value if isinstance(value, str) else ""


def _list(detail: Mapping[str, Any], key: str) -> list[Any]:
    value = detail.get(key)
    return list(value) if isinstance(value, list | tuple) else []


def _texts(detail: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(text for text in _list(detail, key) if isinstance(text, str))


def _span(detail: Mapping[str, Any]) -> tuple[int, int] | None:
    match _list(detail, "span"):
        case [int(first), int(last)]:
            return first, last
        case _:
            return None


def _number(detail: Mapping[str, Any], key: str) -> int:
    value = detail.get(key)
    return value if isinstance(value, int) and value > 0 else 0
