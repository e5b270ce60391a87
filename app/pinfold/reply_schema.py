"""The JSON schema that the last reply of `exec` must match."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinfold.rollout.provenance import Prompt
from pinfold.small_files import read

MAX_BYTES = 1 << 20


class WrongSchema(Exception):
    """The file is not a JSON schema; `str()` says why."""


def load(path: Path) -> Mapping[str, Any]:
    """The schema in a file. Raises `WrongSchema`."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        schema = json.loads(read(path, MAX_BYTES))
        if not isinstance(schema, dict):
            raise WrongSchema(f"{path} holds no JSON schema: it is no object.")
        Draft202012Validator.check_schema(schema)
    except (OSError, ValueError, RecursionError) as error:
        raise WrongSchema(f"{path} can't be read as JSON: {error}") from error
    except SchemaError as error:
        raise WrongSchema(f"{path} holds no JSON schema: {error.message}") from error
    return schema


def asking(prompt: Prompt, schema: Mapping[str, Any]) -> Prompt:
    """`prompt` with the schema, for servers that can't make a reply obey it."""
    text = f"\n\nEnd with JSON alone that obeys this JSON schema:\n{json.dumps(schema)}"
    end = len(prompt.text)
    return Prompt(prompt.text + text, (*prompt.pasted, (end, end + len(text))))


def violation(answer: str, schema: Mapping[str, Any]) -> str:
    """What in `answer` does not match; empty if all does."""
    from jsonschema import Draft202012Validator

    try:
        value = json.loads(answer)
    except (ValueError, RecursionError) as error:
        return f"it is no JSON ({error})"
    found = next(Draft202012Validator(schema).iter_errors(value), None)
    return f"at {found.json_path}: {found.message}" if found is not None else ""
