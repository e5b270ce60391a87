"""`memory_apply` as a model is told of it."""

from collections.abc import Sequence
from typing import Any

from pinfold.rollout.context import ToolSchema


def _object(required: Sequence[str], **properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


SCHEMA = ToolSchema(
    "memory_apply",
    "Record a fact, a decision or the plan, so that it survives compaction. A fact is recorded as "
    "the words you quote; a decision without the user's words is yours. A plan replaces the one "
    "before: give all of its steps.",
    _object(
        ("kind", "evidence"),
        kind={"type": "string", "enum": ["fact", "decision", "plan"]},
        evidence=_object(
            ("source", "ref"),
            source={"type": "string", "enum": ["user", "file", "tool_output"]},
            ref=_text("#number of a message, path, or id of a call; latest for the newest one"),
            quote=_text("its words, copied exactly"),
        ),
        key=_text("fact: a short name; a fact of the same name is replaced"),
        value=_text("fact: what it says"),
        dependsOn={
            "type": "array",
            "items": {"type": "string"},
            "description": "fact: files that would make it untrue if they changed",
        },
        decision=_text("decision: what was decided"),
        rationale=_text("decision: why"),
        topic=_text("decision: what it is about"),
        supersedes=_text("decision: id of the decision that it replaces"),
        steps={
            "type": "array",
            "items": _object(
                ("id", "text"),
                id={"type": "string"},
                text={"type": "string"},
                done={"type": "boolean"},
            ),
            "description": "plan: its steps in order",
        },
    ),
)
