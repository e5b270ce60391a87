"""The part of a call's arguments that a person would edit."""

import json
from dataclasses import dataclass

from pinfold.rollout.arguments import MAX_DEPTH, is_too_deep, parsed


@dataclass(frozen=True, slots=True)
class Editable:
    """One text argument, or all arguments as JSON."""

    arguments: str
    field: str
    """Empty where all is edited as JSON."""
    text: str

    def with_text(self, text: str) -> str:
        """The arguments with `text` in place. Raises `ValueError` where that is no JSON object."""
        if self.field:
            return json.dumps({**json.loads(self.arguments), self.field: text}, ensure_ascii=False)
        if is_too_deep(text):
            raise ValueError(f"This is nested more than {MAX_DEPTH} levels deep.")
        try:
            changed = json.loads(text)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise ValueError(f"This is not JSON: {error.msg} at {where}.") from error
        if not isinstance(changed, dict):
            raise ValueError("The arguments must be a JSON object.")
        return json.dumps(changed, ensure_ascii=False)


def editable(arguments: str, field: str = "") -> Editable:
    """What to edit of `arguments`, the JSON text that the model wrote: `field`, where it is a text
    among them."""
    values = parsed(arguments)
    if values is None:
        return Editable(arguments, "", arguments)
    if isinstance(values.get(field), str):
        return Editable(arguments, field, values[field])
    return Editable(arguments, "", json.dumps(values, indent=2, ensure_ascii=False))
