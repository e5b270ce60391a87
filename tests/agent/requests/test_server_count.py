"""The provider's count of the window is kept only while it is of this very window."""

import asyncio
from pathlib import Path

from fakes.agent import stage
from pinfold.ports.provider import Request
from pinfold.rollout.events import ItemAdded, ModelChanged, WindowCounted
from pinfold.rollout.items import Item


async def test_a_count_is_dropped_where_an_item_is_just_being_written(tmp_path: Path) -> None:
    on = await stage(tmp_path, [])
    record = on.session._record
    late = ItemAdded(item=Item(n=2, kind="user", content="Much later. " * 500))
    writing: list[asyncio.Task[object]] = []
    counted = asyncio.Event()

    async def count(_: Request) -> int:
        writing.append(asyncio.create_task(record.append(late)))
        await asyncio.sleep(0)
        counted.set()
        return 70

    on.provider.count = count
    changed = ModelChanged(
        provider="scripted", model="s", context_window=8_192, window_source="config"
    )
    await record.append(ItemAdded(item=Item(n=1, kind="user", content="Hi.")), changed)
    await counted.wait()
    await writing[0]
    await record.append(late)  # behind the count, were there one
    assert not on.events_of(WindowCounted)
    assert on.session.reading().source != "measured"
    await on.session.close()
