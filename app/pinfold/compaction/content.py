"""What a new window leaves out, and the text in its place."""

import re
from collections.abc import Callable

from msgspec.structs import replace

from pinfold.rollout.items import Image, Item

_SHORTEST = 400
_BASE64 = re.compile(rf"[A-Za-z0-9+/]{{{_SHORTEST},}}={{0,2}}")
_REBUILT = re.compile(
    r"\s*(?:<(?:environment_context|system-reminder|env|git_status|local-command-\w+)>"
    r"|# (?:Environment|Git status)\b|gitStatus:|On branch \S+\n)",
    re.IGNORECASE,
)


def holds_data(item: Item) -> bool:
    """Whether it carries pictures or base64."""
    if item.images:
        return True
    return len(item.content) >= _SHORTEST and _BASE64.search(item.content) is not None


def is_rebuilt_each_turn(item: Item) -> bool:
    """Whether it describes the environment, which each turn's context describes again."""
    return item.kind == "context" and _REBUILT.match(item.content) is not None


def without_data(item: Item) -> str:
    """The text, with a note for each piece of data left out."""

    def named(found: re.Match[str]) -> str:
        return f"[base64, {len(found[0]):,} characters, in #{item.n}]"

    text = _BASE64.sub(named, item.content)
    lines = [f"[{_described(image)}, in #{item.n}]" for image in item.images]
    return "\n".join([text, *lines] if text else lines)


def _described(image: Image) -> str:
    size = f", {image.width}x{image.height}" if image.width and image.height else ""
    return f"image: {image.media_type}{size}"


def ends_of(text: str, n: int, budget: int, count: Callable[[str], int]) -> str:
    """Beginning and end of a text in at most `budget` tokens, and how to recall all of it."""
    tokens = count(text)
    if tokens <= budget:
        return text
    characters = int(len(text) * budget / tokens)
    while characters > 0:
        head, end = text[: characters * 2 // 3], text[len(text) - characters // 3 :]
        left = len(text) - len(head) - len(end)
        cut = f"{head}\n[… {left:,} characters left out; recall({n}) brings all of #{n} …]\n{end}"
        if count(cut) <= budget:
            return cut
        characters = characters * 9 // 10
    return f"[Cut; recall({n}) brings all of #{n}.]"


def replacement_of(entry: Item, text: str) -> Item:
    """A new user message that replaces another."""
    return replace(
        entry,
        n=0,
        kind="user",
        content=text,
        images=(),
        origin=None,
        detail={"replaces": entry.n, "act": "host"},
    )
