"""The body of a Responses request."""

from pinfold.ports.provider import Request
from pinfold.wire.caching import KEY
from pinfold.wire.context import system_text
from pinfold.wire.optional import FORMAT, Optional, any_json, dropping, pattern, unknown
from pinfold.wire.responses import render
from pinfold.wire.wires import LEAST_OUTPUT, SCHEMA_NAME, Body, tool_choice


def body(request: Request, base_url: str) -> Body:
    """A request that leaves nothing with the server. Raises `wire.atoms.BrokenPair`."""
    body: Body = {
        "model": request.model.name,
        "input": render.input_items(request.items, request.model),
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
    }
    if instructions := system_text(request.context):
        body["instructions"] = instructions
    if request.context.tools:
        body["tools"] = render.tools(request.context)
        body |= tool_choice(request, base_url)
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


def _without_summary(body: Body) -> Body:
    effort = {key: value for key, value in body.get("reasoning", {}).items() if key != "summary"}
    return dropping("reasoning")(body) | ({"reasoning": effort} if effort else {})


OPTIONAL = {
    "include": Optional(pattern(r"encrypted.content|'include'"), dropping("include")),
    "reasoning.summary": Optional(
        pattern(r"reasoning[. ]summar|parameter: 'reasoning'"), _without_summary
    ),
    "prewarm": Optional(pattern(r"prompt_cache_options|prewarm"), dropping("prompt_cache_options")),
    KEY: Optional(pattern(KEY), dropping(KEY)),
    "json_schema": Optional(FORMAT, any_json("text", {"format": {"type": "json_object"}})),
    "json_object": Optional(FORMAT, dropping("text")),
    "max_output_tokens": Optional(unknown("max_output_tokens"), dropping("max_output_tokens")),
}
"""What a request can do without, where an endpoint does not know it."""
