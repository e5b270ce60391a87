"""Context and items as Responses API input; the instructions go apart (`wire.context`)."""

from collections.abc import Iterable
from typing import Any

from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import Context
from pinfold.rollout.items import WRITTEN, Item
from pinfold.wire.arguments import as_object
from pinfold.wire.atoms import atoms, is_own
from pinfold.wire.images import data_url, shown, text_of

InputItem = dict[str, Any]
SEARCH = "web_search_call"
"""The type of an item that records a search by the provider; it is placed like reasoning."""


def input_items(items: Iterable[Item], model: ModelInfo) -> list[InputItem]:
    """The window as input items that `model` accepts. Raises `BrokenPair`."""
    found: list[InputItem] = []
    for atom in atoms(items):
        if atom[0].kind in WRITTEN:
            found += _response(atom, model)
        elif atom[0].kind != "compaction":
            found.append(_message("user", _input(atom[0], model)))
        elif atom[0].opaque and is_own(atom[0], model):
            found.append(_returned(atom[0].opaque))
    return found


def tools(context: Context) -> list[dict[str, Any]]:
    """The tools as the `tools` parameter."""
    return [
        {"type": tool.hosted}
        if tool.hosted
        else {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "strict": False,
        }
        for tool in context.tools
    ]


def _response(atom: list[Item], model: ModelInfo) -> list[InputItem]:
    found: list[InputItem] = []
    reasoning: list[InputItem] = []
    for item in atom:
        match item.kind:
            case "reasoning":
                if _returnable(item, model):
                    reasoning.append(_returned(item.opaque or {}))
                continue
            case "assistant" if item.content:
                entry = _message("assistant", [{"type": "output_text", "text": item.content}])
            case "tool_call":
                entry = {
                    "type": "function_call",
                    "call_id": item.call_id,
                    "name": item.name or "",
                    "arguments": as_object(item.content),
                }
            case "tool_result":
                found.append(
                    {
                        "type": "function_call_output",
                        "call_id": item.call_id,
                        "output": _output(item, model),
                    }
                )
                continue
            case _:
                continue
        # Reasoning that nothing follows is refused, so it waits for what it led to.
        found += [*reasoning, entry]
        reasoning = []
    return found


def _returnable(item: Item, model: ModelInfo) -> bool:
    """With `store=false` the server kept nothing: only reasoning that holds itself can go back."""
    opaque = item.opaque or {}
    whole = opaque.get("encrypted_content") or opaque.get("content")
    goes_back = opaque.get("type") == SEARCH or (opaque.get("type") == "reasoning" and whole)
    return bool(goes_back) and is_own(item, model)


def _returned(opaque: dict[str, Any]) -> InputItem:
    dropped = () if opaque.get("type") == SEARCH else ("status",)
    return {key: value for key, value in opaque.items() if value is not None and key not in dropped}


def _output(item: Item, model: ModelInfo) -> str | list[InputItem]:
    return _input(item, model) if shown(item, model) else text_of(item, model)


def _input(item: Item, model: ModelInfo) -> list[InputItem]:
    text, images = text_of(item, model), shown(item, model)
    parts: list[InputItem] = [{"type": "input_text", "text": text}] if text or not images else []
    return parts + [
        {"type": "input_image", "image_url": data_url(image), "detail": "auto"} for image in images
    ]


def _message(role: str, content: list[InputItem]) -> InputItem:
    return {"type": "message", "role": role, "content": content}
