"""What a provider's prompt cache could serve of a sequence of requests."""

import json
from collections.abc import Iterable
from itertools import pairwise

from pinfold.ports.provider import Request
from pinfold.wire.chat import render as chat


def sent(request: Request) -> str:
    """A request as a cache sees it: what comes first in the prompt comes first here."""
    tools = json.dumps(chat.tools(request.context))
    return tools + json.dumps(chat.messages(request.context, request.items, request.model))


def common(one: str, other: str) -> int:
    """Characters that both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def cacheable(requests: Iterable[Request]) -> float:
    """The share of characters, of all requests but the first, with which an earlier one began."""
    texts = [sent(request) for request in requests]
    return served(texts) / sum(map(len, texts[1:]))


def kept(requests: Iterable[Request]) -> float:
    """The same share of what a cache could serve at best: as much as the request before had."""
    texts = [sent(request) for request in requests]
    return served(texts) / sum(min(len(one), len(other)) for one, other in pairwise(texts))


def served(texts: list[str]) -> int:
    """Characters of texts with which an earlier one began."""
    return sum(
        max(common(text, earlier) for earlier in texts[:at]) for at, text in enumerate(texts) if at
    )
