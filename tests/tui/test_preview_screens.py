"""What the preview looks like. Pictures: `snapshots/test_preview_screens/`."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from fakes.host import FakeHost
from fakes.live_session import LiveSession
from fakes.preview import make_session, model
from fakes.screen import make_app, until
from pinfold.tui.panels.item import Page
from pinfold.tui.panels.preview import PreviewPanel
from pinfold.tui.panels.preview_loss import LossPanel
from pinfold.tui.panels.table import Table

Snap = Callable[..., bool]
Before = Callable[[Pilot[str]], Awaitable[None]]


@pytest.fixture
def session() -> LiveSession:
    made = make_session()
    made.compaction.strategy = "checkpoint"
    return made


def opening(session: LiveSession, *keys: str, then: Callable[[Pilot[str]], object]) -> Before:
    """Pin 4, open the preview and plan, press `keys`, wait for `then`."""

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        if not session.record.window.pins:
            await session.window.act("pin", [4])
        pilot.app.push_screen(PreviewPanel(session, FakeHost().save_compact))
        await until(pilot, lambda: pilot.app.screen.query(".strategies"))
        await until(pilot, lambda: planned(pilot))
        for key in ("x", *keys):
            await pilot.press(key)
            await until(pilot, lambda: not pilot.app.screen.query(".said") or planned(pilot))
        await until(pilot, lambda: then(pilot))

    return before


def said(pilot: Pilot[str], selector: str) -> str:
    return "\n".join(
        str(result.visual) for result in pilot.app.screen.query(selector).results(Static)
    )


def planned(pilot: Pilot[str]) -> bool:
    return "…" not in said(pilot, ".strategies") and "◐ " not in said(pilot, ".said")


DOWN = ["down"] * 7


@pytest.mark.parametrize(
    "size", [(160, 50), (120, 40), (80, 24), (40, 24)], ids="{0[0]}x{0[1]}".format
)
def test_preview(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see what the window comes to, a bar with what stays, goes, is free and kept for
    the reply, and each strategy with its figures or that it uses the model, checkpoint marked; on
    short screens they stand in two columns. Below, the inserted checkpoint on a green ground, #3
    and #4 pinned, runs of kept and of archived items as a line each, with their tokens and, where
    there is room, the reason; #6 is kept this once, as its foot says. At 160 columns the transcript
    stands at the left, whole; at 40, kinds are letters, and the foot explains them."""
    before = opening(
        session, *DOWN[1:], "K", "x", then=lambda pilot: "Kept this" in said(pilot, ".said")
    )
    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


def test_masked(snap_compare: Snap, session: LiveSession) -> None:
    """You should see old results masked, with a half disc and fewer tokens, nothing inserted, and
    prune marked."""
    before = opening(session, "1", *DOWN, then=lambda pilot: "▸ 1" in said(pilot, ".strategies"))
    assert snap_compare(make_app(session), terminal_size=(100, 30), run_before=before)


def test_no_color(
    snap_compare: Snap, session: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """You should see no colour: verdicts by sign and word, a bar at the cursor."""
    monkeypatch.setenv("NO_COLOR", "1")
    before = opening(session, *DOWN, then=planned)
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_refused(snap_compare: Snap) -> None:
    """You should read that pins alone exceed the model, by how much, and that all strategies are
    refused; below, the window as it is, to unpin something."""
    session = make_session()
    session.compaction.strategy = "checkpoint"

    async def before(pilot: Pilot[str]) -> None:
        await session.window.act("pin", ["src/**"])
        session.model = model(4_000)
        await opening(session, then=planned)(pilot)

    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_steps(snap_compare: Snap, session: LiveSession) -> None:
    """You should see, in the last line, that the new window is being written."""

    async def before(pilot: Pilot[str]) -> None:
        await opening(session, then=planned)(pilot)
        session.compaction.gate = asyncio.Event()
        await pilot.press("a")
        await until(pilot, lambda: "◐ writing" in said(pilot, ".said"))

    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_loss(snap_compare: Snap, session: LiveSession) -> None:
    """You should see what would be lost, by kind, the item of each at the right; the second is
    items restored."""
    narrow = replace(session.compaction.options, target_pct=0.02, tail_bound=True, filled=0.1)
    session.compaction.options = narrow

    async def before(pilot: Pilot[str]) -> None:
        await opening(session, "l", then=lambda p: isinstance(p.app.screen, LossPanel))(pilot)
        await until(pilot, lambda: pilot.app.screen.query_one(Table).lines)
        await pilot.press("down", "K")

    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_text(snap_compare: Snap, session: LiveSession) -> None:
    """You should see the checkpoint's text, ready to scroll."""
    before = opening(session, "enter", then=lambda pilot: pilot.app.screen.query(Page))
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)


def test_edit(snap_compare: Snap, session: LiveSession) -> None:
    """You should see the checkpoint's text with a cursor at its beginning."""
    before = opening(session, "e", then=lambda pilot: pilot.app.screen.query(TextArea))
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)
