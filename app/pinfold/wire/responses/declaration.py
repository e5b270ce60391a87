"""Tools as OpenAI's models see them.

OpenAI's server shows its models TypeScript instead of the JSON schema; other servers' templates
show the JSON.
"""

import json
from typing import Any

from pinfold.rollout.context import ToolSchema


def declaration(tool: ToolSchema) -> str:
    """The tool as a TypeScript function type, comments included."""
    members = _members(tool.parameters)
    about = _comment(tool.parameters.get("description"))
    taken = f"(_: {about}{{\n{members}}})" if members else "()"
    return f"{_comment(tool.description)}type {tool.name} = {taken} => any;\n"


def _members(schema: dict[str, Any]) -> str:
    required = schema.get("required") or ()
    return "".join(
        _comment(entry.get("description"))
        + f"{name}{'' if name in required else '?'}: {_type(entry)},"
        + (f" // default: {json.dumps(entry['default'])}\n" if "default" in entry else "\n")
        for name, entry in _properties(schema)
    )


def _properties(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = schema.get("properties")
    if not isinstance(found, dict):
        return []
    return [(name, entry) for name, entry in found.items() if isinstance(entry, dict)]


def _comment(text: str | None) -> str:
    return "".join(f"// {line}\n" for line in text.splitlines()) if text else ""


def _type(schema: Any) -> str:
    match schema:
        case {"enum": [*values]}:
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        case {"anyOf": [*others]} | {"oneOf": [*others]}:
            return " | ".join(_type(other) for other in others)
        case {"type": [*types]}:
            return " | ".join(_type({**schema, "type": option}) for option in types)
        case {"type": "array"}:
            return f"{_type(schema.get('items'))}[]"
        case {"type": "object"}:
            members = _members(schema)
            return f"{{\n{members}}}" if members else "object"
        case {"type": "integer"}:
            return "number"
        case {"type": str(name)}:
            return name
        case _:
            return "any"
