"""What the preview's keys do to the plan, and that what it shows is what is applied."""

import asyncio
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from fakes.host import FakeHost
from fakes.live_session import LiveSession
from fakes.preview import SUMMARY, make_session, model, opened, said, settled
from fakes.screen import make_app, until
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.options import Options
from pinfold.agent.updates import Told, Update
from pinfold.compaction.report import KEEPS_MORE, completion
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.items import Item
from pinfold.settings import SettingsError
from pinfold.tokens.prices import Price
from pinfold.tui.panels.item import Page
from pinfold.tui.panels.preview import PreviewPanel
from pinfold.tui.panels.preview_list import PreviewList
from pinfold.tui.panels.preview_loss import LossPanel
from pinfold.tui.panels.preview_rows import PreviewRow
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.write import WritePanel

PRICED = Options(prices={"small": Price(10, 10)})


@pytest.fixture
def session() -> LiveSession:
    made = make_session()
    made.compaction.strategy = "checkpoint"
    return made


def listed(pilot: Pilot[str]) -> PreviewList:
    return pilot.app.screen.query_one(PreviewList)


def rows(pilot: Pilot[str]) -> dict[str, PreviewRow]:
    return listed(pilot).rows


def result(pilot: Pilot[str]) -> list[bool]:
    found: list[bool] = pilot.app.results  # type: ignore[attr-defined]
    return found


def told(session: LiveSession) -> list[str]:
    """What the session tells from now on."""
    heard: list[str] = []

    def hear(update: Update) -> None:
        if isinstance(update, Told):
            heard.append(update.text)

    session.subscribe(hear)
    return heard


# The diff


async def test_both_windows_stand_in_one_list(session: LiveSession) -> None:
    async with opened(session) as pilot:
        shown = list(rows(pilot).values())
        assert shown[0].inserted is not None
        assert shown[0].reason == "made by checkpoint"
        assert [row.n for row in shown[1:]] == list(range(1, 97))
        drawn = "\n".join(listed(pilot).render_line(y).text for y in range(10))
        assert "+ inserted" in drawn
        assert "− archived" in drawn
        assert "−458 older than the tail" in drawn
        archived = [row for row in shown if row.verdict == "archived"]
        assert f"archived {len(archived)} · inserted" in said(pilot, ".line")


async def test_what_takes_another_s_place_stands_beneath_it(session: LiveSession) -> None:
    session.append(Item(n=97, kind="user", content="Why? " * 5_000))
    async with opened(session, "end") as pilot:
        *_, last, cut = rows(pilot).values()
        assert (last.n, last.verdict) == (97, "replaced")
        assert (cut.verdict, cut.reason) == ("inserted", "instead of #97")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query(Page))


async def test_the_figures_of_all_strategies_stand_side_by_side(session: LiveSession) -> None:
    async with opened(session) as pilot:
        lines = said(pilot, ".strategies").splitlines()
        by_name = {line[2:].split()[1]: line for line in lines}
        assert by_name["checkpoint"].startswith("▸ 2")
        assert "remote" not in by_name  # its provider has no endpoint
        for name, line in by_name.items():
            if session.compaction.asks_model(name):
                assert line.endswith("uses the model: Enter runs it")
            else:
                assert "6.7k → " in line
                assert "  free " in line
        assert not session.compaction.asked


async def test_a_model_writes_once_for_however_many_plans(session: LiveSession) -> None:
    session.compaction.summary = "The limit of part 3 is 8003."
    at = session.compaction.strategies.index("handoff")
    async with opened(session, str(at + 1), "enter", *["down"] * 4, "K", "z") as pilot:
        assert session.compaction.asked == ["handoff"]
        assert any("8003" in row.inserted.text for row in rows(pilot).values() if row.inserted)
        await pilot.press("2", str(at + 1))
        await settled(pilot)
        assert session.compaction.asked == ["handoff"]


