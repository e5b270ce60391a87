"""No failure of the screen's own ends it: it is said in one line, and the details are kept."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from fakes.live_session import live_session
from fakes.screen import make_app, survived, until
from pinfold.agent.updates import Told
from pinfold.tui.app import PinfoldApp
from pinfold.tui.error_log import MOST, ErrorLog
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.status_line import StatusLine

pytestmark = pytest.mark.usefixtures("painted")


class Faulty(Widget):
    """Fails in the way that it is told to."""

    class Poked(Message):
        pass

    broken = False
    way = ""

    def fail(self) -> None:
        raise LookupError(f"no such row {self.way}".strip())

    async def fail_later(self) -> None:
        self.fail()

    def on_faulty_poked(self) -> None:
        self.fail()

    @work
    async def fail_at_work(self) -> None:
        self.fail()

    @work(thread=True)
    def fail_in_a_thread(self) -> None:
        self.fail()

    def render(self) -> Text:
        if self.broken:
            self.fail()
        return Text("sound")

    def break_down(self) -> None:
        self.broken = True
        self.refresh()

    def break_layout(self) -> None:
        self.broken = True
        self.styles.height = "auto"
        self.refresh(layout=True)


class FaultyPanel(ModalScreen[None]):
    BINDINGS = [("escape", "dismiss(None)", "")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield Static("first")
        raise LookupError("no such row")


WAYS: dict[str, Callable[[PinfoldApp, Faulty], Any]] = {
    "handler": lambda _, faulty: faulty.post_message(Faulty.Poked()),
    "timer": lambda _, faulty: faulty.set_timer(0.001, faulty.fail),
    "interval": lambda _, faulty: faulty.set_interval(0.001, faulty.fail),
    "worker": lambda _, faulty: faulty.fail_at_work(),
    "thread": lambda _, faulty: faulty.fail_in_a_thread(),
    "call": lambda app, faulty: app.call_later(faulty.fail),
    "next": lambda app, faulty: app.call_next(faulty.fail),
    "after": lambda app, faulty: app.call_after_refresh(faulty.fail),
    "loop": lambda *args: asyncio.get_running_loop().call_soon(args[1].fail),
    "paint": lambda _, faulty: faulty.break_down(),
    "layout": lambda _, faulty: faulty.break_layout(),
    "panel": lambda app, _: app.push_screen(FaultyPanel()),
}


def drawn(app: PinfoldApp) -> str:
    return app.export_screenshot().replace("&#160;", " ")


async def test_a_failure_anywhere_leaves_the_screen_at_work(tmp_path: Path) -> None:
    session = live_session()
    log = tmp_path / "errors.log"
    app = make_app(session, errors=log)
    async with app.run_test(size=(110, 48)) as pilot:
        await until(pilot, lambda: session.approver)
        editor = app.screen.query_one(Editor)
        for count, (way, fail) in enumerate(WAYS.items(), 1):
            faulty = Faulty()
            faulty.way = way
            await app.screen.mount(faulty)
            await pilot.press("a")
            fail(app, faulty)
            await until(pilot, lambda n=count: log.exists() and traces(log) >= n)
            if way == "panel":
                await pilot.press("escape")
            await faulty.remove()
            await pilot.press("b")
            assert editor.text == "ab" * count
            assert traces(log) == count, way
            assert f"LookupError: no such row {way if way != 'panel' else ''}" in drawn(app)
        await pilot.press("enter")
        assert session.sent == ["ab" * len(WAYS)]
        assert log.stat().st_mode & 0o777 == 0o600
        survived(app)


def traces(log: Path) -> int:
    return log.read_text(encoding="utf-8").count("Traceback")


async def test_the_line_names_the_log(tmp_path: Path) -> None:
    session = live_session()
    log = tmp_path / "errors.log"
    app = make_app(session, errors=log)
    async with app.run_test(size=(240, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        app.call_later(Faulty().fail)
        await until(pilot, log.exists)
        assert str(log) in drawn(app)
        assert app.failure.endswith(f"LookupError: no such row. Details: {log}")
        assert "in fail" in log.read_text(encoding="utf-8")
        survived(app)


async def fail_twice(pilot: Pilot[str], app: PinfoldApp) -> None:
    status = app.screen.query_one(StatusLine)
    faulty = Faulty()
    for _ in range(2):
        status.hint = ""
        app.call_later(faulty.fail)
        await until(pilot, lambda: status.hint)


async def test_a_failure_that_comes_again_is_logged_once_and_hinted_at_again(
    tmp_path: Path,
) -> None:
    session = live_session()
    log = tmp_path / "errors.log"
    app = make_app(session, errors=log)
    async with app.run_test(size=(110, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        await fail_twice(pilot, app)
        assert log.read_text(encoding="utf-8").count("Traceback") == 1
        assert drawn(app).count("please report it") == 1
        survived(app)


async def test_a_log_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    session = live_session()
    app = make_app(session, errors=tmp_path)  # a folder
    async with app.run_test(size=(240, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        app.call_later(Faulty().fail)
        await until(pilot, lambda: "could not be written" in drawn(app))
        survived(app)


async def test_what_the_session_tells_reaches_it_even_where_the_screen_fails(
    tmp_path: Path,
) -> None:
    """A listener that raises would fail the turn."""
    session = live_session()
    log = tmp_path / "errors.log"
    app = make_app(session, errors=log)
    async with app.run_test(size=(110, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        session.tell(Told("odd", level=None))  # type: ignore[arg-type]
        session.tell(None)  # type: ignore[arg-type]
        await until(pilot, log.exists)
        survived(app)


async def test_a_prompt_that_could_not_be_handed_over_is_back_in_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = live_session()
    log = tmp_path / "errors.log"

    def send(*_: object) -> None:
        raise LookupError("no such row")

    monkeypatch.setattr(session, "send", send)
    app = make_app(session, errors=log)
    async with app.run_test(size=(110, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"hello", "enter")
        await until(pilot, log.exists)
        assert app.screen.query_one(Editor).text == "hello"
        survived(app)


@pytest.mark.parametrize("text", ["one", "one\ntwo", "one\n"])
async def test_ctrl_x_cuts_the_last_line(text: str) -> None:
    session = live_session()
    app = make_app(session)
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        editor = app.screen.query_one(Editor)
        editor.put(text)
        await pilot.press("ctrl+x")
        before, _, last = text.rpartition("\n")
        assert editor.text == text.removesuffix(last)
        assert app.clipboard == last
        await pilot.press(*"more")
        assert before in editor.text


async def test_a_keyboard_that_cannot_be_read_ends_it_with_all_saved(tmp_path: Path) -> None:
    session = live_session()
    log = tmp_path / "errors.log"
    app = make_app(session, errors=log)
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"half")
        app.panic(Text("a traceback"))
        await until(pilot, lambda: session.closed)
    assert session.draft().text == "half"
    assert app.failure.startswith("The keyboard can no longer be read. Details: ")
    assert "a traceback" in log.read_text(encoding="utf-8")


def test_a_large_log_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "home" / "errors.log"
    log = ErrorLog(path)
    assert log.add("x" * MOST)
    assert log.add("again")
    assert log.add("and again")
    assert "x" not in path.read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8").count("again") == 2
