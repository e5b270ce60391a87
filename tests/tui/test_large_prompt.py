"""A prompt over a quarter of the window is asked about, and what was typed is never lost."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from fakes.live_session import EMBEDDED, LiveSession, live_session
from fakes.provider import says
from fakes.screen import CWD, make_app, survived, until
from pinfold.ports.provider import ModelInfo
from pinfold.tui.app import PinfoldApp
from pinfold.tui.panels.large import LargePanel
from pinfold.tui.prompt.editor import Editor

LOG = "\n".join(f"{n}: took {n * 7 % 91} s" for n in range(1, 5_001))
SMALL = ModelInfo("small", "p", 16_000, "table", max_output=2_000)
TYPED = "why? [pasted 5,000 lines #1]"


def make_session(folder: Path, model: ModelInfo = SMALL) -> LiveSession:
    return live_session(root=folder, model=model, cwd=CWD)


@asynccontextmanager
async def asked(
    app: PinfoldApp, session: LiveSession, text: str = LOG
) -> AsyncIterator[Pilot[str]]:
    """A question and a log were sent."""
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"why? ")
        editor(pilot).post_message(events.Paste(text))
        await until(pilot, lambda: "pasted" in editor(pilot).text)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LargePanel))
        yield pilot


def editor(pilot: Pilot[str]) -> Editor:
    return pilot.app.screen_stack[0].query_one(Editor)


async def test_it_is_attached_as_a_file(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    answers = asyncio.Event()
    session.provider.script = [[answers, *says("It was slow.")]]
    app = make_app(session)
    async with asked(app, session) as pilot:
        assert not session.sent
        await pilot.press("enter")
        await until(pilot, lambda: session.sent)
        [file] = (session.folder / "outputs").iterdir()
        assert file.read_text(encoding="utf-8") == LOG + "\n"
        assert session.sent[0].startswith("why? 1: took 7 s\n2: took 14 s\n")
        assert str(file) in session.sent[0]
        assert editor(pilot).text == ""
        await until(pilot, lambda: "kept&#160;in" in app.export_screenshot())
        answers.set()
        await pilot.press("up")
        assert editor(pilot).value == f"why? {LOG}"


@pytest.mark.parametrize("keys", [["2"], ["down", "enter"]])
async def test_it_is_sent_cut(tmp_path: Path, keys: list[str]) -> None:
    session = make_session(tmp_path)
    async with asked(make_app(session), session) as pilot:
        await pilot.press(*keys)
        await until(pilot, lambda: session.sent)
        assert session.sent[0].startswith("why? 1: took 7 s\n")
        assert session.sent[0].endswith("5000: took 56 s")
        assert "lines left out" in session.sent[0]


async def test_it_goes_back_into_the_prompt(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    async with asked(make_app(session), session) as pilot:
        for key in ("escape", "4", "ctrl+c"):
            await pilot.press(key)
            await until(pilot, lambda: editor(pilot).text)
            assert editor(pilot).text == TYPED
            assert editor(pilot).value == f"why? {LOG}"
            assert not session.sent
            assert not (session.folder / "outputs").exists()
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, LargePanel))


async def test_it_is_edited(tmp_path: Path) -> None:
    """In the user's own editor; without a terminal to leave for it, it stays in the prompt."""
    session = make_session(tmp_path)
    app = make_app(session)
    async with asked(app, session) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: "editor&#160;did&#160;not&#160;start" in app.export_screenshot())
        assert editor(pilot).text == TYPED


async def test_it_is_sent_whole_where_it_fits(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    text = ("word " * 20 + "\n") * 250
    async with asked(make_app(session), session, text) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: session.sent)
        assert session.sent == [f"why? {text}".rstrip()]


async def test_prompts_behind_it_keep_their_order(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    async with asked(make_app(session), session) as pilot:
        session.enter("streaming")
        shell = pilot.app.screen_stack[0]
        shell.post_message(Editor.Sent("next", ()))
        await pilot.pause()
        assert session.queue == ()
        await pilot.press("1")
        await until(pilot, lambda: len(session.queue) == 2)
        assert [prompt.text[:4] for prompt in session.queue] == ["why?", "next"]


async def test_one_that_waited_for_the_session_is_asked_about_too(tmp_path: Path) -> None:
    session, ready = make_session(tmp_path), asyncio.Event()
    app = make_app(session, ready=ready)
    async with app.run_test(size=(80, 24)) as pilot:
        editor(pilot).post_message(events.Paste(LOG))
        await until(pilot, lambda: editor(pilot).text)
        await pilot.press("enter")
        ready.set()
        await until(pilot, lambda: isinstance(app.screen, LargePanel))
        await pilot.press("escape")
        await until(pilot, lambda: editor(pilot).value == LOG)


async def test_who_leaves_finds_it_as_the_draft(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    async with asked(make_app(session), session) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: session.closed)
    assert session.draft().text == f"why? {LOG}"


async def test_a_file_that_cannot_be_written_leaves_it_in_the_prompt(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    (session.folder / "outputs").write_text("in the way")
    app = make_app(session)
    async with asked(app, session) as pilot:
        await pilot.press("1")
        await until(pilot, lambda: "Not&#160;sent" in app.export_screenshot())
        assert editor(pilot).text == TYPED


async def test_a_failure_of_ours_leaves_it_in_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(tmp_path)

    async def attach(_: object) -> None:
        raise LookupError

    monkeypatch.setattr(session.large, "attach", attach)
    app = make_app(session)
    async with asked(app, session) as pilot:
        await pilot.press("1")
        await until(pilot, lambda: editor(pilot).text == TYPED)
        survived(app)


def test_large_panel(snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    """You should see how large the prompt is, and four numbered ways: attach, cut, edit, cancel."""
    session = make_session(tmp_path)
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=send(session))


def test_large_panel_of_a_model_without_tools(
    snap_compare: Callable[..., bool], tmp_path: Path
) -> None:
    """You should see that the model could not read a file, and no way that attaches one."""
    session = make_session(tmp_path, EMBEDDED)
    app = make_app(session)
    assert snap_compare(app, terminal_size=(120, 40), run_before=send(session))


def send(session: LiveSession) -> Callable[[Pilot[str]], object]:
    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)
        editor(pilot).post_message(events.Paste(LOG))
        await until(pilot, lambda: editor(pilot).text)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LargePanel))

    return before
