"""`snapshot` with the embedded model itself: what it writes under the grammar is accepted."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

import pytest

from fakes.compactions import OPTIONS, session
from fakes.summarizer import ScriptedSummarizer
from pinfold.compaction.engine import plan_with
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategies.snapshot import Snapshot
from pinfold.ports.provider import PartDone, Request
from pinfold.providers.embedded import Embedded, available
from pinfold.rollout.context import Context
from pinfold.rollout.items import Item

pytestmark = pytest.mark.real_model


class Embedding(ScriptedSummarizer):
    """A summarizer that asks the embedded model."""

    def __init__(self, provider: Embedded) -> None:
        model = available()
        assert model
        super().__init__(room=model.context_window - model.max_output - 64, model=model)
        self._provider = provider

    async def __call__(
        self,
        instructions: str,
        text: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        item = Item(n=1, kind="user", content=text)
        context = Context(instructions=instructions)
        request = Request(self.model, context, (item,), schema=schema, max_output=max_tokens)
        async with aclosing(self._provider.stream(request)) as stream:
            parts = [event.content async for event in stream if isinstance(event, PartDone)]
        return "".join(parts)


@pytest.fixture
async def embedded() -> AsyncIterator[Embedded]:
    provider = Embedded()
    yield provider
    await provider.close()


async def test_a_snapshot_of_the_embedded_model_is_accepted_and_not_empty(
    embedded: Embedded,
) -> None:
    view = session(4, output=12).view(3_000, 512)
    told = await Snapshot().prepare(view, Embedding(embedded), OPTIONS)
    assert [entry for entry in told.entries if not entry.unsupported]
    plan = plan_with("snapshot", view, told, OPTIONS, strategies=house())
    assert plan.strategy == "snapshot"
    assert plan.inserted[0].detail["entries"]
