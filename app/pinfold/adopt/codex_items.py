"""Items of the Responses API, as Codex records them and as requests hold them."""

from datetime import datetime
from typing import Any

from msgspec import Struct, field

from pinfold.adopt.builder import Builder
from pinfold.adopt.codex_acts import message
from pinfold.adopt.content import content
from pinfold.adopt.lines import compact, list_of, object_of, text_of
from pinfold.rollout.items import Image, Item, Kind

_INJECTED = (
    "# agents.md instructions",
    "<apps_instructions>",
    "<collaboration_mode>",
    "<environment_context>",
    "<hook_prompt",
    "<model_switch>",
    "<permissions instructions>",
    "<personality_spec>",
    "<plugins_instructions>",
    "<realtime_conversation>",
    "<skill>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
)
"""How messages of the user's role begin that Codex wrote, in lower case."""
_HAPPENED = (
    "<hook_prompt",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_shell_command>",
)
"""How those of them begin that tell of something, where the others set Codex up."""
_LONGEST_INJECTED = max(map(len, _INJECTED))

_SUMMARY = "Another language model started to solve this problem"
"""How the summary begins that a compaction leaves."""

_COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
_HEAD = frozenset({"type", "id", "call_id", "status", "name", "namespace"})
"""Fields of a call that say nothing of what it does."""


class UnnumberedItem(Struct, frozen=True, kw_only=True):
    """An item before it has a number."""

    kind: Kind
    content: str = ""
    call_id: str | None = None
    name: str | None = None
    foreign_id: str | None = None
    images: tuple[Image, ...] = ()
    opaque: dict[str, Any] | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    def add_to(self, builder: Builder, at: datetime, response: int, detail: dict[str, Any]) -> int:
        """Its number; `detail` replaces its own."""
        return builder.item(
            at,
            self.kind,
            self.content,
            response=response,
            call_id=self.call_id,
            name=self.name,
            foreign_id=self.foreign_id,
            images=self.images,
            opaque=self.opaque,
            detail=detail,
        )


def entry(payload: dict[str, Any], summary: str = "") -> UnnumberedItem | None:
    """The item of a response item; None where it is none that a model sees.

    `summary` is the text of the compaction that the item is behind.
    """
    kind = text_of(payload, "type")
    if kind in {"message", ""} and "role" in payload:
        return _message(payload, summary)
    if kind == "reasoning":
        # Encrypted reasoning opens for the account alone that it was made for.
        parts = [*list_of(payload, "summary"), *list_of(payload, "content")]
        return UnnumberedItem(
            kind="reasoning", content=content(parts)[0], foreign_id=text_of(payload, "id") or None
        )
    if kind in _COMPACTIONS:
        return UnnumberedItem(kind="compaction", opaque=payload)
    if kind.endswith("_output"):
        text, images = _output(payload)
        return UnnumberedItem(
            kind="tool_result", content=text, images=images, call_id=text_of(payload, "call_id")
        )
    if kind.endswith("_call"):
        return _call(kind, payload)
    return None


def _message(payload: dict[str, Any], summary: str) -> UnnumberedItem | None:
    text, images = content(payload.get("content"))
    match text_of(payload, "role"):
        case "assistant":
            kind: Kind = "assistant"
        case "user" if text and (text == summary or text.startswith(_SUMMARY)):
            kind = "summary"
        case "user":
            kind = "context" if is_injected(text) else "user"
        case "developer" | "system":
            kind = "context"
        case _:
            return None
    standing = kind in {"user", "context"}
    return UnnumberedItem(
        kind=kind,
        content=text,
        images=images,
        foreign_id=text_of(payload, "id") or None,
        detail=message(text, typed=kind == "user") if standing else {},
    )


def is_injected(text: str) -> bool:
    """Whether Codex, not the user, wrote a message of the user's role."""
    return text.lstrip()[:_LONGEST_INJECTED].lower().startswith(_INJECTED)


def sets_up(item: Item) -> bool:
    """Whether an item tells Codex how to work, and of the machine that it works on."""
    head = item.content.lstrip()[:_LONGEST_INJECTED].lower()
    return item.kind == "context" and not head.startswith(_HAPPENED)


def _call(kind: str, payload: dict[str, Any]) -> UnnumberedItem:
    given: Any
    match kind:
        case "function_call":
            given = payload.get("arguments")
        case "custom_tool_call":
            given = {"input": payload.get("input")}
        case "local_shell_call":
            given = object_of(payload, "action")
        case _:
            given = {key: value for key, value in payload.items() if key not in _HEAD}
    namespace = text_of(payload, "namespace")
    return UnnumberedItem(
        kind="tool_call",
        content=given if isinstance(given, str) else compact(given),
        call_id=text_of(payload, "call_id") or text_of(payload, "id") or None,
        name=text_of(payload, "name") or kind.removesuffix("_call"),
        foreign_id=text_of(payload, "id") or None,
        detail={"namespace": namespace} if namespace else {},
    )


def _output(payload: dict[str, Any]) -> tuple[str, tuple[Image, ...]]:
    output = payload.get("output")
    if isinstance(output, dict) and "content" in output:
        output = output["content"]  # {content, success} in older rollouts
    if output is None:
        rest = {key: value for key, value in payload.items() if key not in _HEAD}
        return (compact(rest) if rest else ""), ()
    return content(output)
