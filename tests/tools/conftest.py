import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinfold.ports.tool import Tool, ToolContext, ToolOutcome
from pinfold.tools import registry

Run = Callable[..., Any]


@pytest.fixture
def live() -> list[str]:
    """The pieces of live output, as they came."""
    return []


@pytest.fixture
def context(tmp_path: Path, live: list[str]) -> ToolContext:
    work = tmp_path / "work"
    work.mkdir()
    return ToolContext(work.resolve(), tmp_path / "session", "call_1", live.append)


@pytest.fixture
def work(context: ToolContext) -> Path:
    return context.workspace


@pytest.fixture
def tools() -> dict[str, Tool]:
    """All tools, by the name that the model calls."""
    return {tool.schema.name: tool for tool in registry.tools()}


@pytest.fixture
def run(context: ToolContext, tools: dict[str, Tool]) -> Run:
    """Runs a tool by name, as the session does: reviewed first."""

    async def call(name: str, **arguments: Any) -> ToolOutcome:
        written = json.dumps(arguments)
        tools[name].review(written, context)
        return await tools[name].run(written, context)

    return call
