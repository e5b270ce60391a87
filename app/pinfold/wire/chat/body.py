"""The body of a Chat Completions request."""

from pinfold.ports.provider import Request
from pinfold.wire.caching import KEY, is_openai, marked, wants_marks
from pinfold.wire.chat import render
from pinfold.wire.optional import FORMAT, Optional, any_json, dropping, pattern, renaming, unknown
from pinfold.wire.wires import LEAST_OUTPUT, SCHEMA_NAME, Body, tool_choice


def body(request: Request, base_url: str) -> Body:
    """Raises `wire.atoms.BrokenPair`."""
    messages = render.messages(request.context, request.items, request.model)
    body: Body = {
        "model": request.model.name,
        "messages": marked(messages) if wants_marks(base_url, request.model.name) else messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.context.tools:
        body["tools"] = render.tools(request.context)
        body |= tool_choice(request, base_url)
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


OPTIONAL = {
    "stream_options": Optional(
        pattern(r"stream_options|include_usage"), dropping("stream_options")
    ),
    KEY: Optional(pattern(KEY), dropping(KEY)),
    "json_schema": Optional(FORMAT, any_json("response_format", {"type": "json_object"})),
    "json_object": Optional(FORMAT, dropping("response_format")),
    "max_tokens": Optional(unknown("max_tokens"), renaming("max_tokens", "max_completion_tokens")),
    "max_completion_tokens": Optional(
        unknown("max_completion_tokens"), dropping("max_completion_tokens")
    ),
}
"""What a request can do without, where an endpoint does not know it."""