async def test_while_a_model_writes_its_price_stands_there() -> None:
    session = make_session(options=PRICED)
    session.compaction.answers = [SUMMARY]
    session.compaction.writing.clear()
    at = session.compaction.strategies.index("snapshot")
    async with opened(session) as pilot:
        await pilot.press(str(at + 1), "enter")
        await until(pilot, lambda: "about $0.07" in said(pilot, ".notes"))
        assert KEEPS_MORE in said(pilot, ".notes")
        session.compaction.writing.set()
        await settled(pilot)


async def test_the_others_are_planned_while_a_model_writes(session: LiveSession) -> None:
    session.compaction.answers = [SUMMARY]
    session.compaction.writing.clear()
    names = session.compaction.strategies
    async with opened(session) as pilot:
        panel = pilot.app.screen
        assert isinstance(panel, PreviewPanel)
        panel.read()  # nothing is planned any more
        panel.action_choose(names.index("snapshot"))
        panel.action_read()
        await until(pilot, lambda: said(pilot, ".strategies").count("…") == 1)
        session.compaction.writing.set()
        await settled(pilot)
    assert session.compaction.asked == ["snapshot"]


async def test_only_enter_starts_a_strategy_that_uses_the_model() -> None:
    session = make_session(options=PRICED)
    session.compaction.summary = "The limit of part 3 is 8003."
    focus = replace(session.compaction.options, focus="the parser")
    session.compaction.options = focus
    at = session.compaction.strategies.index("handoff") + 1
    async with opened(session, str(at), "tab", "shift+tab", "a") as pilot:
        assert "handoff uses the model: Enter runs it" in said(pilot, ".line")
        assert "handoff uses the model: Enter runs it." in said(pilot, ".said")
        assert "about $0.07" in said(pilot, ".notes")
        assert "Focus: the parser" in said(pilot, ".notes")
        assert not session.compaction.asked
        await pilot.press("enter")
        await settled(pilot)
        assert session.compaction.asked == ["handoff"]
        assert session.compaction.drafted[-1] == ("handoff", focus)


async def test_a_model_that_failed_says_why_and_is_asked_again_by_its_key(
    session: LiveSession,
) -> None:
    key = str(session.compaction.strategies.index("handoff") + 1)
    async with opened(session, key, "enter") as pilot:
        assert "handoff failed: The model is down." in said(pilot, ".notes")
        assert f"handoff failed. Press {key} to try it again." in said(pilot, ".said")
        session.compaction.summary = "The limit of part 3 is 8003."
        await pilot.press(key)
        await settled(pilot)
        assert session.compaction.asked == ["handoff"]
        await pilot.press("enter")
        await settled(pilot)
        assert "failed" not in said(pilot, ".notes")
        assert session.compaction.asked == ["handoff", "handoff"]


async def test_runs_of_one_verdict_are_a_line_that_opens(session: LiveSession) -> None:
    async with opened(session, runs=False) as pilot:
        inserted, run, *_ = listed(pilot).lines
        assert inserted.inserted
        assert run.verdict == "archived"
        assert run.words.startswith(f"▸ {len(run.run)} items, #1 to #{run.run[-1]}: ")
        assert run.before == sum(
            row.before for row in list(listed(pilot)._all)[1 : 1 + len(run.run)]
        )
        await pilot.press("down", "enter")
        assert listed(pilot).current == "1"
        assert rows(pilot)["4"].verdict == "archived"
        await pilot.press("x", "x")
        assert [row.words for row in listed(pilot).lines][1] == run.words


async def test_strategies_are_switched_at_once(session: LiveSession) -> None:
    async with opened(session) as pilot:
        planned = len(session.compaction.drafted)
        for key, name in (("1", "prune"), ("tab", "checkpoint"), ("shift+tab", "prune")):
            await pilot.press(key)
            await settled(pilot)
            marked = [line for line in said(pilot, ".strategies").splitlines() if "▸" in line]
            assert name in marked[0]
        assert not any(row.inserted for row in rows(pilot).values())
        assert len(session.compaction.drafted) == planned


# Changes


