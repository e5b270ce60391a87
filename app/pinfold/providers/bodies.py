"""The bodies of requests, and the fields of them that an endpoint may not know."""

import re
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from pinfold.ports import Request
from pinfold.wire import chat, responses
from pinfold.wire.context import system_text

Body = dict[str, Any]

_COUNTED = frozenset({"model", "messages", "input", "instructions", "tools"})
_OPTIONAL = {
    "stream_options": re.compile(r"stream_options|include_usage", re.IGNORECASE),
    "include": re.compile(r"encrypted.content|'include'", re.IGNORECASE),
    "reasoning.summary": re.compile(r"reasoning[. ]summar|parameter: 'reasoning'", re.IGNORECASE),
}
"""Fields that a response can do without, and how endpoints complain of them."""


def is_openai(base_url: str) -> bool:
    """Whether this is OpenAI's own endpoint."""
    return urlsplit(base_url).hostname == "api.openai.com"


def chat_body(request: Request) -> Body:
    """A Chat Completions request. Raises `wire.atoms.BrokenPair`."""
    body: Body = {
        "model": request.model.name,
        "messages": chat.messages(request.context, request.items, request.model),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.context.tools:
        body["tools"] = chat.tools(request.context)
    if request.reasoning_effort:
        body["reasoning_effort"] = request.reasoning_effort
    return body


def responses_body(request: Request) -> Body:
    """A Responses request that leaves nothing with the server. Raises `wire.atoms.BrokenPair`."""
    body: Body = {
        "model": request.model.name,
        "input": responses.input_items(request.items, request.model),
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
    }
    if instructions := system_text(request.context):
        body["instructions"] = instructions
    if request.context.tools:
        body["tools"] = responses.tools(request.context)
    if request.reasoning_effort:
        body["reasoning"]["effort"] = request.reasoning_effort
    return body


def counted(body: Body) -> Body:
    """The part of a body that makes its input tokens: endpoints that count refuse the rest."""
    return {name: value for name, value in body.items() if name in _COUNTED}


def without(body: Body, fields: Collection[str]) -> Body:
    """The body without some optional fields; what is empty then goes too."""
    found = dict(body)
    for name in fields:
        outer, _, inner = name.partition(".")
        value = found.pop(outer, None)
        if inner and value and (rest := {key: value[key] for key in value if key != inner}):
            found[outer] = rest
    return found


def complained_of(body: Body, dropped: Collection[str], message: str) -> str | None:
    """The optional field, still in the body, that an endpoint's refusal speaks of."""
    for name, complaint in _OPTIONAL.items():
        if name.partition(".")[0] in body and name not in dropped and complaint.search(message):
            return name
    return None
