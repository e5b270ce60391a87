"""The panel of memories: what it lists, where one comes from, and what its keys do."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.host import FakeHost
from fakes.live_session import LiveSession
from fakes.memories import NOW, ONE, TWO, FakeMemories, remembered
from fakes.preview import make_session
from fakes.screen import make_app, until
from fakes.team_copies import pulled, shared
from pinfold.memories.places import MEMORY, SUMMARY
from pinfold.rollout.events import CoreChanged, MemoryUsed
from pinfold.tui.panels.item import Page
from pinfold.tui.panels.memories import MemoriesPanel
from pinfold.tui.panels.memories_list import MemoriesList

Snap = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
RULE = "Run the tests with `make test`."
LIMIT = "The limit is 40."
CWD = "/home/ada/wc"


@pytest.fixture
def memories(tmp_path: Path) -> FakeMemories:
    return remembered(tmp_path / "home", CWD)


@asynccontextmanager
async def opened(
    memories: FakeMemories, *keys: str, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[Pilot[str]]:
    """The panel over these memories; `keys` are pressed, and each of them takes effect."""
    session = make_session(2)
    app = make_app(session, host=FakeHost(memories=memories))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(MemoriesPanel(session, memories, NOW))
        await until(pilot, lambda: texts(pilot))
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        yield pilot


def panel(pilot: Pilot[str]) -> MemoriesPanel:
    (found,) = (screen for screen in pilot.app.screen_stack if isinstance(screen, MemoriesPanel))
    return found


def texts(pilot: Pilot[str]) -> list[str]:
    found = panel(pilot).query(MemoriesList)
    return [memory.text for memory in found.first().items] if found else []


def said(pilot: Pilot[str], selector: str = ".said") -> str:
    return "\n".join(str(result.visual) for result in panel(pilot).query(selector).results(Static))


async def write(pilot: Pilot[str], text: str) -> None:
    for character in text:
        await pilot.press("space" if character == " " else character)
    await pilot.press("enter")


async def test_it_lists_all_with_source_age_use_and_tokens(memories: FakeMemories) -> None:
    async with opened(memories) as pilot:
        assert texts(pilot)[:2] == [RULE, LIMIT]
        assert len(texts(pilot)) == 5
        view = panel(pilot).query_one(MemoriesList)
        row = "".join(view.render_line(y).text for y in range(3))
        assert "0198ab12#2" in row
        assert "3d" in row
        assert "1×" in row
        assert "! 2 in doubt" in said(pilot, ".facts")  # the file of the limit is not there
        assert "used 1×, last 5h ago" in said(pilot, ".about")


async def test_enter_opens_the_very_item_of_the_old_session(memories: FakeMemories) -> None:
    async with opened(memories, "enter") as pilot:
        await until(pilot, lambda: pilot.app.screen.query(Page))
        text = pilot.app.screen.query_one(Page).text
        assert "Please run the tests with make test, not pytest." in text
        assert "#2 user, session 0198ab12-1234" in text


async def test_forgetting_asks_and_leaves_nothing(memories: FakeMemories) -> None:
    async with opened(memories, "f", "escape") as pilot:
        assert RULE in texts(pilot)
        await pilot.press("f")
        await pilot.pause()
        await pilot.press("y")
        await until(pilot, lambda: "Forgotten" in said(pilot))
        await until(pilot, lambda: RULE not in texts(pilot) and LIMIT not in texts(pilot))
        assert memories.keeper.reader.state.forgotten() == [ONE]
        home = memories.keeper.reader.home / "memories"
        assert all("make test" not in p.read_text() for p in home.glob("*.md"))


async def test_editing_makes_them_the_users_own_words(memories: FakeMemories) -> None:
    async with opened(memories, "e") as pilot:
        await pilot.press("ctrl+a", "ctrl+k")
        await write(pilot, "tox runs all")
        await until(pilot, lambda: "tox runs all" in texts(pilot))
        assert RULE not in texts(pilot)
        home = memories.keeper.reader.home / "memories"
        for name in (SUMMARY, MEMORY):
            assert "- tox runs all\n" in (home / name).read_text()


async def test_what_may_not_hold_is_confirmed(memories: FakeMemories) -> None:
    async with opened(memories, "down") as pilot:
        assert "limits.py no longer contains it" in said(pilot, ".about")
        await pilot.press("y")
        await until(pilot, lambda: "! 1 in doubt" in said(pilot, ".facts"))
        await pilot.press("y")
        await until(pilot, lambda: "Only a memory that may be out of date" in said(pilot))


async def test_editing_what_no_record_bears_out_makes_it_count(memories: FakeMemories) -> None:
    async with opened(memories, "down", "down", "down", "e") as pilot:
        assert "no record confirms it" in said(pilot, ".about")
        await pilot.press("ctrl+a", "ctrl+k")
        await write(pilot, "no moon")
        await until(pilot, lambda: "no moon" in texts(pilot))
        found = {memory.text: memory for memory in memories.keeper.memories(len)}["no moon"]
        assert (found.state, found.folder) == ("told", "/home/ada/site")
        memories.keeper.forget([TWO])
        assert "- no moon\n" in (memories.keeper.places.files / SUMMARY).read_text()


async def test_what_is_in_doubt_is_not_pinned(memories: FakeMemories) -> None:
    async with opened(memories, "down", "p") as pilot:
        await until(pilot, lambda: "Not pinned: limits.py no longer contains it" in said(pilot))


async def test_a_pin_puts_it_into_the_core(memories: FakeMemories) -> None:
    async with opened(memories, "p") as pilot:
        await until(pilot, lambda: "Pinned" in said(pilot))
        session = panel(pilot)._session
        assert isinstance(session, LiveSession)
        changes = [data for data in session.journalled if isinstance(data, CoreChanged)]
        assert [rule.text for rule in changes[-1].add] == [RULE]


async def test_an_export_has_all_of_them(memories: FakeMemories, tmp_path: Path) -> None:
    async with opened(memories) as pilot:
        session = panel(pilot)._session
        assert isinstance(session, LiveSession)
        session.cwd = tmp_path
        await pilot.press("x")
        await until(pilot, lambda: "Exported 5 to pinfold-memories.md" in said(pilot))
        assert RULE in (tmp_path / "pinfold-memories.md").read_text()


async def test_f3_opens_what_the_last_reply_cites(memories: FakeMemories) -> None:
    session = make_session(2)
    app = make_app(session, host=FakeHost(memories=memories))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        session.append(MemoryUsed(item=3, via="citation", sources=(f"{ONE}#2",), sessions=(ONE,)))
        await pilot.press("f3")
        await until(pilot, lambda: app.screen.query(Page))
        assert "not pytest" in app.screen.query_one(Page).text


@SIZES
def test_memories_panel(memories: FakeMemories, snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see the memories of this folder, then those of another, one line each with its
    kind, source, age, use and tokens; one that its file no longer says is marked `!`, one that no
    record bears out `?`. At the foot stands all of the first, and the keys.
    """

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(MemoriesPanel(session, memories, NOW))
        await until(pilot, lambda: texts(pilot))

    session = make_session(2)
    app = make_app(session, host=FakeHost(memories=memories))
    assert snap_compare(app, terminal_size=size, run_before=before)


def test_memories_of_a_team(memories: FakeMemories, snap_compare: Snap) -> None:
    """You should see the user's own memories of this folder, marked `you · payments`, and among
    them two that ben shared, marked `ben · payments`; the cursor is on one of those, and the foot
    says that it was not pinned, since the core is the user's own words.
    """
    keeper = memories.keeper
    lines = [shared("The refund limit is 60."), shared("Deploy on Mondays only.", kind="rule")]
    keeper.teams = pulled(keeper.reader.home, Path(CWD), *lines)
    keeper.teams.copies[0].note_shared(ONE, {f"- rule: {RULE} [{ONE}#2]": "an id"})

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(MemoriesPanel(session, memories, NOW))
        await until(pilot, lambda: texts(pilot))
        await pilot.press("down", "down", "p")
        await until(pilot, lambda: "Not pinned: ben shared it" in said(pilot))

    session = make_session(2)
    app = make_app(session, host=FakeHost(memories=memories))
    assert snap_compare(app, terminal_size=(80, 24), run_before=before)
