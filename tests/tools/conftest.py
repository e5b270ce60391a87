import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinfold.ports import ToolContext, ToolOutcome
from pinfold.tools.registry import by_name

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
def run(context: ToolContext) -> Run:
    """Runs a tool by name, as the session does: reviewed first."""
    tools = by_name()

    async def call(name: str, **arguments: Any) -> ToolOutcome:
        written = json.dumps(arguments)
        tools[name].review(written, context)
        return await tools[name].run(written, context)

    return call
