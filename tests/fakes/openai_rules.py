"""What OpenAI refuses in a request, in its own words."""

from collections.abc import Sequence
from typing import Any

ROLES = {"system", "developer", "user", "assistant", "tool"}
COMPACT_FIELDS = {"model", "input", "instructions", "previous_response_id", "prompt_cache_key"}


def chat_complaint(messages: Sequence[dict[str, Any]]) -> str | None:
    """Why a list of chat messages would be refused, if it would."""
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        role = message.get("role")
        if role not in ROLES:
            return f"Invalid value: '{role}' at messages[{number}].role"
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                return (
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceeding message with 'tool_calls'."
                )
            if not isinstance(message["content"], str):
                return f"Invalid 'messages[{number}].content': tool messages hold text alone"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return _unanswered(open_calls)
        if isinstance(message.get("content"), list) and role != "user":
            return f"Invalid 'messages[{number}].content': images are for user messages"
        calls = message.get("tool_calls")
        if message.get("content") is None and not calls:
            return f"Invalid value for 'content': expected a string, got null at {number}"
        if calls is not None:
            if role != "assistant" or not calls:
                return f"Invalid 'messages[{number}].tool_calls'"
            open_calls = [call["id"] for call in calls]
            if len(set(open_calls)) < len(open_calls):
                return "Duplicate tool call ids"
    return _unanswered(open_calls) if open_calls else None


def responses_complaint(items: Sequence[dict[str, Any]]) -> str | None:
    """Why a list of input items would be refused, if it would."""
    open_calls: set[str] = set()
    for item, following in zip(items, [*items[1:], None], strict=False):
        match item.get("type"):
            case "function_call":
                if item["call_id"] in open_calls:
                    return f"Duplicate call_id {item['call_id']}"
                open_calls.add(item["call_id"])
            case "function_call_output":
                if item["call_id"] not in open_calls:
                    return (
                        "No tool call found for function call output with call_id "
                        f"{item['call_id']}."
                    )
                open_calls.remove(item["call_id"])
            case "compaction" if not item.get("encrypted_content"):
                return "Missing required parameter: 'input[0].encrypted_content'."
            case "reasoning":
                kind = following and (following.get("role") or following.get("type"))
                if kind not in {"assistant", "function_call", "reasoning"}:
                    return (
                        f"Item '{item.get('id')}' of type 'reasoning' was provided without its "
                        "required following item."
                    )
    return f"No tool output found for function call {min(open_calls)}." if open_calls else None


def compact_complaint(body: dict[str, Any]) -> str | None:
    """Why a request for a compaction would be refused, if it would."""
    if unknown := body.keys() - COMPACT_FIELDS:
        return f"Unknown parameter: '{min(unknown)}'."
    return responses_complaint(body["input"])


def schema_complaint(body: dict[str, Any]) -> str | None:
    """Why the schema or the limit of a reply would be refused, if it would."""
    if (limit := body.get("max_output_tokens", 16)) < 16:
        return (
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, "
            f"but got {limit} instead."
        )
    form = body.get("response_format", {}).get("json_schema") or body.get("text", {}).get("format")
    if not form or "schema" not in form:
        return None
    if not form.get("name", "").replace("_", "").replace("-", "").isalnum():
        return "Missing required parameter: 'response_format.json_schema.name'."
    told = _loose(form["schema"], ()) if form.get("strict") else None
    return told and f"Invalid schema for response_format '{form['name']}': {told}"


def _loose(schema: Any, place: tuple[str, ...]) -> str | None:
    """What is not strict in a schema: objects forbid other properties and require all of theirs."""
    if isinstance(schema, list):
        return next((told for inner in schema if (told := _loose(inner, place))), None)
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return (
                f"In context={place}, 'additionalProperties' is required to be supplied and to "
                "be false."
            )
        if missing := schema.get("properties", {}).keys() - set(schema.get("required", ())):
            return (
                f"In context={place}, 'required' is required to be supplied and to be an array "
                f"including every key in properties. Missing '{min(missing)}'."
            )
    return next((t for key, inner in schema.items() if (t := _loose(inner, (*place, key)))), None)


def _unanswered(ids: Sequence[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        + ", ".join(ids)
    )
