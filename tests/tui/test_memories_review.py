"""The review of a consolidation that waits: accept, edit or reject each change."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from fakes.host import FakeHost
from fakes.memories import ONE, FakeMemories, remembered
from fakes.preview import make_session
from fakes.screen import make_app, until
from pinfold.memories import applying, trees
from pinfold.memories.applying import ConsolidationResult
from pinfold.memories.places import MEMORY
from pinfold.tui.panels.memories_review import ReviewPanel
from pinfold.tui.panels.table import Table

Snap = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
LAST = f"- fact: The port is 8001. [{ONE}#3]\n"


@pytest.fixture
def memories(tmp_path: Path) -> FakeMemories:
    """A consolidation waits that rewords the rule and adds a fact at the end."""
    made = remembered(tmp_path / "home", "/home/ada/wc")
    places = made.keeper.places
    live = trees.read(places.files)
    text = live[MEMORY].decode()
    changed = text.replace("Run the tests with", "Run all tests with").replace(
        "\n## Unconfirmed", f"{LAST}\n## Unconfirmed"
    )
    result = ConsolidationResult(made_at=0.0, by="model", held=True, proven=4, doubts=())
    with places.locked():
        applying.store(places, applying.outputs(live), live | {MEMORY: changed.encode()}, result)
    return made


@asynccontextmanager
async def opened(memories: FakeMemories, *keys: str) -> AsyncIterator[Pilot[str]]:
    session = make_session(2)
    app = make_app(session, host=FakeHost(memories=memories))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(ReviewPanel(memories.keeper))
        await until(pilot, lambda: changes(pilot) == 2)
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        yield pilot


def changes(pilot: Pilot[str]) -> int:
    found = pilot.app.screen.query(Table)
    return len(found.first().lines) if found else 0


def text(memories: FakeMemories) -> str:
    return (memories.keeper.places.files / MEMORY).read_text()


async def test_one_change_is_accepted_and_the_other_rejected(memories: FakeMemories) -> None:
    async with opened(memories, "a") as pilot:
        await until(pilot, lambda: changes(pilot) == 1)
        assert "Run all tests with" in text(memories)
        assert LAST not in text(memories)
        await pilot.press("d")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ReviewPanel))
        assert LAST not in text(memories)
        assert memories.keeper.pending() is None


async def test_a_change_is_accepted_in_the_users_words(memories: FakeMemories) -> None:
    async with opened(memories, "down", "e") as pilot:
        area = pilot.app.screen.query_one(TextArea)
        assert area.text == LAST
        area.text = "- The port is 9000."
        await pilot.press("ctrl+s")
        await until(pilot, lambda: changes(pilot) == 1)
        assert "- The port is 9000.\n" in text(memories)


async def test_all_are_rejected(memories: FakeMemories) -> None:
    before = text(memories)
    async with opened(memories, "D") as pilot:
        await until(pilot, lambda: not isinstance(pilot.app.screen, ReviewPanel))
        assert text(memories) == before


@SIZES
def test_review_panel(memories: FakeMemories, snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see two changes of MEMORY.md, below them the first as a diff, then the keys."""

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(ReviewPanel(memories.keeper))
        await until(pilot, lambda: changes(pilot) == 2)

    session = make_session(2)
    app = make_app(session, host=FakeHost(memories=memories))
    assert snap_compare(app, terminal_size=size, run_before=before)
