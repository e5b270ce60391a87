"""What a response can do without, where an endpoint complains of it."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from pinfold.providers.bodies import Body
from pinfold.providers.caching import KEY


@dataclass(frozen=True, slots=True)
class _Optional:
    complaint: re.Pattern[str]
    """How endpoints speak of it."""
    without: Callable[[Body], Body]
    """The body without it, or with what may serve in its place."""


def without(body: Body, names: Collection[str]) -> Body:
    """The body without what `complained_of` named."""
    for name, field in _OPTIONAL.items():
        if name in names:
            body = field.without(body)
    return body


def complained_of(body: Body, message: str) -> str | None:
    """What an endpoint's refusal of this body speaks of and it can do without."""
    for name, field in _OPTIONAL.items():
        if field.complaint.search(message) and field.without(body) != body:
            return name
    return None


def _said(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _unknown(name: str) -> re.Pattern[str]:
    """Says that the parameter is not known; what is wrong with its value is another matter."""
    return _said(
        rf"(?:un(?:supported|known|recognized|expected)|forbidden)[^.]{{0,60}}\b{name}\b"
        rf"|\b{name}\b[^.]{{0,60}}(?:not (?:supported|permitted|allowed)|un(?:supported|known))"
    )


def _dropping(name: str) -> Callable[[Body], Body]:
    return lambda body: {key: value for key, value in body.items() if key != name}


def _renaming(name: str, new: str) -> Callable[[Body], Body]:
    return lambda body: {new if key == name else key: value for key, value in body.items()}


def _without_summary(body: Body) -> Body:
    effort = {key: value for key, value in body.get("reasoning", {}).items() if key != "summary"}
    return _dropping("reasoning")(body) | ({"reasoning": effort} if effort else {})


def _any_json(body: Body) -> Body:
    """The older mode that promises JSON and no schema: DeepSeek, some models of Groq."""
    older = {"type": "json_object"}
    if "response_format" in body:
        return body | {"response_format": older}
    return body | {"text": {"format": older}} if "text" in body else body


def _no_format(body: Body) -> Body:
    return {key: value for key, value in body.items() if key not in {"response_format", "text"}}


_FORMAT = _said(
    r"response[ _.]?format|response_schema|text\.format|json[ _]?(?:schema|object|mode)"
    r"|structured.?output|grammar"
)

_OPTIONAL = {
    "stream_options": _Optional(
        _said(r"stream_options|include_usage"), _dropping("stream_options")
    ),
    "include": _Optional(_said(r"encrypted.content|'include'"), _dropping("include")),
    "reasoning.summary": _Optional(
        _said(r"reasoning[. ]summar|parameter: 'reasoning'"), _without_summary
    ),
    "prewarm": _Optional(_said(r"prompt_cache_options|prewarm"), _dropping("prompt_cache_options")),
    KEY: _Optional(_said(KEY), _dropping(KEY)),
    "json_schema": _Optional(_FORMAT, _any_json),
    "json_object": _Optional(_FORMAT, _no_format),
    "max_tokens": _Optional(
        _unknown("max_tokens"), _renaming("max_tokens", "max_completion_tokens")
    ),
    "max_completion_tokens": _Optional(
        _unknown("max_completion_tokens"), _dropping("max_completion_tokens")
    ),
    "max_output_tokens": _Optional(_unknown("max_output_tokens"), _dropping("max_output_tokens")),
}
"""In this order: what comes later may drop what came in the place of something before it."""
