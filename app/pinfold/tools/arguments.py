"""Tool arguments: their schemas for the model, and the check of what it wrote."""

import shlex
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from pinfold.ports.tool import ToolError
from pinfold.rollout.arguments import MAX_DEPTH, is_too_deep
from pinfold.rollout.context import ToolSchema

SHELLS = frozenset({"bash", "sh", "zsh"})
HABITS = {"file_path": "path", "filepath": "path", "filename": "path"}
"""What models call the arguments of most tools elsewhere, with our names."""


class Arguments(BaseModel):
    """The arguments of one tool. A null stands for "not given", as many models write it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    also: ClassVar[Mapping[str, str]] = {}
    """Names that models write out of habit, with ours; empty for what says nothing. The model is
    not told of them."""

    @model_validator(mode="before")
    @classmethod
    def _as_declared(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        given = {name: value for name, value in data.items() if value is not None}
        for other, name in {**HABITS, **cls.also}.items():
            if other not in given or other in cls.model_fields:
                continue
            if not name:
                del given[other]
            elif name in cls.model_fields and name not in given:
                given[name] = given.pop(other)
        return given


def also_named(model: type[Arguments], *names: str) -> tuple[str, ...]:
    """The names of arguments, with those that models write for them."""
    return (*names, *(other for other, name in model.also.items() if name in names))


def as_command(value: Any) -> Any:
    """A command as text, where a model wrote it as a list of words."""
    match value:
        case [str(shell), "-c" | "-lc", str(script)] if shell.rpartition("/")[2] in SHELLS:
            return script
        case [*words] if words and all(isinstance(word, str) for word in words):
            return shlex.join(words)
    return value


A = TypeVar("A", bound=Arguments)


def parse(model: type[A], arguments: str) -> A:
    """The arguments that the model wrote as JSON. Raises `ToolError` naming what is wrong."""
    if is_too_deep(arguments):
        raise ToolError(
            f"The arguments are nested more than {MAX_DEPTH} levels deep: flatten them."
        )
    try:
        return model.model_validate_json(arguments or "{}")
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" if one["loc"] else one["msg"]
            for one in error.errors(include_url=False, include_input=False)
        )
        raise ToolError(f"The arguments do not fit: {problems}") from error


def schema(name: str, description: str, model: type[Arguments]) -> ToolSchema:
    """A tool's schema for the model."""
    parameters = model.model_json_schema()
    parameters = _plain(parameters, parameters.pop("$defs", {}))
    parameters.pop("description", None)
    return ToolSchema(name, description, parameters)


def _plain(part: Any, named: dict[str, Any], *, are_names: bool = False) -> Any:
    """A schema without titles, references, which not every server follows, and empty defaults.

    `are_names` is whether the keys of `part` are the model's own names.
    """
    match part:
        case {"$ref": str(ref)}:
            return _plain(named[ref.rpartition("/")[2]], named)
        case dict():
            return {
                key: _plain(inner, named, are_names=key == "properties" and not are_names)
                for key, inner in part.items()
                if are_names or (key != "title" and (key != "default" or inner))
            }
        case _:
            return part


def title_line(text: str, limit: int = 120) -> str:
    """`text` as a title: white space folded, cut to `limit` characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"
