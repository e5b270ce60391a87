"""Fields that a request can leave out if an endpoint refuses them."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

Body = dict[str, Any]


class Optional(Struct, frozen=True):
    complaint: re.Pattern[str]
    """Matches error messages about it."""
    without: Callable[[Body], Body]
    """The body without it, or with what may serve in its place."""


def without(body: Body, optional: Mapping[str, Optional], names: Collection[str]) -> Body:
    """The body without what `complained_of` named."""
    for name, field in optional.items():
        if name in names:
            body = field.without(body)
    return body


def complained_of(body: Body, optional: Mapping[str, Optional], message: str) -> str | None:
    """The field of this body that an endpoint's error message is about, if it can be left out."""
    for name, field in optional.items():
        if field.complaint.search(message) and field.without(body) != body:
            return name
    return None


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def unknown(name: str) -> re.Pattern[str]:
    """Says that the parameter is not known; what is wrong with its value is another matter."""
    return pattern(
        rf"(?:un(?:supported|known|recognized|expected)|forbidden)[^.]{{0,60}}\b{name}\b"
        rf"|\b{name}\b[^.]{{0,60}}(?:not (?:supported|permitted|allowed)|un(?:supported|known))"
    )


def dropping(name: str) -> Callable[[Body], Body]:
    return lambda body: {key: value for key, value in body.items() if key != name}


def renaming(name: str, new: str) -> Callable[[Body], Body]:
    return lambda body: {new if key == name else key: value for key, value in body.items()}


def any_json(name: str, form: Mapping[str, Any]) -> Callable[[Body], Body]:
    """The older mode that promises JSON and no schema: DeepSeek, some models of Groq."""
    return lambda body: body | {name: form} if name in body else body


FORMAT = pattern(
    r"response[ _.]?format|response_schema|text\.format|json[ _]?(?:schema|object|mode)"
    r"|structured.?output|grammar"
)
"""How endpoints speak of the form of an answer, whichever way they take it."""
