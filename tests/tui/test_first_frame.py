"""A start shows at once what the screen showed last time, and takes what is typed meanwhile."""

import asyncio
import pty
import sys
import termios
from collections.abc import Iterator
from os import close, read, write
from pathlib import Path

import pytest
from msgspec import json
from msgspec.structs import replace

from fakes.live_session import live_session
from fakes.openai_server import FakeOpenAI, Reply
from fakes.process import Pinfold
from fakes.screen import make_app, until
from fakes.terminal import RealTerminal
from pinfold.agent.clock import CLOCK
from pinfold.host.app_context import AppContext, app_context
from pinfold.host.first_frame import Frame, Frames, Place
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.tui.early_screen import EarlyScreen, EchoedLine, make_raw, rest_of_paste

LOOK, CURSOR = "\x1b[0;1m", "\x1b[0;7m"
PLACE = Place(x=4, y=1, width=8, look=LOOK, cursor=CURSOR)
ROWS = (((("hello", LOOK),)), (("> ask me", LOOK),))


@pytest.fixture
def ctx(home: Path) -> AppContext:
    assert home
    return app_context()


def frame(made_for: list[str]) -> Frame:
    return Frame(made_for, ROWS, PLACE)


@pytest.fixture
def made_for(ctx: AppContext) -> list[str]:
    return list(Frames(ctx).made_for(80, 24, "pinfold"))


def test_a_frame_is_shown_again_only_where_all_is_the_same(
    ctx: AppContext, made_for: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = Frames(ctx)
    frames.save(frame(made_for))
    assert frames.load(made_for) == replace(frame(made_for), rows=[[*row] for row in ROWS])
    assert frames.load([*frames.made_for(81, 24, "pinfold")]) is None
    assert frames.load([*frames.made_for(80, 24, "other")]) is None
    assert frames.load(made_for, "") is None  # no session was closed here
    other = ctx.cwd / "other"
    other.mkdir()
    assert Frames(ctx.in_folder(other)).load(made_for) is None
    monkeypatch.setenv("PINFOLD_APPROVALS__MODE", "read-only")
    assert [*Frames(app_context()).made_for(80, 24, "pinfold")] != made_for
    monkeypatch.setenv("TERM", "dumb")
    assert [*frames.made_for(80, 24, "pinfold")] != made_for


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": [[("\x1b]52;c;aGk=\x07", LOOK)]]},
        {"rows": [[("a\nb", LOOK)]]},
        {"rows": [[("a", "\x1b[2J")]]},
        {"prompt": replace(PLACE, look="\x1b]0;title\x07")},
        {"prompt": replace(PLACE, cursor="\x1b[0;7m\x1b[2J")},
    ],
)
def test_a_frame_that_would_do_more_than_show_text_is_not_shown(
    ctx: AppContext, made_for: list[str], changes: dict[str, object]
) -> None:
    Frames(ctx).save(frame(made_for))
    (file,) = ctx.home.glob("first_frames/*/*.json")
    file.write_bytes(json.encode(replace(frame(made_for), **changes)))
    assert Frames(ctx).load(made_for) is None
    file.write_bytes(b"[" * 100_000)
    assert Frames(ctx).load(made_for) is None


def asked(ctx: AppContext) -> Path:
    """The folder of a session with a prompt."""
    with ctx.store.create(ctx.cwd, "0", CLOCK.now) as journal:
        journal.append(ItemAdded(item=Item(n=1, kind="user", content="go")))
        return journal.folder


def test_the_frame_of_a_session_is_true_until_that_goes_on_or_another_begins(
    ctx: AppContext, made_for: list[str]
) -> None:
    frames = Frames(ctx)
    folder = asked(ctx)
    frames.save(frame(made_for), folder)
    found = frames.load(made_for, folder.name[:8])
    assert found is not None
    assert found.session == str(folder)
    assert frames.load(made_for, "another") is None
    assert frames.load(made_for) is None  # that of a new session

    rollout = folder / "rollout.jsonl"
    before = rollout.read_bytes()
    rollout.write_bytes(before + b"more\n")
    assert frames.load(made_for, "") is None
    rollout.write_bytes(before)
    assert frames.load(made_for, "") is not None
    frames.forget()
    assert frames.load(made_for, "") is None

    asked(ctx)
    frames.save(frame(made_for), folder)
    assert frames.load(made_for, "") is None


