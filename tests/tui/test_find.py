"""The find bar."""

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from fakes.live_session import LiveSession, live_session
from fakes.screen import make_app, type_fast, until
from fakes.transcripts import DIFF, call, shown
from pinfold.rollout.events import WindowReplaced
from pinfold.rollout.items import Form, Item
from pinfold.rollout.values import PlanBase
from pinfold.tui.find import FindBar
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.transcript.search import Needle, lowered
from pinfold.tui.transcript.view import Transcript

OUTPUT = "\n".join(f"row {n}" for n in range(60))


def items() -> list[Item]:
    return [
        Item(n=1, kind="user", content="Where is the Needle?"),
        *call(2, "shell", {"command": "cat hay"}, OUTPUT.replace("row 30", "row 30 needle")),
        *call(4, "edit_file", {"path": "app/config.py", "old_string": "x"}, "ok", diff=DIFF),
        *(Item(n=n, kind="assistant", content=f"Reply {n}. " * 40) for n in range(6, 40)),
        Item(n=40, kind="assistant", content="The **second** needle:\n\n```\nf(**kwargs)\n```"),
    ]


async def ready(pilot: Pilot[str], session: LiveSession) -> Transcript:
    await until(pilot, lambda: session.approver)
    return pilot.app.screen.query_one(Transcript)


async def search(pilot: Pilot[str], text: str) -> str:
    """What the bar tells of `text`."""
    await pilot.press("ctrl+f")
    await until(pilot, lambda: pilot.app.screen.query(FindBar))
    pilot.app.screen.query_one(Input).value = text
    return await told(pilot)


async def told(pilot: Pilot[str]) -> str:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    bar = pilot.app.screen.query_one(FindBar)
    return str(bar.query_one("#tally", Static).visual).split("   ")[0]


def marked(transcript: Transcript) -> str:
    """The text of the current match as it is painted."""
    looks = transcript._column.looks
    assert looks is not None
    return "".join(
        segment.text
        for y in range(transcript.size.height)
        for segment in transcript.render_line(y)
        if segment.style and segment.style.reverse
    )


async def test_each_key_searches_all_that_was_ever_said() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        transcript = await ready(pilot, session)
        await pilot.press("ctrl+f", *"needle")
        assert await told(pilot) == "3/3"
        assert "second needle" in "\n".join(shown(transcript))
        assert marked(transcript) == "needle"


async def test_enter_and_arrows_go_from_match_to_match_and_open_what_is_closed() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        transcript = await ready(pilot, session)
        assert await search(pilot, "needle") == "3/3"
        await pilot.press("enter")
        assert await told(pilot) == "1/3"
        assert marked(transcript) == "Needle"
        await pilot.press("down")
        assert await told(pilot) == "2/3"
        assert any("row 30 needle" in row for row in shown(transcript))
        assert marked(transcript) == "needle"
        await pilot.press("up", "up")
        assert await told(pilot) == "3/3"
        card = transcript._conversation.find(2)
        assert card is not None
        assert card.entry.closed


async def test_esc_leaves_and_stays_at_the_place_with_the_cursor_there() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        transcript = await ready(pilot, session)
        await search(pilot, "row 30")
        before = shown(transcript)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.focused, Editor)
        assert not pilot.app.screen.query_one(FindBar).display
        assert any("row 30 needle" in row for row in shown(transcript))
        assert [row for row in shown(transcript) if row] >= [row for row in before if row][:5]
        assert not marked(transcript)
        assert transcript.current is not None
        assert transcript.current.n == 2


async def test_a_capital_letter_asks_for_the_very_case() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        assert await search(pilot, "Needle") == "1/1"


async def test_nothing_found_is_said() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        assert await search(pilot, "nowhere to be seen") == "nothing found"


@pytest.mark.parametrize("words", ["second needle", "**kwargs", "shell  $ cat hay", "LIMIT = 2"])
async def test_what_can_be_read_is_found(words: str) -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        transcript = await ready(pilot, session)
        assert await search(pilot, words) == "1/1"
        assert marked(transcript) == words


async def test_archived_items_are_found() -> None:
    session = live_session(items=items())
    window: tuple[tuple[int, Form], ...] = ((40, "full"),)
    session.append(
        WindowReplaced(generation=1, base=PlanBase(0, 1), reason="manual", window=window)
    )
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        transcript = await ready(pilot, session)
        assert await search(pilot, "Where is") == "1/1"
        assert any(row.startswith("·  #1▎") for row in shown(transcript))


async def test_slash_in_the_transcript_finds_and_n_goes_on_after_leaving() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        transcript = await ready(pilot, session)
        transcript.focus()
        await pilot.press("up", "slash")
        await until(pilot, lambda: pilot.app.screen.query(FindBar))
        await pilot.press(*"needle")
        assert await told(pilot) == "3/3"
        await pilot.press("escape")
        assert pilot.app.focused is transcript
        await pilot.press("n")
        assert await told(pilot) == "3/3"
        await pilot.press("n")
        assert await told(pilot) == "1/3"
        await pilot.press("N")
        assert await told(pilot) == "3/3"
        await pilot.press("escape")
        assert not pilot.app.screen.query_one(FindBar).display


async def test_what_is_typed_fast_behind_the_slash_is_searched() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        transcript = await ready(pilot, session)
        for words in ("needle", "mnpfc jk/gGN[]"):
            transcript.focus()
            await pilot.press("up")
            type_fast(pilot, "/", *words)
            bar = pilot.app.screen.query_one(Input)
            await until(pilot, lambda bar=bar: pilot.app.focused is bar)
            assert bar.value == words
            assert pilot.app.screen.query_one(Editor).text == ""
            await pilot.press("escape")


async def test_what_was_searched_for_is_selected_when_one_finds_again() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        await pilot.press(*"/find needle", "enter")
        assert await told(pilot) == "3/3"
        for keys in (["escape", *"/find", "enter"], ["ctrl+f"]):
            await pilot.press(*keys)
            await told(pilot)
            assert pilot.app.screen.query_one(Input).selected_text == "needle"
        await pilot.press(*"row 30")
        assert pilot.app.screen.query_one(Input).value == "row 30"
        await pilot.press("ctrl+f")
        await told(pilot)
        assert pilot.app.screen.query_one(Input).selected_text == "row 30"


async def test_find_is_a_command() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        await pilot.press(*"/find needle", "enter")
        await until(pilot, lambda: pilot.app.screen.query(FindBar))
        assert await told(pilot) == "3/3"
        await pilot.press("escape")
        await pilot.press(*"/find", "enter")
        assert await told(pilot) == "3/3"


async def test_what_comes_while_one_searches_counts_too() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        await search(pilot, "needle")
        session.append(Item(n=41, kind="assistant", content="one more needle"))
        await pilot.press("enter")
        assert await told(pilot) == "4/4"


async def test_another_session_ends_the_search() -> None:
    session = live_session(items=items())
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        transcript = await ready(pilot, session)
        await search(pilot, "needle")
        transcript.load([])
        assert transcript.tally == (0, 0)


def test_lower_case_keeps_the_length() -> None:
    assert lowered("İstanbul ABC") == "İstanbul abc"
    assert list(Needle("abc").spans(lowered("İ ABC abc"))) == [(2, 5), (6, 9)]
