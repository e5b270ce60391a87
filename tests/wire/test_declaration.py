"""Tools as OpenAI's models see them. The counts are what its servers reported for these tools."""

import pytest

from pinfold.rollout.context import Context, ToolSchema
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts
from pinfold.wire.responses.declaration import declaration

EDIT = ToolSchema(
    "edit",
    "Change a file.\nIt must exist.",
    {
        "description": "One change.",
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "mode": {"enum": ["all", "one"], "default": "one"},
            "lines": {"type": "array", "items": {"type": "integer"}},
            "limit": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "note": {"type": ["string", "null"]},
            "range": {
                "type": "object",
                "properties": {"start": {"type": "integer"}},
                "required": ["start"],
            },
            "more": {"type": "object"},
            "any": {},
            "odd": None,
        },
        "required": ["path"],
    },
)
DECLARED = """\
// Change a file.
// It must exist.
type edit = (_: // One change.
{
// Where.
path: string,
mode?: "all" | "one", // default: "one"
lines?: number[],
limit?: number | null,
note?: string | null,
range?: {
start: number,
},
more?: object,
any?: any,
}) => any;
"""
LOAD = ToolSchema(
    "load_capability",
    "Load a capability to access its full instructions and tools.",
    {
        "additionalProperties": False,
        "description": "Typed arguments for a `load_capability` tool call.",
        "properties": {
            "id": {"description": "The id of the capability to load.", "type": "string"}
        },
        "required": ["id"],
        "type": "object",
    },
)


def test_a_tool_is_declared_as_a_function_type() -> None:
    assert declaration(EDIT) == DECLARED


@pytest.mark.parametrize("parameters", [{}, {"type": "object"}, {"properties": []}])
def test_a_tool_without_parameters_takes_nothing(parameters: dict[str, object]) -> None:
    assert declaration(ToolSchema("stop", "", parameters)) == "type stop = () => any;\n"


def test_the_count_is_the_one_that_the_server_reported() -> None:
    counter = Counter("o200k_base")
    counter.load()
    parts = context_parts(counter, Context(tools=(LOAD,)), "responses")
    assert sum(parts.values()) == pytest.approx(2 + 64, abs=2)
