"""The arguments of a tool call: JSON text that a model wrote."""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

MAX_DEPTH = 100
"""Objects and lists within each other."""


def parsed(arguments: str) -> dict[str, Any] | None:
    """The arguments by name; None where the text is no JSON object, or `is_too_deep`."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _fits(value) else None


def strings(value: Any, without: Collection[str] = ()) -> Iterator[str]:
    """Every text in a JSON value, except under the keys `without`."""
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                if key not in without:
                    yield from strings(inner, without)
        case list() | tuple():
            for inner in value:
                yield from strings(inner, without)


def is_too_deep(arguments: str) -> bool:
    """Whether it is JSON with more than `MAX_DEPTH` objects and lists within each other."""
    if arguments.count("{") + arguments.count("[") <= MAX_DEPTH:
        return False
    try:
        return not _fits(json.loads(arguments))
    except RecursionError:
        return True
    except ValueError:
        return False


def _fits(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = (inside for outer in level for inside in _values(outer))
        level = [nested for nested in inner if isinstance(nested, dict | list)]
        if not level:
            return True
    return False


def _values(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
