"""The bodies of requests. What an endpoint may not know of them is in `optional`."""

from typing import Any

from pinfold.ports.provider import Request
from pinfold.providers.caching import KEY, is_openai, marked, wants_marks
from pinfold.wire import chat, responses
from pinfold.wire.context import system_text

Body = dict[str, Any]

LEAST_OUTPUT = 16
"""Tokens of output below which OpenAI and the Responses API refuse a limit."""
SCHEMA_NAME = "reply"

_COUNTED = frozenset({"model", "messages", "input", "instructions", "tools"})
_COMPACTED = frozenset({"model", "input", "instructions", KEY})


def chat_body(request: Request, base_url: str) -> Body:
    """A Chat Completions request. Raises `wire.atoms.BrokenPair`."""
    messages = chat.messages(request.context, request.items, request.model)
    body: Body = {
        "model": request.model.name,
        "messages": marked(messages) if wants_marks(base_url, request.model.name) else messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.context.tools:
        body["tools"] = chat.tools(request.context)
        body |= _tool_choice(request, base_url)
    if request.reasoning_effort:
        body["reasoning_effort"] = request.reasoning_effort
    if request.schema is not None:
        form = {"name": SCHEMA_NAME, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if request.cache_key and is_openai(base_url):
        body[KEY] = request.cache_key
    if request.max_output is not None and is_openai(base_url):
        body["max_completion_tokens"] = max(request.max_output, LEAST_OUTPUT)
    elif request.max_output is not None:
        # Mistral, Ollama and older servers know no other name.
        body["max_tokens"] = request.max_output
    return body


def responses_body(request: Request, base_url: str) -> Body:
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
        body |= _tool_choice(request, base_url)
    if request.reasoning_effort:
        body["reasoning"]["effort"] = request.reasoning_effort
    if request.schema is not None:
        form = {"name": SCHEMA_NAME, "strict": True, "schema": request.schema}
        body["text"] = {"format": {"type": "json_schema", **form}}
    if request.cache_key:
        body[KEY] = request.cache_key
    if request.max_output is not None:
        body["max_output_tokens"] = max(request.max_output, LEAST_OUTPUT)
        if request.max_output <= 1:
            body["prompt_cache_options"] = {"prewarm": True}
    return body


def _tool_choice(request: Request, base_url: str) -> Body:
    """Forbids calls where the prompt cache outlasts that. Anthropic's forgets the messages, and
    some local servers leave the tools out of the prompt then."""
    return {"tool_choice": "none"} if request.text_only and is_openai(base_url) else {}


def counted(body: Body) -> Body:
    """The part of a body that makes its input tokens: endpoints that count refuse the rest."""
    return {name: value for name, value in body.items() if name in _COUNTED}


def compacted(body: Body) -> Body:
    """The part of a Responses body that the compaction endpoint takes."""
    return {name: value for name, value in body.items() if name in _COMPACTED}
