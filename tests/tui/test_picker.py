"""The picker: what fits comes first, and more arrives while one looks."""

import threading
from collections.abc import Iterator
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from fakes.host import FakeHost, Foreign
from fakes.live_session import live_session
from fakes.screen import make_app, until
from pinfold.tui.panels.picker import Choice, Picker, ranked

CHOICES = [
    Choice("a", "Review the parser", "codex"),
    Choice("b", "Revert the merge", "claude"),
    Choice("c", "Write docs", "codex"),
]


def fits(query: str) -> str:
    return "".join(choice.id for choice in ranked(CHOICES, query))


def test_whole_words_come_in_their_order_then_letters_that_are_near() -> None:
    assert fits("") == "abc"
    assert fits("re the") == "ab"
    assert fits("CODEX") == "ac"
    assert fits("codex doc") == "c"
    assert fits("rvt") == "ba"
    assert fits("vw") == "a"
    assert fits("zz") == ""


def test_a_long_query_of_common_letters_costs_nothing() -> None:
    assert ranked([Choice("x", "e" * 200)], "e" * 50 + "!") == []


def picker(pilot: Pilot[str]) -> Picker:
    assert isinstance(pilot.app.screen, Picker)
    return pilot.app.screen


async def test_it_shows_what_has_been_read_so_far() -> None:
    gate = threading.Event()

    def source() -> Iterator[Choice]:
        yield from (Choice(str(k), f"session {k}") for k in range(50))
        assert gate.wait(30)
        yield Choice("last", "the last one")

    async with make_app(live_session()).run_test() as pilot:
        chosen: list[str | None] = []
        pilot.app.push_screen(Picker("Adopt", source=source), chosen.append)
        await until(pilot, lambda: isinstance(pilot.app.screen, Picker))
        options = picker(pilot).query_one(OptionList)
        await until(pilot, lambda: options.option_count == 50)
        await pilot.press("down")
        gate.set()
        await until(pilot, lambda: options.option_count == 51)
        assert options.highlighted == 1
        await pilot.press(*"last", "enter")
        await until(pilot, lambda: chosen)
        assert chosen == ["last"]


async def test_nothing_to_read_is_said() -> None:
    async with make_app(live_session()).run_test() as pilot:
        pilot.app.push_screen(Picker("Adopt", source=lambda: iter(()), empty="None here."))
        await until(pilot, lambda: isinstance(pilot.app.screen, Picker))
        await until(pilot, lambda: not picker(pilot).query(OptionList))
        assert str(picker(pilot).query_one(Static).content) == "None here."
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, Picker))


async def test_adopt_picks_by_what_was_typed_and_goes_on_in_the_copy() -> None:
    files = Path("/a/first.jsonl"), Path("/a/second.jsonl")
    host = FakeHost(foreign=[Foreign(files[0], "mend it"), Foreign(files[1], "write docs")])
    session = live_session()
    async with make_app(session, host=host).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"/adopt docs", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Picker))
        options = picker(pilot).query_one(OptionList)
        await until(pilot, lambda: options.option_count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: session.closed)
        assert host.adopted == [files[1]]
        assert host.opened == ["resume 0197f3a2-adopted"]
