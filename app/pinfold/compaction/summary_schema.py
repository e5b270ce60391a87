"""What a model may answer: `summary_v1` with ids and evidence, strictly.

This module costs pydantic, so it is imported where a model is asked.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pinfold.checkpoint.text import one_line
from pinfold.compaction import summary
from pinfold.compaction.summary import FIELDS, SummaryEntry

_SMALL_ANSWER = 2_000
"""Tokens. A small model left free would fill so few with a single string."""
_ERRORS = 5
_MAX_TRIES = 200
"""Braces of an answer that begin no JSON object, each of which costs a look at what follows."""
_LEFT_OUT = frozenset({"title", "description", "maxItems", "maxLength"})
"""Not every server takes bounds in a schema; the answer is held to them anyway."""
_ENTRY, _SMALL_TEXT, _MAX_LINES = 120, 120, 40
"""Of a small answer: tokens of an entry, characters of a string, lines to choose quotes from."""
_BY_WORTH = (
    *("constraints", "decisions", "files_in_scope", "todo", "known_failures"),
    *("open_questions", "symbols", "assumptions", "gone"),
)

Text = Annotated[str, Field(max_length=2_000)]


class Malformed(ValueError):
    """An answer that is no summary; `str()` tells the model why."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Evidence(_Strict):
    item: int
    quote: Text


class Said(_Strict):
    """Evidence comes first: what was quoted is what can be said."""

    id: Text
    evidence: Annotated[list[Evidence], Field(max_length=20)]

    def quoted(self) -> tuple[summary.ItemQuote, ...]:
        return tuple(summary.ItemQuote(source.item, source.quote) for source in self.evidence)


class Stated(Said):
    text: Text


class File(Said):
    path: Text
    why: Text


class Symbol(Said):
    name: Text
    file: Text
    role: Text


Several = Annotated[list[Stated], Field(max_length=60)]


class SummaryV1(_Strict):
    """The seed's fields. What the host sets, `env` and `last_compact_at`, is not asked for."""

    task: Stated
    decisions: Several
    constraints: Several
    open_questions: Several
    todo: Several
    files_in_scope: Annotated[list[File], Field(max_length=60)]
    symbols: Annotated[list[Symbol], Field(max_length=60)]
    assumptions: Several
    known_failures: Several
    gone: Annotated[list[Said], Field(max_length=60)]
    """Earlier entries that no longer hold."""

    def entries(self) -> Iterator[SummaryEntry]:
        """What it says, each on one line; the ids are the model's."""
        for name in FIELDS:
            told = getattr(self, name)
            for said in [told] if name == "task" else told:
                keys = summary.keys_of(name)
                value = {key: one_line(getattr(said, key)) for key in keys}
                if value[keys[0]]:
                    yield SummaryEntry(said.id, name, value, said.quoted())


def json_schema(max_tokens: int, lines: Sequence[str]) -> dict[str, Any]:
    """For structured output: closed objects, all of their keys required.

    An answer of few tokens comes from a small model: its strings and lists are bounded, and as it
    can't be trusted to copy, it chooses its quotes among `lines` of what it reads.
    """
    schema = _plain(SummaryV1.model_json_schema())
    if max_tokens < _SMALL_ANSWER:
        entries = max_tokens // _ENTRY
        for name in _BY_WORTH:
            schema["properties"][name]["maxItems"] = int(entries > 0)
            entries -= 1
        for part in schema["$defs"].values():
            _bound(part["properties"])
        quotes = [line.strip()[:_SMALL_TEXT] for line in lines if line.strip()]
        if quotes:
            schema["$defs"]["Evidence"]["properties"]["quote"] = {"enum": quotes[-_MAX_LINES:]}
    return dict(schema)


def parse(answer: str) -> SummaryV1:
    """The summary in an answer: JSON alone, or the one JSON object among prose.

    Raises `Malformed`.
    """
    found = [entry for entry in _objects(answer) if entry.keys() & SummaryV1.model_fields.keys()]
    if len(found) != 1:
        many = "several JSON objects" if found else "no complete JSON object"
        raise Malformed(f"it holds {many} of that form, where one is asked for and nothing else")
    try:
        return SummaryV1.model_validate(found[0])
    except ValidationError as error:
        told = [f"{_place(problem['loc'])}: {problem['msg']}" for problem in error.errors()]
        more = f"; and {len(told) - _ERRORS} more" if len(told) > _ERRORS else ""
        raise Malformed("; ".join(told[:_ERRORS]) + more) from None


def _objects(answer: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    at, tries = answer.find("{"), 0
    while at >= 0 and tries < _MAX_TRIES:
        try:
            found, end = decoder.raw_decode(answer, at)
        except (ValueError, RecursionError):
            end = at + 1
            tries += 1
        else:
            yield found
        at = answer.find("{", end)


def _place(path: tuple[int | str, ...]) -> str:
    return ".".join(str(place) for place in path)


def _plain(schema: Any) -> Any:
    """A schema without titles, descriptions and bounds."""
    match schema:
        case dict():
            return {key: _plain(value) for key, value in schema.items() if key not in _LEFT_OUT}
        case list():
            return [_plain(part) for part in schema]
        case _:
            return schema


def _bound(properties: dict[str, Any]) -> None:
    for told in properties.values():
        if told.get("type") == "array":
            told["minItems"] = told["maxItems"] = 1
        elif told.get("type") == "string":
            told["maxLength"] = _SMALL_TEXT
