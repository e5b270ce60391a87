"""What the window and the find bar look like in `snapshots/test_transcript_window_screens/`."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from fakes.live_session import LiveSession, live_session
from fakes.screen import make_app, until
from fakes.transcripts import call
from pinfold.rollout.events import ItemsMarked, PinsChanged, WindowReplaced
from pinfold.rollout.items import Form, Item
from pinfold.rollout.values import PlanBase, Sizes
from pinfold.tui.transcript.view import Transcript

Snap = Callable[..., bool]


def history() -> LiveSession:
    tests = "\n".join(f"tests/test_{i}.py PASSED" for i in range(30))
    session = live_session(
        items=[
            Item(n=1, kind="user", content="The config is empty on the second read. Why?"),
            Item(n=2, kind="assistant", content="Because `read()` starts at the end of it."),
            *call(3, "read_file", {"path": "app/config.py"}, "line\n" * 79 + "line"),
            Item(n=5, kind="user", content="Never change the public API."),
            *call(6, "shell", {"command": "pytest"}, tests, exit_code=0, seconds=1.2),
            Item(n=8, kind="assistant", content="All of the tests pass."),
            Item(n=9, kind="user", content="Then fix it."),
        ]
    )
    session.append(PinsChanged(add=(5,)))
    kept: tuple[tuple[int, Form], ...] = (*((n, "full") for n in (10, 5, 6, 7, 8, 9)),)
    made = Item(n=10, kind="checkpoint", content="Task: fix the second read of the config")
    session.append(
        WindowReplaced(
            generation=1,
            base=PlanBase(0, 9),
            reason="threshold",
            strategy="checkpoint",
            window=kept,
            inserted=(made,),
            tokens=Sizes(42_000, 11_000),
        )
    )
    session.append(Item(n=11, kind="assistant", content="I read the file once, into memory."))
    session.append(ItemsMarked(items=((7, "masked"), (8, "placeholder"))))
    return session


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (50, 36)], ids="{0[0]}x{0[1]}".format)
def test_window(snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see, at the left edge, a pinned item (⚑), a masked call and its result (◐), a
    folded reply (○, grey), and a rule where window 1 begins, with its checkpoint below. In the
    larger ones also grey items that are archived (·)."""
    session = history()

    async def show(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)
        await pilot.pause()

    assert snap_compare(make_app(session), terminal_size=size, run_before=show)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids="{0[0]}x{0[1]}".format)
def test_find(snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see the find bar above the prompt, `20/30`, matches underlined, the current one
    reversed in a card that was opened for it, the cursor beside it."""
    session = history()

    async def show(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        transcript = pilot.app.screen.query_one(Transcript)
        await pilot.press(*"passed")
        await until(pilot, lambda: transcript.tally == (1, 30))
        for match in range(2, 21):
            await pilot.press("down")
            await until(pilot, lambda match=match: transcript.tally == (match, 30))
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(make_app(session), terminal_size=size, run_before=show)


def test_nothing_found(snap_compare: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    """You should read, without any colour, that nothing was found."""
    monkeypatch.setenv("NO_COLOR", "1")
    session = history()

    async def show(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await pilot.press(*"rumpelstilzchen")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=show)
