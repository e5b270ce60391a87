"""Context and items as Chat Completions messages."""

from collections.abc import Iterable
from typing import Any

from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import Context
from pinfold.rollout.items import WRITTEN, Item
from pinfold.wire.arguments import as_object
from pinfold.wire.atoms import atoms, is_own
from pinfold.wire.context import system_text
from pinfold.wire.images import data_url, shown, text_of

Message = dict[str, Any]
Part = dict[str, Any]


def messages(context: Context, items: Iterable[Item], model: ModelInfo) -> list[Message]:
    """The whole request as messages that `model` accepts. Raises `BrokenPair`."""
    found: list[Message] = []
    if system := system_text(context):
        found.append({"role": "system", "content": system})
    for atom in atoms(items):
        if atom[0].kind in WRITTEN:
            _add_response(found, atom, model)
        elif atom[0].kind != "compaction":
            _add(found, {"role": "user", "content": _content(atom[0], model)})
    return found


def tools(context: Context) -> list[dict[str, Any]]:
    """The tools as the `tools` parameter."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in context.tools
        if not tool.hosted
    ]


def _add_response(found: list[Message], atom: list[Item], model: ModelInfo) -> None:
    text = "\n\n".join(item.content for item in atom if item.kind == "assistant" and item.content)
    calls = [_call(item) for item in atom if item.kind == "tool_call"]
    if text or calls:
        message: Message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = calls
        _add(found, message | _reasoning(atom, model))
    results = [item for item in atom if item.kind == "tool_result"]
    found.extend(
        {"role": "tool", "tool_call_id": item.call_id, "content": text_of(item, model)}
        for item in results
    )
    # A tool message holds text alone: its pictures follow, once every call is answered.
    if pictures := [part for item in results for part in _pictures_of_result(item, model)]:
        found.append({"role": "user", "content": pictures})


def _pictures_of_result(item: Item, model: ModelInfo) -> list[Part]:
    images = _images(item, model)
    return [_text(f"From the result of {item.call_id}:"), *images] if images else []


def _content(item: Item, model: ModelInfo) -> str | list[Part]:
    text, images = text_of(item, model), _images(item, model)
    return [*_parts(text), *images] if images else text


def _images(item: Item, model: ModelInfo) -> list[Part]:
    return [
        {"type": "image_url", "image_url": {"url": data_url(image)}} for image in shown(item, model)
    ]


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _parts(content: str | list[Part] | None) -> list[Part]:
    if isinstance(content, list):
        return content
    return [_text(content)] if content else []


def _reasoning(atom: list[Item], model: ModelInfo) -> Message:
    """Reasoning under the field in which it came (`stream` names it)."""
    fields: dict[str, str] = {}
    for item in atom:
        field = (item.opaque or {}).get("field")
        if item.kind == "reasoning" and field and is_own(item, model):
            before = fields.get(field)
            fields[field] = f"{before}\n\n{item.content}" if before else item.content
    return fields


def _call(item: Item) -> dict[str, Any]:
    return {
        "id": item.call_id,
        "type": "function",
        "function": {"name": item.name or "", "arguments": as_object(item.content)},
    }


def _add(found: list[Message], message: Message) -> None:
    """Append, or merge into the last message where the role is the same."""
    last = found[-1] if found else None
    if last is None or last["role"] != message["role"] or "tool_calls" in last:
        found.append(message)
        return
    contents = [last["content"], message["content"]]
    content: str | list[Part]
    if any(isinstance(body, list) for body in contents):
        content = [part for body in contents for part in _parts(body)]
    else:
        content = "\n\n".join(text for text in contents if text)
    found[-1] = last | message | {"content": content or message["content"]}
