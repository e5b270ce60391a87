"""Undo goes back to where a session was adopted, and no further."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.foreign import codex_session
from fakes.provider import FakeClock, says
from pinfold.adopt import codex, own
from pinfold.adopt.set_up import folding, set_up
from pinfold.rollout import codec
from pinfold.rollout.events import (
    Data,
    Event,
    ItemAdded,
    ItemsMarked,
    PinsChanged,
    SessionStarted,
    WindowReplaced,
)
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import PlanBase
from pinfold.window.refused import Refused

OURS: list[Data] = [
    SessionStarted(schema=1, id="s", cwd="/nowhere", version="1"),
    ItemAdded(item=Item(n=1, kind="user", content="Fix the test.")),
    ItemAdded(item=Item(n=2, kind="assistant", content="Fixed.", response=1)),
    PinsChanged(add=(1,)),
    ItemsMarked(items=((2, "placeholder"),)),
    WindowReplaced(
        generation=1,
        base=PlanBase(0, 5),
        reason="threshold",
        window=((1, "full"), (2, "placeholder")),
    ),
]


def ours() -> Sequence[Event]:
    now = FakeClock().now
    lines = [codec.encode(Event(seq, now(), data)) for seq, data in enumerate(OURS, 1)]
    return own.read_lines(lines, Path("rollout.jsonl")).events


def codexs() -> Sequence[Event]:
    adoption = codex.read_lines(codex_session().encoded(), Path("rollout.jsonl"))
    return (*adoption.events, folding(adoption, set_up(adoption)))


async def opened(root: Path, adopted: Sequence[Event]) -> Stage:
    store = SessionStore(root / "home")
    return await stage(
        root,
        [says("Yes.")],
        journal=lambda: store.adopt(adopted, root / "work", "1", FakeClock().now),
    )


@pytest.mark.parametrize("adopted", [codexs(), ours()], ids=["codex", "pinfold"])
async def test_what_came_with_the_file_is_not_undone(
    tmp_path: Path, adopted: Sequence[Event]
) -> None:
    at = await opened(tmp_path, adopted)
    before = at.session.window.items
    with pytest.raises(Refused, match="nothing to undo"):
        await at.session.window.undo()
    assert at.session.window.items == before


@pytest.mark.parametrize("adopted", [codexs(), ours()], ids=["codex", "pinfold"])
async def test_what_is_done_here_is_undone_after_a_restart_too(
    tmp_path: Path, adopted: Sequence[Event]
) -> None:
    at = await opened(tmp_path, adopted)
    await at.session.window.set_goal("Go on.")
    n = max(item.n for item in at.session.window.items)
    await at.session.window.act("pin", [n])
    folder = at.session.folder
    await at.session.close()
    again = await stage(tmp_path, [], journal=lambda: Journal.open(folder, at.clock.now))
    assert await again.session.window.undo() == f"the pin of #{n}"
    with pytest.raises(Refused, match="nothing to undo"):
        await again.session.window.undo()


async def test_a_copy_of_its_first_items_undoes_only_what_is_done_there(tmp_path: Path) -> None:
    at = await opened(tmp_path, ours())
    await at.session.close()
    fork, _ = SessionStore(tmp_path / "home").fork(at.session.folder, 2, at.clock.now)
    copy = await stage(tmp_path, [], journal=lambda: fork)
    await copy.session.window.act("pin", [2])
    assert await copy.session.window.undo() == "the pin of #2"
    with pytest.raises(Refused, match="nothing to undo"):
        await copy.session.window.undo()