async def test_keeping_an_item_plans_anew_and_the_cursor_stays(session: LiveSession) -> None:
    async with opened(session, *["down"] * 4) as pilot:
        assert rows(pilot)["4"].verdict == "archived"
        await pilot.press("K")
        await settled(pilot)
        assert [rows(pilot)[n].reason for n in ("3", "4")] == ["you keep it"] * 2
        assert listed(pilot).current == "4"
        assert session.compaction.drafted[-1][1].keep == {4}
        # From its other half, it is no longer kept.
        await pilot.press("up", "K")
        await settled(pilot)
        assert rows(pilot)["4"].verdict == "archived"


async def test_folding_out_and_undoing_it(session: LiveSession) -> None:
    async with opened(session, "down", "f") as pilot:
        assert rows(pilot)["1"].reason == "you folded it"
        await pilot.press("K")
        await settled(pilot)
        assert rows(pilot)["1"].reason == "you keep it"
        await pilot.press("z", "z")
        await settled(pilot)
        assert rows(pilot)["1"].verdict == "archived"


async def test_a_run_is_kept_or_folded_as_a_whole(session: LiveSession) -> None:
    async with opened(session, "down", "j", "k", runs=False) as pilot:
        run = listed(pilot).row
        assert run is not None
        assert run.run
        await pilot.press("p")
        assert "Only single items can be pinned. Enter opens the run." in said(pilot, ".said")
        await pilot.press("K")
        await settled(pilot)
        assert session.compaction.drafted[-1][1].keep == {*run.run}
        assert f"Kept this time: {len(run.run)} items" in said(pilot, ".said")
        await pilot.press("z")
        await settled(pilot)
        await pilot.press("f")
        await settled(pilot)
        assert session.compaction.drafted[-1][1].fold == {*run.run}
        await pilot.press("f")
        await settled(pilot)
        assert not session.compaction.drafted[-1][1].fold
        await pilot.press("up", "K")
        assert "Only items of the window" in said(pilot, ".said")


async def test_what_a_strategy_makes_of_the_window_is_said(session: LiveSession) -> None:
    async with opened(session) as pilot:
        assert "checkpoint: a digest of the session" in said(pilot, ".said")
        await pilot.press("1")
        await settled(pilot)
        assert "prune: the same items, old output masked." in said(pilot, ".said")


async def test_pins_that_leave_nothing_to_compact_are_named(session: LiveSession) -> None:
    await session.window.act("pin", list(range(1, 97)))
    async with opened(session) as pilot:
        assert "96 of its 96 items are pinned" in said(pilot, ".notes")
        assert "unpin some of them." in said(pilot, ".notes")


async def test_what_can_t_go_says_why(session: LiveSession) -> None:
    async with opened(session, "end", "f") as pilot:
        assert "#96 stays: your latest request." in said(pilot, ".said")


async def test_pins_are_the_session_s_own_and_stay_with_what_is_applied(
    session: LiveSession,
) -> None:
    async with opened(session, *["down"] * 4, "p") as pilot:
        assert list(session.record.window.pins) == [4]
        assert rows(pilot)["4"].verdict == "pinned"
        await pilot.press("u")
        await settled(pilot)
        assert rows(pilot)["4"].verdict == "archived"
        await pilot.press("p", "a")
        await until(pilot, lambda: result(pilot))
        assert list(session.record.window.pins) == [4]


async def test_a_pin_is_undone_like_all_else(session: LiveSession) -> None:
    async with opened(session, *["down"] * 4, "K", "p") as pilot:
        assert "Pinned #4. z undoes it." in said(pilot, ".said")
        await pilot.press("z")
        await settled(pilot)
        assert not session.record.window.pins
        assert rows(pilot)["4"].reason == "you keep it"
        await pilot.press("z")
        await settled(pilot)
        assert rows(pilot)["4"].verdict == "archived"


