"""Elicitation: a server asks the user while one of its tools runs."""

from typing import Any

from pinfold.ports.servers import Ask
from pinfold.sanitize import one_line

DECLINE = "Don't answer"
MOST_FIELDS = 8
MOST_CHOICES = 12
MOST_TEXT = 500
"""Characters of a question."""


async def answered(params: Any, ask: Ask) -> tuple[str, dict[str, Any] | None]:
    """The user's answers to a form or an address, as the action and the content of the reply."""
    message = _short(params.message)
    if params.mode == "url":
        said = await ask(f"{message} It asks you to open {_short(params.url)}", ("Done", DECLINE))
        return ("accept" if said and said.text == "Done" else "decline"), None
    fields = params.requested_schema.get("properties") or {}
    if not isinstance(fields, dict) or len(fields) > MOST_FIELDS:
        return "decline", None
    if not fields:
        said = await ask(message, ("Yes", DECLINE))
        return ("accept", {}) if said and said.text == "Yes" else ("decline", None)
    content: dict[str, Any] = {}
    for name, field in fields.items():
        asked = field if isinstance(field, dict) else {}
        label = _short(str(asked.get("title") or name))
        about = _short(str(asked.get("description") or ""))
        question = f"{message} {label}{f': {about}' if about else ''}"
        while True:
            said = await ask(question, (*_choices(asked), DECLINE))
            if said is None or said.text == DECLINE:
                return "decline", None
            try:
                content[name] = _value(said.text, asked)
                break
            except ValueError as problem:
                question = f"{message} {label} {problem}"
    return "accept", content


def _short(text: str) -> str:
    return one_line(text)[:MOST_TEXT]


def _choices(field: dict[str, Any]) -> tuple[str, ...]:
    if field.get("type") == "boolean":
        return ("yes", "no")
    titled = field.get("oneOf")
    listed = field.get("enum") or (
        [one.get("const") for one in titled if isinstance(one, dict)]
        if isinstance(titled, list)
        else ()
    )
    if not isinstance(listed, list):
        return ()
    return tuple(one for one in listed if isinstance(one, str))[:MOST_CHOICES]


def _value(text: str, field: dict[str, Any]) -> Any:
    """The answer as the schema wants it. Raises `ValueError`."""
    match field.get("type"):
        case "boolean":
            if text.casefold() not in ("yes", "no", "true", "false"):
                raise ValueError("must be yes or no.")
            return text.casefold() in ("yes", "true")
        case "integer" | "number" as kind:
            try:
                return int(text) if kind == "integer" else float(text)
            except ValueError as error:
                raise ValueError(
                    "must be a whole number." if kind == "integer" else "must be a number."
                ) from error
        case "array":
            return [one.strip() for one in text.split(",")]
        case _:
            return text
