"""What the context panel's keys and mouse do to the window, and what it says of it."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Input, Static

from fakes.context import CONTEXT, SMALL, make_session, window
from fakes.live_session import LiveSession, live_session
from fakes.screen import make_app, until
from fakes.servers import FakeServers, ready, server_tool
from pinfold.agent.options import Options
from pinfold.numbers import tokens
from pinfold.rollout.context import FrontMemories
from pinfold.rollout.events import Context, ContextSet
from pinfold.rollout.items import Item
from pinfold.tui.panels.context import ContextPanel
from pinfold.tui.panels.context_footer import Footer
from pinfold.tui.panels.context_table import ContextTable, Titles
from pinfold.tui.panels.item import Page
from pinfold.window.overview import ItemRow

NOW = datetime(2026, 1, 1, 15, tzinfo=UTC)


@pytest.fixture
def session() -> LiveSession:
    return make_session()


@asynccontextmanager
async def opened(session: LiveSession, *keys: str) -> AsyncIterator[Pilot[str]]:
    """The panel on `session`, the cursor on its first item; `keys` are pressed."""
    app = make_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(ContextPanel(session, now=lambda: NOW, sort="order", opened=True))
        await until(pilot, lambda: app.screen.query(ContextTable) and table(pilot).size.width)
        await pilot.press(*["down"] * 4, *keys)
        await pilot.pause()
        yield pilot


def table(pilot: Pilot[str]) -> ContextTable:
    return pilot.app.screen.query_one(ContextTable)


def numbers(pilot: Pilot[str]) -> list[int]:
    """The items that are shown."""
    return [row.n for row in table(pilot).lines if isinstance(row, ItemRow)]


def at(pilot: Pilot[str]) -> int | str:
    """The item under the cursor, or the name of what stands before the window."""
    row = table(pilot).row
    assert row is not None
    return row.n if isinstance(row, ItemRow) else row.name


def drawn(pilot: Pilot[str]) -> str:
    view = table(pilot)
    return "\n".join(view.render_line(y).text.rstrip() for y in range(len(view.lines)))


def foot(pilot: Pilot[str]) -> str:
    lines = pilot.app.screen.query_one(Footer).query(Static)
    return "\n".join(str(line.visual) for line in lines)


def forms(session: LiveSession) -> dict[int, str]:
    """The items that are not as they were."""
    every = session.record.window.forms
    return {n: form for n, form in every.items() if form != "full"}


# Rows


async def test_all_that_the_model_sees_is_listed_in_order(session: LiveSession) -> None:
    async with opened(session) as pilot:
        rows = drawn(pilot).splitlines()
        before = ["instructions", "/repo/AGENTS.md", "environment", "shell"]
        assert [name for name, row in zip(before, rows, strict=False) if name in row] == before
        assert numbers(pilot) == list(range(1, 10))
        assert "result" in rows[6]
        assert "src/config.py" in rows[6]
        assert "2h" in rows[6]
        facts = str(pilot.app.screen.query_one(".facts", Static).visual)
        assert "9 items · compacts at " in facts
        assert "reserved for the reply · window 0" in facts


async def test_it_opens_on_the_largest_items_below_the_fixed_part(session: LiveSession) -> None:
    app = make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(ContextPanel(session, now=lambda: NOW))
        await until(pilot, lambda: app.screen.query(ContextTable) and table(pilot).size.width)
        fixed, *items = table(pilot).lines
        assert fixed.name == "▸ instructions, AGENTS.md, 1 tool"
        sizes = [row.tokens for row in items]
        assert sizes == sorted(sizes, reverse=True)
        assert table(pilot).row is items[0]
        legend = str(app.screen.query_one(".legend", Static).visual)
        assert "━ tool results" in legend
        assert "estimated: counted here" in legend
        await pilot.press("up", "enter")
        names = [row.name for row in table(pilot).lines if not isinstance(row, ItemRow)]
        assert {"instructions", "/repo/AGENTS.md", "environment", "shell"} == {*names}


async def test_what_comes_meanwhile_is_shown_and_the_cursor_stays(session: LiveSession) -> None:
    async with opened(session, "down") as pilot:
        session.append(Item(n=10, kind="assistant", content="Fixed."))
        await until(pilot, lambda: 10 in numbers(pilot))
        assert at(pilot) == 2


async def test_control_characters_never_reach_the_terminal() -> None:
    session = live_session(gauge=None, items=(Item(n=1, kind="user", content="a\x1b[2Jb"),))
    async with opened(session) as pilot:
        assert "\x1b" not in drawn(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query(Page))
        assert "\x1b" not in pilot.app.screen.query_one(Page).text


# The cursor


async def test_the_cursor_moves(session: LiveSession) -> None:
    ways: list[tuple[list[str], int | str]] = [
        (["down"], 2),
        (["j"], 3),
        (["k"], 2),
        (["up"], 1),
        (["end"], 9),
        (["home"], "instructions"),
        (["G"], 9),
        (["down"], 9),
        (["g"], "instructions"),
        (["pagedown"], 9),
        (["pageup"], "instructions"),
    ]
    async with opened(session) as pilot:
        for keys, place in ways:
            await pilot.press(*keys)
            assert at(pilot) == place, keys


@pytest.mark.slow
async def test_long_windows_scroll_with_the_cursor() -> None:
    items = tuple(Item(n=n, kind="user", content=f"request {n}") for n in range(1, 5_001))
    async with opened(live_session(gauge=None, items=items), "end") as pilot:
        view = table(pilot)
        assert at(pilot) == 5_000
        assert "#5000" in view.render_line(view.size.height - 1).text
        await pilot.press("pageup")
        assert at(pilot) == 5_000 - (view.size.height - 1)


# The selection


async def test_items_are_selected(session: LiveSession) -> None:
    ways = [
        (["space"], {1}),
        (["space", "space"], set()),
        (["space", "down", "down", "space"], {1, 3}),
        (["shift+down", "shift+down"], {1, 2, 3}),
        (["shift+down", "shift+down", "shift+up"], {1, 2}),
        (["end", "shift+up"], {8, 9}),
        (["shift+down", "down", "down", "space"], {1, 2, 4}),
        (["v", "down", "down"], {1, 2, 3}),
        (["v", "down", "v", "down"], {1, 2}),
        (["space", "down", "down", "v", "down"], {1, 3, 4}),
        (["a"], set(range(1, 10))),
        (["a", "escape"], set()),
    ]
    async with opened(session) as pilot:
        for keys, selected in ways:
            table(pilot).clear()
            table(pilot).action_edge(-1)
            table(pilot).action_move(4)
            await pilot.press(*keys)
            assert table(pilot).selected == selected, keys


async def test_a_selection_keeps_what_a_filter_hides_and_says_so(session: LiveSession) -> None:
    async with opened(session, "space", "slash", *"shell", "enter", "a") as pilot:
        assert table(pilot).selected == {1, 6, 7}
        await until(pilot, lambda: "3 selected" in foot(pilot))
        assert "1 of them not shown" in foot(pilot)


async def test_esc_drops_the_selection_then_the_filter_then_leaves(session: LiveSession) -> None:
    async with opened(session, "slash", *"shell", "enter", "a") as pilot:
        await pilot.press("escape")
        assert table(pilot).selected == set()
        assert numbers(pilot) == [6, 7]
        await pilot.press("escape")
        assert len(numbers(pilot)) == 9
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, ContextPanel)


async def test_what_is_done_in_a_turn_is_undone_after_it(session: LiveSession) -> None:
    async with opened(session) as pilot:
        session.enter("streaming")
        await pilot.press("f")
        await until(pilot, lambda: "z undoes it once the turn has ended." in foot(pilot))
        session.enter("idle")
        await pilot.press("z")
        await until(pilot, lambda: "Undone" in foot(pilot))


# Sort and filter


async def test_sorts_go_round(session: LiveSession) -> None:
    async with opened(session, "s") as pilot:
        assert [row.tokens for row in table(pilot).lines] == sorted(
            (row.tokens for row in table(pilot).lines), reverse=True
        )
        await pilot.press("s")
        assert numbers(pilot) == list(range(9, 0, -1))
        await pilot.press("s")
        assert numbers(pilot) == [1, 9, 8, 2, 4, 6, 3, 5, 7]
        await pilot.press("s")
        assert numbers(pilot) == list(range(1, 10))


async def test_masked_rows_keep_their_places_until_one_sorts(session: LiveSession) -> None:
    async with opened(session, "s") as pilot:
        places = [*table(pilot).rows]
        table(pilot).go(places.index("5"))
        counted = table(pilot).row.tokens
        await pilot.press("m")
        await until(pilot, lambda: table(pilot).row.tokens < counted)
        saved = counted - table(pilot).row.tokens
        assert f"Masked #5: {tokens(saved)} tokens freed." in foot(pilot)
        assert [*table(pilot).rows] == places
        await pilot.press("down")
        assert table(pilot).current == places[places.index("5") + 1]
        await pilot.press("s", "s", "s", "s")
        assert [*table(pilot).rows] != places


async def test_the_filter_narrows_with_each_key(session: LiveSession) -> None:
    async with opened(session, "slash", *"pro") as pilot:
        assert numbers(pilot) == [5]  # in its text, beyond the first words
        await pilot.press("x")
        assert numbers(pilot) == []
        await until(pilot, lambda: "Nothing matches" in foot(pilot))
        await pilot.press(*["backspace"] * 4, *"user")
        assert numbers(pilot) == [1, 9]


async def test_the_filter_is_left_with_enter_and_dropped_with_esc(session: LiveSession) -> None:
    async with opened(session, "slash", *"user", "enter") as pilot:
        assert pilot.app.focused is table(pilot)
        assert "2 match “user”" in str(pilot.app.screen.query_one(".facts", Static).visual)
        await pilot.press("slash", "escape")
        assert pilot.app.screen.query_one(Input).value == ""
        assert len(numbers(pilot)) == 9
        await pilot.press("slash", "u", "down")
        assert pilot.app.focused is table(pilot)


# Actions


async def test_effects_are_told_before_anything_is_done(session: LiveSession) -> None:
    async with opened(session, "down", "down") as pilot:
        effect = session.window.effect("mask", [3])
        await until(pilot, lambda: "m mask" in foot(pilot))
        assert f"m mask −{effect.saved}" in foot(pilot)
        assert "f fold −" in foot(pilot)
        assert "p pin → " in foot(pilot)
        assert "u: not pinned" in foot(pilot)
        assert "o: neither masked nor folded" in foot(pilot)
        assert not forms(session)


async def test_keys_change_the_window(session: LiveSession) -> None:
    ways: list[tuple[list[str], dict[int, str]]] = [
        (["down", "down", "m"], {3: "masked"}),
        (["z"], {}),
        (["up", "f"], {2: "placeholder", 3: "placeholder"}),
        (["o"], {}),
        (["f", "z"], {}),
        (["shift+down", "shift+down", "shift+down", "m"], {3: "masked", 5: "masked"}),
        (["a", "m"], {3: "masked", 5: "masked", 7: "masked"}),
        (["z", "z"], {}),
    ]
    signs = {"masked": "◐", "placeholder": "○"}
    async with opened(session) as pilot:
        for keys, after in ways:
            await pilot.press(*keys)
            await until(pilot, lambda after=after: forms(session) == after)
            for n, row in enumerate(drawn(pilot).splitlines()[4:], 1):
                shown = {"◐", "○"} & set(row)
                assert shown == ({signs[after[n]]} if n in after else set()), keys


async def test_folds_and_pins_come_and_go_and_are_told_with_the_way_back(
    session: LiveSession,
) -> None:
    async with opened(session, "down", "f") as pilot:
        await until(pilot, lambda: "Folded #2..3: " in foot(pilot))
        assert "tokens freed. z undoes it." in foot(pilot)
        await pilot.press("z")
        await until(pilot, lambda: "Undone: the folding of #2..3." in foot(pilot))
        await pilot.press("p")
        await until(pilot, lambda: "Pinned #2" in foot(pilot))
        assert "⚑" in drawn(pilot).splitlines()[5]
        # From its result, where the pin is not its own.
        await pilot.press("down", "u")
        await until(pilot, lambda: "Unpinned #2" in foot(pilot))
        assert not session.record.window.pins


async def test_unpin_takes_the_glob_that_holds_an_item(session: LiveSession) -> None:
    await session.window.act("pin", ["src/**"])
    async with opened(session, "down") as pilot:
        assert "pinned by src/**" in foot(pilot)
        await pilot.press("u")
        await until(pilot, lambda: "Unpinned src/**" in foot(pilot))


async def test_refusals_are_plain(session: LiveSession) -> None:
    async with opened(session, "end", "f") as pilot:
        await until(pilot, lambda: "✗ #9: it is your latest request" in foot(pilot))
        await pilot.press("home", "p")
        await until(pilot, lambda: "Sent with every request" in foot(pilot))
        assert not forms(session)


async def test_a_session_to_read_only_says_so(session: LiveSession) -> None:
    session.record.journal.read_only = True
    async with opened(session, "down", "f") as pilot:
        await until(pilot, lambda: "open read-only" in foot(pilot))
        await pilot.press("z")
        await pilot.pause()
        assert not forms(session)


async def test_pins_over_half_the_window_are_warned_of() -> None:
    items = (Item(n=1, kind="context", content="word " * 2_400), *list(window())[7:])
    session = live_session(gauge=None, model=SMALL, items=items)
    session.append(ContextSet(hash="h", context=Context()))
    async with opened(session, "home", "down", "down") as pilot:
        assert at(pilot) == 1
        await until(pilot, lambda: "! Pins alone" in foot(pilot))
        await pilot.press("p")
        await until(pilot, lambda: "z undoes it. Pins alone" in foot(pilot))


# Reading and copying


async def test_an_item_opens_with_its_other_half_scrolls_and_names_images(
    session: LiveSession,
) -> None:
    async with opened(session, "down", "enter") as pilot:
        await until(pilot, lambda: pilot.app.screen.query(Page))
        text = pilot.app.screen.query_one(Page).text
        assert "── #2 call read_file ──\npath: src/config.py" in text
        assert "── #3 result read_file ──\nline of code" in text
        await pilot.press("c")
        assert pilot.app.clipboard == text
        page = pilot.app.screen.query_one(Page)
        await pilot.press("j", "down")
        assert page.scroll_offset.y == 2
        await pilot.press("end")
        assert page.scroll_offset.y == page.max_scroll_y > 2
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ContextPanel)
        assert at(pilot) == 2
        await pilot.press("end", "enter")
        await until(pilot, lambda: pilot.app.screen.query(Page))
        assert "[image 1: image/png, 8×6, " in pilot.app.screen.query_one(Page).text


async def test_what_stands_before_the_window_can_be_read(session: LiveSession) -> None:
    pages = [
        "You are pinfold.",
        "Use tabs.\nTest first.",
        "cwd: /repo",
        'Runs a command.\n\n{\n  "type": "object"\n}',
    ]
    async with opened(session, "home") as pilot:
        for text in pages:
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen.query(Page))
            assert pilot.app.screen.query_one(Page).text == text
            await pilot.press("escape", "down")


async def test_copy(session: LiveSession) -> None:
    async with opened(session, "c") as pilot:
        assert pilot.app.clipboard == "Why is the config read twice?"
        assert "Copied it: 29 characters." in foot(pilot)
        await pilot.press("space", *["down"] * 5, "space", "c")
        assert pilot.app.clipboard == "Why is the config read twice?\n\ncommand: pytest"
        await pilot.press("escape", "home", "c")
        assert pilot.app.clipboard == "You are pinfold."


# The mouse, and the way in


async def test_a_click_takes_a_row_one_on_a_heading_sorts_and_two_open(
    session: LiveSession,
) -> None:
    async with opened(session) as pilot:
        await pilot.click(ContextTable, offset=(20, 6))
        assert at(pilot) == 3
        await pilot.click(ContextTable, offset=(20, 8), shift=True)
        assert table(pilot).selected == {3, 4, 5}
        headings = pilot.app.screen.query_one(Titles)
        await pilot.click(Titles, offset=(headings.render_line(0).text.index("tokens"), 0))
        assert table(pilot).lines[0].tokens == max(row.tokens for row in table(pilot).lines)
        await pilot.click(Titles, offset=(headings.render_line(0).text.index("age"), 0))
        assert numbers(pilot)[0] == 9
        await pilot.click(ContextTable, offset=(20, 6), times=2)
        await until(pilot, lambda: pilot.app.screen.query(Page))


async def test_the_wheel_scrolls_and_leaves_the_cursor() -> None:
    items = tuple(Item(n=n, kind="user", content=f"request {n}") for n in range(1, 100))
    async with opened(live_session(gauge=None, items=items)) as pilot:
        before = at(pilot)
        view = table(pilot)
        view.scroll_to(y=40)
        await pilot.pause()
        assert view.scroll_offset.y == 40
        assert at(pilot) == before


async def test_the_command_opens_it_once(session: LiveSession) -> None:
    app = make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        await pilot.press(*"/context", "enter")
        await until(pilot, lambda: isinstance(app.screen, ContextPanel))
        app.open("context")
        await pilot.pause()
        assert len(app.screen_stack) == 2


async def test_own_keys_are_used_and_shown(session: LiveSession) -> None:
    app = make_app(session, keys={"context.mask": "b"})
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.open("context")
        await until(pilot, lambda: app.screen.query(ContextTable) and table(pilot).size.width)
        await pilot.press("x", "s", "s", "s", "home", *["down"] * 6)
        await until(pilot, lambda: "b mask" in foot(pilot))
        await pilot.press("b")
        await until(pilot, lambda: forms(session) == {3: "masked"})


async def test_the_learned_window_is_shown_and_forgotten(session: LiveSession) -> None:
    choice = session._parts.choice
    learned = replace(SMALL, window_source="learned")
    choice.connection = dataclasses.replace(choice.connection, model=learned, unlearned=SMALL)
    async with opened(session) as pilot:
        said = pilot.app.screen.query_one(".facts", Static)
        assert str(said.visual).startswith("window learned (w forgets it) · ")
        await pilot.press("w")
        await until(pilot, lambda: "is forgotten" in foot(pilot))
        assert "learned" not in str(said.visual)
        await pilot.press("w")
        await until(pilot, lambda: "was not learned" in foot(pilot))


async def test_a_server_is_folded_once_its_price_was_seen() -> None:
    lists = ready("git", *(server_tool("git", name) for name in ("log", "diff")))
    options = Options(servers=FakeServers(lists, known=[lists]), servers_budget=1.0)
    session = live_session(options=options, gauge=None)
    await session.count_front()
    app = make_app(session)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(ContextPanel(session, now=lambda: NOW, sort="order", opened=True))
        await until(pilot, lambda: app.screen.query(ContextTable) and table(pilot).size.width)
        await pilot.press("end")
        await until(pilot, lambda: at(pilot) == "mcp__git__diff")
        await until(pilot, lambda: "f folds or unfolds this" in foot(pilot))
        await pilot.press("f")
        await until(pilot, lambda: "nothing is cached yet. f again does it." in foot(pilot))
        await pilot.press("up", "down", "f")
        await until(pilot, lambda: "Folding git/diff" in foot(pilot))
        await pilot.press("f")
        await until(pilot, lambda: "Folded git/diff" in foot(pilot))
        (server,) = session.window.context.servers
        assert [tool.folded for tool in server.tools] == ["", "user"]
        await pilot.press("end", "f", "f")
        await until(pilot, lambda: "Unfolded git/diff" in foot(pilot))


async def test_memories_can_be_folded_and_unfolded(session: LiveSession) -> None:
    told = replace(CONTEXT, memories=FrontMemories("- Run make test."))
    session.append(ContextSet(hash="m", context=told))
    async with opened(session, "up") as pilot:
        assert "memories" in drawn(pilot).splitlines()[3]
        await pilot.press("f")
        await until(pilot, lambda: "Folded the memories" in foot(pilot))
        assert "○" in drawn(pilot).splitlines()[3]
        assert session.window.context.remembered == ""
        await pilot.press("o")
        await until(pilot, lambda: session.window.context.remembered == "- Run make test.")
        assert "○" not in drawn(pilot).splitlines()[3]