async def test_who_leaves_has_the_pins_of_before(session: LiveSession) -> None:
    await session.window.act("pin", [20])
    async with opened(session, *["down"] * 4, "p", "K") as pilot:
        listed(pilot).move(16)
        await pilot.press("u")
        await settled(pilot)
        assert list(session.record.window.pins) == [4]
        await pilot.press("escape")
        await until(pilot, lambda: result(pilot))
        assert result(pilot) == [False]
        assert list(session.record.window.pins) == [20]


@pytest.mark.parametrize("keys", [["escape", "enter"], ["enter", "b"], ["f1"], ["l"]])
async def test_keys_behind_the_one_that_applies_do_not_hold_it_open(
    session: LiveSession, keys: list[str]
) -> None:
    async with opened(session, *["down"] * 4) as pilot:
        session.compaction.gate = asyncio.Event()  # as a journal that is slow
        await pilot.press("a", *keys)
        await until(pilot, lambda: len(pilot.app.screen_stack) == 3)
        session.compaction.gate.set()
        await until(pilot, lambda: result(pilot))
        assert result(pilot) == [True]
        assert len(pilot.app.screen_stack) == 1


async def test_the_text_is_edited_counted_and_applied_once_it_changed(session: LiveSession) -> None:
    async with opened(session) as pilot:
        planned = len(session.compaction.drafted)
        for leaves in (["x", "escape"], ["ctrl+s"]):  # the second saves what was there
            await pilot.press("e")
            await until(pilot, lambda: isinstance(pilot.app.screen, WritePanel))
            await pilot.press(*leaves)
            await until(pilot, lambda: pilot.app.screen.query(PreviewList))
            assert len(session.compaction.drafted) == planned
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, WritePanel))
        pilot.app.screen.query_one(TextArea).text = "Remember the port."
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen.query(PreviewList))
        await settled(pilot)
        first = next(iter(rows(pilot).values()))
        assert (first.words, first.reason) == ("Remember the port.", "as you edited it")
        assert first.after < 20
        await pilot.press("a")
        await until(pilot, lambda: result(pilot) == [True])
        assert session.record.window.items[0].content == "Remember the port."


async def test_the_text_can_be_read_in_full(session: LiveSession) -> None:
    async with opened(session, "enter") as pilot:
        await until(pilot, lambda: pilot.app.screen.query(Page))
        inserted = pilot.app.screen.query_one(Page).text
        await pilot.press("escape", "a")
        await until(pilot, lambda: result(pilot) == [True])
        assert session.record.window.items[0].content == inserted


async def test_what_would_be_lost_can_be_kept_after_all(session: LiveSession) -> None:
    narrow = replace(session.compaction.options, target_pct=0.02, tail_bound=True, filled=0.1)
    session.compaction.options = narrow
    async with opened(session, "l") as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, LossPanel))
        lost = pilot.app.screen.query_one(Table)
        await until(pilot, lambda: lost.lines)
        await pilot.press("K")
        await until(pilot, lambda: "kept with" in lost.lines[0].right)
        n = int(lost.lines[0].right.split("#")[1])
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen.query(PreviewList))
        await settled(pilot)
        assert rows(pilot)[str(n)].reason == "you keep it"
        await pilot.press("l")
        await until(pilot, lambda: isinstance(pilot.app.screen, LossPanel))
        again = pilot.app.screen.query_one(Table)
        await until(pilot, lambda: again.lines)
        assert lost.lines[0].key not in {line.key for line in again.lines}


async def test_a_line_that_was_left_out_can_be_kept(session: LiveSession) -> None:
    narrow = replace(session.compaction.options, target_pct=0.02, tail_bound=True, filled=0.1)
    session.compaction.options = narrow
    async with opened(session, "l") as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, LossPanel))
        lost = pilot.app.screen.query_one(Table)
        await until(pilot, lambda: lost.lines)
        text = lost.lines[0].text
        await pilot.press("space", "escape")
        await until(pilot, lambda: pilot.app.screen.query(PreviewList))
        await settled(pilot)
        assert "Kept this time: 1 line." in said(pilot, ".said")
        assert text in next(iter(rows(pilot).values())).inserted.text


