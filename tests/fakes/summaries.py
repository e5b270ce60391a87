"""Answers of a model that writes `summary_v1`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

FIELDS = (
    *("decisions", "constraints", "open_questions", "todo", "files_in_scope", "symbols"),
    *("assumptions", "known_failures", "gone"),
)


def entry(*evidence: tuple[int, str], known: str = "", **value: str) -> dict[str, Any]:
    """One entry; `known` is the id of the one that it changes."""
    cited = [{"item": item, "quote": quote} for item, quote in evidence]
    return {"id": known, "evidence": cited, **value}


def answer(task: Mapping[str, Any] | None = None, **fields: Sequence[Mapping[str, Any]]) -> str:
    """What the model answers; fields that are not given are empty."""
    assert set(fields) <= set(FIELDS)
    told = {name: list(fields.get(name, ())) for name in FIELDS}
    return json.dumps({"task": task or entry(text=""), **told})
