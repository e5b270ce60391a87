"""What a Responses request can do without."""

from pinfold.wire.caching import KEY
from pinfold.wire.optional import FORMAT, Body, Optional, any_json, dropping, pattern, unknown


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
