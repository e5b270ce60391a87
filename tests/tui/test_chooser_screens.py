"""What the lists of sessions and of prompts look like, in `snapshots/test_chooser_screens/`."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from fakes.host import USED, FakeHost, FakeTexts, Line
from fakes.live_session import LiveSession, live_session
from fakes.screen import CWD, make_app, until
from pinfold.catalog.catalog import LastExchange
from pinfold.commands.look_back import LookBack
from pinfold.rollout.events import ArtifactObserved, Event, ItemAdded
from pinfold.rollout.items import Item
from pinfold.tools.restore import Undo, changes
from pinfold.tui.panels.rewind import RewindPanel
from pinfold.tui.panels.sessions import SessionsPanel
from pinfold.tui.panels.undo_files import UndoPanel

Snap = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])

TITLES = (
    "Why does words() count empty strings?",
    "Add --json to the command line, with one object a line and a test for each field of it",
    "Read the configuration once and keep the bytes",
    "Mend the roof",
)
LINES = [
    Line(str(n), title, turns=3 * n + 1, updated_at=USED - timedelta(hours=7 * n))
    for n, title in enumerate(TITLES)
]
SAID = LastExchange(
    "Can it print the line numbers too, when --lines is given?",
    "Yes. `--lines` now numbers them from 1:\n\n    $ wc --lines a.txt\n    1 one\n    2 two\n\n"
    "The test is in tests/test_lines.py, and an empty string prints nothing.",
)
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def seen(uri: str, op: str, n: int) -> ArtifactObserved:
    backup = None if op == "create" else "0"
    return ArtifactObserved(uri=uri, kind="file", op=op, hash=str(n), backup=backup, item=n)  # type: ignore[arg-type]


PAST = LookBack(
    Event(seq, AT + timedelta(minutes=seq), data)
    for seq, data in enumerate(
        (
            ItemAdded(item=Item(n=1, kind="user", content=TITLES[0])),
            seen("wc/counter.py", "update", 2),
            ItemAdded(item=Item(n=9, kind="user", content=TITLES[1])),
            seen("wc/json.py", "create", 10),
            seen("wc/counter.py", "update", 11),
            seen("wc/old.py", "delete", 12),
            ArtifactObserved(uri="cmd:make", kind="command", op="run", item=13),
            ItemAdded(item=Item(n=104, kind="user", content=TITLES[2] + "\nand close it")),
        ),
        1,
    )
)


def above(
    panel: Screen[object], session: LiveSession, *keys: str
) -> Callable[[Pilot[str]], Awaitable[None]]:
    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)
        pilot.app.push_screen(panel)
        await until(pilot, lambda: pilot.app.screen is panel)
        await pilot.press(*keys)
        await pilot.pause(0.2)

    return before


@SIZES
def test_sessions(snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see this folder's sessions, newest first; where it is wide, the last exchange."""
    session = live_session()
    host = FakeHost(lines=LINES, texts=FakeTexts({"1": SAID}))
    panel = SessionsPanel(host, CWD, lambda: USED + timedelta(hours=1), current="other")
    before = above(panel, session, "down")
    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


@SIZES
def test_sessions_found_by_text(snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see the one session in which the words were said, and where."""
    session = live_session()
    host = FakeHost(lines=LINES, texts=FakeTexts({"1": SAID}))
    panel = SessionsPanel(host, CWD, lambda: USED + timedelta(hours=1), current="other")
    before = above(panel, session, *"numbers them")
    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


@SIZES
def test_prompts(snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see the prompts, newest first, with the files changed since each."""
    session = live_session()
    panel = RewindPanel(PAST, AT + timedelta(hours=1))
    before = above(panel, session, "down")
    assert snap_compare(make_app(session), terminal_size=size, run_before=before)


def test_files_to_undo(snap_compare: Snap) -> None:
    """You should see what becomes of each file, which one is left alone, and three choices."""
    session = live_session()
    counter, json, old = changes(
        (
            seen("wc/counter.py", "update", 2),
            seen("wc/json.py", "create", 3),
            seen("wc/old.py", "delete", 4),
        )
    )
    panel = UndoPanel(
        9,
        [
            Undo(counter, Path("a"), "ready"),
            Undo(json, Path("b"), "changed", why="something else changed it since"),
            Undo(old, Path("c"), "impossible", why="its old content is lost"),
        ],
        3,
    )
    before = above(panel, session)
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=before)
