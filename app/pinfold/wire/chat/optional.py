"""What a Chat Completions request can do without."""

from pinfold.wire.caching import KEY
from pinfold.wire.optional import FORMAT, Optional, any_json, dropping, pattern, renaming, unknown

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