# The end


async def test_the_draft_that_is_shown_is_applied(session: LiveSession) -> None:
    heard = told(session)
    async with opened(session, *["down"] * 4, "K") as pilot:
        shown = list(rows(pilot).values())
        await pilot.press("a")
        await until(pilot, lambda: result(pilot) == [True])
        (applied,) = session.compaction.applied
        stays = [row.n for row in shown if row.n is not None and not row.goes and row.after]
        new = [n for n in session.record.window.forms if n < 97]
        assert set(stays) <= set(new)
        assert completion(applied.plan) in heard
        assert session.record.window.generation == 1


async def test_leaving_leaves_no_trace(session: LiveSession) -> None:
    before = len(session.journalled)
    host = FakeHost()
    async with opened(session, "down", "K", "f", "1", "escape", host=host) as pilot:
        await until(pilot, lambda: result(pilot) == [False])
        assert not host.saved
        assert len(session.journalled) == before
        assert session.compaction.options == PlanOptions()


async def test_defaults_are_saved_without_what_was_for_once(session: LiveSession) -> None:
    host = FakeHost()
    async with opened(session, "down", "K", "1", "d", host=host) as pilot:
        await until(pilot, lambda: "Saved: mode = prune." in said(pilot, ".said"))
        assert host.saved[0][0] == "prune"
        await pilot.press("escape")
        await until(pilot, lambda: result(pilot) == [False])
        assert session.compaction.strategy == "prune"
        assert not session.compaction.options.keep


async def test_what_can_t_be_saved_holds_in_the_session(session: LiveSession) -> None:
    host = FakeHost(trouble=SettingsError("config.toml: Expected ']'"))
    async with opened(session, "1", "d", host=host) as pilot:
        await until(pilot, lambda: "Not saved: config.toml: Expected ']'" in said(pilot, ".said"))
        assert session.compaction.strategy == "prune"


async def test_it_begins_with_what_it_is_given(session: LiveSession) -> None:
    options = replace(session.compaction.options, max_tail_messages=1)
    app = make_app(session)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(PreviewPanel(session, FakeHost().save_compact, "prune", options))
        await until(pilot, lambda: len(session.compaction.drafted) == 3)
        assert session.compaction.drafted[0] == ("prune", options)


# What goes wrong


async def test_nothing_to_gain_is_said_plainly() -> None:
    session = make_session(0)
    session.append(Item(n=1, kind="user", content="Hello."))
    session.compaction.strategy = "checkpoint"
    async with opened(session, "a") as pilot:
        assert "✗" in said(pilot, ".notes")
        assert "nothing to compact" in said(pilot, ".strategies")
        assert "Nothing to compact." in said(pilot, ".said")
        assert [row.verdict for row in rows(pilot).values()] == ["kept"]


async def test_too_many_pins_can_be_undone_right_there() -> None:
    session = make_session()
    await session.window.act("pin", ["src/**"])
    session.model = model(4_000)
    session.compaction.strategy = "checkpoint"
    async with opened(session) as pilot:
        assert "can't be compacted" in said(pilot, ".notes")
        assert "impossible" in said(pilot, ".strategies")
        pinned = next(row for row in rows(pilot).values() if row.verdict == "pinned")
        listed(pilot).move(int(pinned.key) - 1)
        await pilot.press("u")
        await until(pilot, lambda: not session.record.window.pins)
        await settled(pilot)
        assert "can't be compacted" not in said(pilot, ".notes")


async def test_a_failed_write_is_told_and_the_window_is_as_it_was(session: LiveSession) -> None:
    session.compaction.full_disk = True
    async with opened(session, "a") as pilot:
        await until(pilot, lambda: "✗ The disk is full." in said(pilot, ".said"))
        assert not result(pilot)
        session.compaction.full_disk = False
        await pilot.press("a")
        await until(pilot, lambda: result(pilot) == [True])


