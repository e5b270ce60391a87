"""The items of a session that contain some words."""

import re
from typing import Any

import msgspec
from msgspec import Struct

from pinfold.adopt import detect
from pinfold.rollout.events import ItemAdded

_AROUND = 60
"""Characters of a snippet before and after the first word."""
_MOST = 100
"""Items of one session."""
_WORD = re.compile(r"\w+")


class ItemFound(Struct, frozen=True):
    n: int
    kind: str
    piece: str
    """The text around the first word."""


def result(data: bytes, name: str, settings: dict[str, Any]) -> bytes:
    """A list of `ItemFound`, newest first. Settings: `words`: an item contains all of them, the
    last one perhaps as the beginning of a word. Raises `NotASession`, `OSError`."""
    *whole, last = map(str.casefold, settings["words"])
    found: list[ItemFound] = []
    for event in reversed(detect.read_bytes(data, name).events):
        if len(found) == _MOST:
            break
        if not isinstance(event.data, ItemAdded):
            continue
        item = event.data.item
        words = {word.casefold() for word in _WORD.findall(item.content)}
        if words.issuperset(whole) and any(word.startswith(last) for word in words):
            found.append(ItemFound(item.n, item.kind, _piece(item.content, [*whole, last][0])))
    return msgspec.json.encode(found)


def items(data: bytes) -> list[ItemFound]:
    return msgspec.json.decode(data, type=list[ItemFound])


def _piece(text: str, word: str) -> str:
    match = re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE)
    at = match.start() if match else 0
    return " ".join(text[max(0, at - _AROUND) : at + len(word) + _AROUND].split())