# What is typed meanwhile


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ("hi", "hi"),
        ("hi\x7f", "h"),
        ("far too long", "far too"),  # the screen wraps it
        ("?", ""),
        ("a\rb", "a"),
        ("über", "über"),
        ("a漢", "a"),
        ("\x1b[Aup", ""),
    ],
)
def test_plain_keys_are_echoed_up_to_the_first_other(keys: str, shown: str) -> None:
    line = EchoedLine(PLACE)
    written = [line.type(key) for key in keys]
    last = next((text for text in reversed(written) if text), "")
    rest = " " * (PLACE.width - len(shown) - 1)
    assert last == (f"\x1b[2;5H{LOOK}{shown}{CURSOR} {LOOK}{rest}\x1b[0m" if shown else "")


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The user's end and the program's."""
    ends = pty.openpty()
    yield ends
    for end in ends:
        close(end)


def read_until(end: int, text: bytes) -> bytes:
    seen = b""
    while text not in seen:
        seen += read(end, 4096)
    return seen


@pytest.mark.timeout(30)
def test_the_terminal_is_as_before_once_it_is_left(terminal: tuple[int, int]) -> None:
    user, program = terminal
    before = termios.tcgetattr(program)
    early = EarlyScreen(frame([]), program, program)
    early.show()
    assert b"> ask me" in read_until(user, b"ask me")
    assert not termios.tcgetattr(program)[3] & termios.ECHO
    write(user, b"hi")
    read_until(user, b"hi" + CURSOR.encode())
    early.leave()
    assert b"\x1b[?1049l" in read_until(user, b"\x1b[?25h")
    assert termios.tcgetattr(program) == before
    early.leave()  # does nothing more


@pytest.mark.timeout(30)
def test_what_was_typed_before_is_as_it_would_have_come(terminal: tuple[int, int]) -> None:
    user, program = terminal
    before = termios.tcgetattr(program)
    write(user, b"go\r")
    read_until(user, b"go\r\n")
    assert make_raw(program) == b"go\r"
    termios.tcsetattr(program, termios.TCSANOW, before)
    write(user, b"one\rtwo\r")
    read_until(user, b"two\r\n")
    assert make_raw(program) == b"\x1b[200~one\ntwo\n\x1b[201~"  # nobody types that fast


@pytest.mark.timeout(30)
def test_a_paste_that_comes_in_two_parts_is_one(terminal: tuple[int, int]) -> None:
    user, program = terminal
    make_raw(program)
    write(user, b"two\x1b[201~x")
    assert rest_of_paste(b"\x1b[200~one", program) == b"two\x1b[201~x"
    assert rest_of_paste(b"plain", program) == b""


@pytest.mark.timeout(30)
def test_what_was_typed_is_handed_over(terminal: tuple[int, int]) -> None:
    user, program = terminal
    early = EarlyScreen(frame([]), program, program)
    before = termios.tcgetattr(program)
    early.show()
    write(user, b"hi")
    read_until(user, b"hi" + CURSOR.encode())
    assert early.is_shown
    assert early.hand_over() == (b"hi", before)
    assert not early.is_shown


# The screen


async def test_a_screen_with_a_panel_or_a_draft_is_no_first_frame(ctx: AppContext) -> None:
    app = make_app(live_session(items=[Item(n=1, kind="assistant", content="so")]))
    app.frames = Frames(ctx)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app._session)
        editor = app._shell.editor
        drawn = app.draw_frame(editor)
        assert drawn is not None
        assert drawn.is_harmless
        assert any("so" in text for row in drawn.rows for text, _ in row)
        place = drawn.prompt
        assert (place.x, place.y) == editor.content_region.offset
        await pilot.press("x")
        assert app.draw_frame(editor) is None
        await pilot.press("backspace", "f1")
        await until(pilot, lambda: len(app.screen_stack) > 1)
        assert app.draw_frame(editor) is None


async def test_the_next_start_shows_what_the_last_one_left_and_loses_no_key(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI([Reply("Quite so.", piece=20), Reply("Indeed.", piece=20)]) as server:
        pinfold = Pinfold(tmp_path, **Pinfold.on(server.url))

        def session(first: bytes, *arguments: str) -> bytes:
            """One session, in which this is typed at once. What was shown before the engine."""
            argv = [sys.executable, "-m", "pinfold", *arguments]
            terminal = RealTerminal(argv, pinfold.env, pinfold.work)
            try:
                if arguments:
                    terminal.type(first)
                shown = terminal.until(b"\x1b[?1000h")  # Textual has the terminal
                if not arguments:
                    terminal.type(first)
                terminal.until(b"Indeed." if arguments else b"Quite so.")
                terminal.type(b"\x04")
                terminal.until(b"Session saved")
                return shown
            finally:
                terminal.close()

        await asyncio.to_thread(session, b"is it?\r")
        shown = await asyncio.to_thread(session, b"really?\r", "--continue")
        assert b"Quite so." in shown
        asked_of_model = [str(body) for body in server.bodies]
    assert "is it?" in asked_of_model[0]
    assert "really?" in asked_of_model[-1]