async def test_nothing_is_applied_by_hand_while_a_turn_runs(session: LiveSession) -> None:
    async with opened(session) as pilot:
        session.enter("streaming")
        await pilot.press("a")
        assert "A turn is running" in said(pilot, ".said")
        session.enter("idle")
        await pilot.press("a")
        await until(pilot, lambda: result(pilot) == [True])


async def test_a_window_that_changes_is_planned_anew(session: LiveSession) -> None:
    async with opened(session) as pilot:
        session.compaction.gate = asyncio.Event()
        session.append(Item(n=97, kind="assistant", content="Done."))
        await pilot.press("a")
        assert not session.compaction.applied
        session.compaction.gate.set()
        await until(pilot, lambda: "97" in rows(pilot))
        await settled(pilot)
        assert "planned" not in said(pilot, ".said")


@pytest.mark.parametrize(
    ("size", "words", "seen"), [((120, 40), 36, 20), ((80, 24), 36, 9), ((60, 18), 18, 4)]
)
async def test_words_have_the_room_and_items_are_in_view(
    session: LiveSession, size: tuple[int, int], words: int, seen: int
) -> None:
    app = make_app(session)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(PreviewPanel(session, FakeHost().save_compact))
        await until(pilot, lambda: app.screen.query(PreviewList))
        await settled(pilot)
        view = listed(pilot)
        assert view.columns["words"] >= words
        assert view.size.height >= seen
        for line in app.screen.query(".line").results(Static):
            assert len(str(line.visual)) <= line.size.width or not line.display


async def test_why_it_opens_for_a_smaller_model_is_said_first(session: LiveSession) -> None:
    session.model = model(6_000)
    async with opened(session, trigger=CompactionTrigger("model")) as pilot:
        assert said(pilot, ".why") == (
            "small takes 4,500 tokens, and this window has 6,707: a makes room, Esc stays."
        )
        session.model = model(16_000)
    async with opened(session) as pilot:
        assert not said(pilot, ".why")


async def test_the_steps_are_shown_as_they_are_taken(session: LiveSession) -> None:
    session.compaction.gate = asyncio.Event()
    app = make_app(session)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(PreviewPanel(session, FakeHost().save_compact))
        await until(pilot, lambda: app.screen.query(PreviewList))
        await until(pilot, lambda: "◐ reading" in said(pilot, ".said"))
        session.compaction.gate.set()
        await settled(pilot)
        session.compaction.gate.clear()
        await pilot.press("a")
        await until(pilot, lambda: "◐ writing" in said(pilot, ".said"))
        await pilot.press("escape")  # too late
        session.compaction.gate.set()
        await until(pilot, lambda: session.compaction.applied)


@pytest.mark.slow
async def test_thousands_of_items_are_drawn_by_view_alone() -> None:
    session = make_session(625, model(200_000))
    session.compaction.strategy = "checkpoint"
    async with opened(session, "end") as pilot:
        assert len(rows(pilot)) == 5_001
        view = listed(pilot)
        assert view.row is not None
        assert view.row.n == 5_000
        assert "#5000" in view.render_line(view.size.height - 1).text


async def test_control_characters_never_reach_the_terminal(session: LiveSession) -> None:
    session.append(Item(n=97, kind="user", content="a\x1b[2Jb"))
    async with opened(session, "end") as pilot:
        view = listed(pilot)
        assert not any("\x1b" in view.render_line(y).text for y in range(view.size.height))


async def test_own_keys_are_used_and_shown(session: LiveSession) -> None:
    app = make_app(session, keys={"preview.keep": "b"})
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(PreviewPanel(session, FakeHost().save_compact))
        await until(pilot, lambda: app.screen.query(PreviewList))
        await settled(pilot)
        await pilot.press("x", *["down"] * 4, "b")
        await until(pilot, lambda: rows(pilot)["4"].reason == "you keep it")
        foot = "\n".join(str(widget.visual) for widget in app.screen.query(Static).results(Static))
        assert "b keep" in foot
