"""A long session lets go of what left its window; the rollout has it."""

from pathlib import Path

from fakes.provider import FakeClock
from pinfold.agent.record import Record
from pinfold.rollout.events import SCHEMA, ItemAdded, SessionStarted, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import ROLLOUT, Journal
from pinfold.rollout.values import PlanBase
from pinfold.tokens.counter import Counter


async def test_what_a_compaction_takes_out_is_read_from_the_rollout(tmp_path: Path) -> None:
    started = SessionStarted(schema=SCHEMA, id="s", cwd="/", version="1")
    journal = Journal.create(tmp_path / "s", started, FakeClock().now)
    record = Record(journal, Counter("none"), "chat")
    first, second = (Item(n=n, kind="user", content=f"Message {n}.") for n in (1, 2))
    await record.append(ItemAdded(item=first), ItemAdded(item=second))
    await record.append(
        WindowReplaced(generation=1, base=PlanBase(0, 3), reason="manual", window=((2, "full"),))
    )
    path = tmp_path / "s" / ROLLOUT
    path.rename(path.with_name("away"))
    assert record.window.item(2) == second
    assert "can't be read" in record.window.archive[1].content
    path.with_name("away").rename(path)
    await record.append(
        WindowReplaced(
            generation=2, base=PlanBase(1, 4), reason="restore", window=((1, "full"), (2, "full"))
        )
    )
    assert record.window.items == (first, second)
    await record.close()
