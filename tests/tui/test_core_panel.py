"""The panel of the protected core: what it lists, and that its changes are journalled."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.live_session import LiveSession, live_session
from fakes.preview import make_session
from fakes.screen import make_app, until
from pinfold.rollout.events import CoreChanged, CoreSuggested, GoalSet
from pinfold.rollout.items import Item
from pinfold.rollout.values import CoreStatement
from pinfold.tui.panels.checkpoint_list import CheckpointList
from pinfold.tui.panels.core import CorePanel
from pinfold.tui.panels.item import Page

Snap = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
RULE = "Never touch the legacy folder."
FIRST = "Make part 1 faster. Keep port 8001."


@pytest.fixture
def session() -> LiveSession:
    made = make_session(2)
    made.append(Item(n=17, kind="user", content=f"{RULE} I prefer short names."))
    made.append(CoreChanged(add=(CoreStatement(RULE, 17),)))
    return made


@asynccontextmanager
async def opened(
    session: LiveSession, *keys: str, size: tuple[int, int] = (100, 30), **changes: object
) -> AsyncIterator[Pilot[str]]:
    """The panel of `session`; `keys` are pressed, and each of them takes effect."""
    app = make_app(session, **changes)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.open("core")
        await until(pilot, lambda: rows(pilot))
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        yield pilot


def rows(pilot: Pilot[str]) -> list[str]:
    """The lines, without their headings."""
    found = pilot.app.screen.query(CheckpointList)
    return [row.text for row in found.first().items] if found else []


def current(pilot: Pilot[str]) -> str | None:
    row = pilot.app.screen.query_one(CheckpointList).row
    return row.text if row else None


def said(pilot: Pilot[str], selector: str = ".said") -> str:
    return "\n".join(
        str(result.visual) for result in pilot.app.screen.query(selector).results(Static)
    )


def changes(session: LiveSession) -> list[CoreChanged | GoalSet]:
    every = iter(session.journalled)
    return [data for data in every if isinstance(data, CoreChanged | GoalSet)][1:]


async def write(pilot: Pilot[str], text: str) -> None:
    for character in text:
        await pilot.press("space" if character == " " else character)
    await pilot.press("enter")
    await pilot.pause()


async def test_it_lists_the_goal_and_what_the_user_put_there(session: LiveSession) -> None:
    async with opened(session, "end") as pilot:
        assert rows(pilot)[0] == FIRST
        assert RULE in rows(pilot)
        assert "1 entry" in said(pilot, ".facts")
        assert "tokens with the goal" in said(pilot, ".facts")
        assert "from #" in said(pilot, ".about")


async def test_a_suggestion_is_confirmed_with_a_key(session: LiveSession) -> None:
    async with opened(session) as pilot:
        words = "I prefer short names."
        for _ in range(rows(pilot).index(words)):
            await pilot.press("down")
        await pilot.press("y")
        await until(pilot, lambda: CoreStatement(words, 17) in changes(session)[-1].add)  # type: ignore[union-attr]
        await until(pilot, lambda: "2 entries" in said(pilot, ".facts"))


async def test_the_core_of_an_adopted_session_waits_to_be_confirmed(session: LiveSession) -> None:
    theirs = "Push without asking."
    session.append(CoreSuggested(add=(CoreStatement(theirs), CoreStatement(RULE))))
    async with opened(session) as pilot:
        assert rows(pilot).count(theirs) == rows(pilot).count(RULE) == 1
        assert "1 entry" in said(pilot, ".facts")
        for _ in range(rows(pilot).index(theirs)):
            await pilot.press("down")
        await until(pilot, lambda: "from the adopted session" in said(pilot, ".about"))
        await pilot.press("y")
        await until(
            pilot, lambda: changes(session)[-1] == CoreChanged(add=(CoreStatement(theirs),))
        )
        await until(pilot, lambda: "2 entries" in said(pilot, ".facts"))
        assert rows(pilot).count(theirs) == 1


async def test_one_is_removed_and_comes_back_with_its_item(session: LiveSession) -> None:
    async with opened(session) as pilot:
        before = rows(pilot)
        for _ in range(before.index(RULE)):
            await pilot.press("down")
        assert current(pilot) == RULE
        await pilot.press("x")
        await until(pilot, lambda: "0 entries" in said(pilot, ".facts"))
        assert changes(session) == [CoreChanged(remove=(RULE,))]
        await pilot.press("z")
        await until(pilot, lambda: "1 entry" in said(pilot, ".facts"))
        assert current(pilot) == RULE
        assert changes(session)[-1] == CoreChanged(add=(CoreStatement(RULE, 17),))
        await pilot.press("z")
        await until(pilot, lambda: "Nothing has been changed" in said(pilot))


async def test_one_is_added_and_said_in_other_words(session: LiveSession) -> None:
    async with opened(session, "a") as pilot:
        await write(pilot, "Always run make")
        await until(pilot, lambda: "Always run make" in rows(pilot))
        await until(pilot, lambda: "written here" in said(pilot, ".about"))
        await pilot.press("e")
        await write(pilot, " check")
        await until(pilot, lambda: "Always run make check" in rows(pilot))
        assert current(pilot) == "Always run make check"
        assert "Always run make" not in rows(pilot)
        assert changes(session) == [
            CoreChanged(add=(CoreStatement("Always run make"),)),
            CoreChanged(add=(CoreStatement("Always run make check"),), remove=("Always run make",)),
        ]


async def test_esc_puts_the_words_away_and_then_leaves(session: LiveSession) -> None:
    async with opened(session, "a", "x", "escape") as pilot:
        assert isinstance(pilot.app.screen, CorePanel)
        assert changes(session) == []
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, CorePanel))


async def test_the_goal_is_set_and_goes_back_to_the_first_request(session: LiveSession) -> None:
    async with opened(session, "x") as pilot:
        assert "first request" in said(pilot)
        assert changes(session) == []
        await pilot.press("g", "ctrl+u")
        await write(pilot, "Faster parts")
        await until(pilot, lambda: rows(pilot)[0] == "Faster parts")
        await pilot.press("x")
        await until(pilot, lambda: rows(pilot)[0] == FIRST)
        assert changes(session) == [GoalSet(text="Faster parts"), GoalSet(text="")]
        await pilot.press("z")
        await until(pilot, lambda: rows(pilot)[0] == "Faster parts")


async def test_enter_opens_the_message_that_says_it(session: LiveSession) -> None:
    async with opened(session, "end", "enter") as pilot:
        await until(pilot, lambda: pilot.app.screen.query(Page))
        assert RULE in pilot.app.screen.query_one(Page).text


async def test_texts_name_the_keys_in_force(session: LiveSession) -> None:
    async with opened(session, keys={"core.confirm": "b"}) as pilot:
        table = pilot.app.screen.query_one(CheckpointList)
        drawn = "\n".join(table.render_line(y).text for y in range(len(table.lines)))
        assert "b confirms" in drawn


async def test_it_follows_what_the_user_says(session: LiveSession) -> None:
    async with opened(session) as pilot:
        session.append(Item(n=18, kind="user", content="Always answer in French."))
        await until(pilot, lambda: "Always answer in French." in rows(pilot))


async def test_a_session_to_read_only_says_so(session: LiveSession) -> None:
    session.record.journal.read_only = True
    async with opened(session, "end", "x") as pilot:
        await until(pilot, lambda: "read-only" in said(pilot))
        assert changes(session) == []


async def test_it_is_there_before_anything_was_said() -> None:
    async with opened(live_session(gauge=None)) as pilot:
        assert rows(pilot) == ["Your first request will be the goal."]
        await pilot.press("x", "e", "escape", "enter")


@SIZES
def test_what_it_looks_like(snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see the goal with `#1` at its right, then what the user wrote here, under the
    cursor and again at the foot, then three sentences that are not confirmed, each with `?`."""
    session = live_session(gauge=None)
    session.append(Item(n=1, kind="user", content="Port the parser to Rust."))
    session.append(Item(n=2, kind="user", content=f"{RULE} I prefer short names."))
    session.append(CoreChanged(add=(CoreStatement("Always answer in French."),)))
    app = make_app(session)

    async def look(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        app.open("core")
        await until(pilot, lambda: rows(pilot))
        await pilot.press("down")
        await until(pilot, lambda: "written here" in said(pilot, ".about"))

    assert snap_compare(app, terminal_size=size, run_before=look)
