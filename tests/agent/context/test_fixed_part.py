"""What every request begins with: instructions and tools."""

from typing import get_args

import pytest

from pinfold.agent.calls.memory_tool import MemoryApply
from pinfold.agent.children.built_in import BUILT_IN
from pinfold.agent.children.task import schema_of
from pinfold.agent.context.instructions import own_instructions
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import Context
from pinfold.settings import WireApi
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts
from pinfold.tools.recall import Recall
from pinfold.tools.registry import Web, tools

MOST = 2_600
"""Tokens."""


@pytest.mark.parametrize("wire_api", get_args(WireApi))
def test_it_stays_small(wire_api: WireApi) -> None:
    model = ModelInfo("gpt-5.2", "openai", 272_000, "table")
    task = schema_of(BUILT_IN.values())
    schemas = [Recall.schema, MemoryApply.schema, task, *(tool.schema for tool in tools(web=Web()))]
    counter = Counter("o200k_base")
    counter.load()
    context = Context(instructions=own_instructions(model), tools=tuple(schemas))
    parts = context_parts(counter, context, wire_api)
    assert sum(parts.values()) < MOST, (sum(parts.values()), parts)
