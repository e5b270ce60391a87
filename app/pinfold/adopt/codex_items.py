"""Items of the Responses API, as Codex records them and as requests hold them."""

from typing import Any

from pinfold.adopt.codex_acts import message
from pinfold.adopt.content import content
from pinfold.adopt.lines import compact, list_of, object_of, text_of
from pinfold.rollout.items import Image, Item, Kind, Origin

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
"""How Codex's own messages of the user's role begin, in lower case."""
_HAPPENED = (
    "<hook_prompt",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_shell_command>",
)
"""Of these, the ones that report an event; the others set Codex up."""
_LONGEST_INJECTED = max(map(len, _INJECTED))

_SUMMARY = "Another language model started to solve this problem"
"""How a compaction's summary begins."""

_COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
_HEAD = frozenset({"type", "id", "call_id", "status", "name", "namespace"})
"""Fields of a call that are not arguments."""


def entry(payload: dict[str, Any], summary: str = "") -> Item | None:
    """A response item as an item without a number; None where no model sees it.

    `summary` is the text of the compaction that the item is behind.
    """
    kind = text_of(payload, "type")
    if kind in {"message", ""} and "role" in payload:
        return _message(payload, summary)
    if kind == "reasoning":
        # Only the account that it was made for can decrypt reasoning.
        parts = [*list_of(payload, "summary"), *list_of(payload, "content")]
        return Item(n=0, kind="reasoning", content=content(parts)[0], origin=_origin(payload))
    if kind in _COMPACTIONS:
        return Item(n=0, kind="compaction", opaque=payload)
    if kind.endswith("_output"):
        text, images = _output(payload)
        call_id = text_of(payload, "call_id")
        return Item(n=0, kind="tool_result", content=text, images=images, call_id=call_id)
    if kind.endswith("_call"):
        return _call(kind, payload)
    return None


def _message(payload: dict[str, Any], summary: str) -> Item | None:
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
    return Item(
        n=0,
        kind=kind,
        content=text,
        images=images,
        origin=_origin(payload),
        detail=message(text, typed=kind == "user") if standing else {},
    )


def _origin(payload: dict[str, Any]) -> Origin | None:
    foreign_id = text_of(payload, "id")
    return Origin(foreign_id=foreign_id) if foreign_id else None


def is_injected(text: str) -> bool:
    """Whether Codex, not the user, wrote a message of the user's role."""
    return text.lstrip()[:_LONGEST_INJECTED].lower().startswith(_INJECTED)


def sets_up(item: Item) -> bool:
    """Whether an item tells Codex how to work, or about its machine."""
    head = item.content.lstrip()[:_LONGEST_INJECTED].lower()
    return item.kind == "context" and not head.startswith(_HAPPENED)


def _call(kind: str, payload: dict[str, Any]) -> Item:
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
    return Item(
        n=0,
        kind="tool_call",
        content=given if isinstance(given, str) else compact(given),
        call_id=text_of(payload, "call_id") or text_of(payload, "id") or None,
        name=text_of(payload, "name") or kind.removesuffix("_call"),
        origin=_origin(payload),
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
