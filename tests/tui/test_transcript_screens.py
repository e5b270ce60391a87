"""What the transcript looks like. The pictures are in `snapshots/test_transcript_screens/`."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from fakes.transcripts import REPLY, Host, conversation
from pinfold.ports.provider import CallDelta, ReasoningDelta, TextDelta
from pinfold.rollout.items import Item

Snap = Callable[..., bool]


@pytest.mark.parametrize("size", [(120, 70), (80, 24), (50, 20)], ids="{0[0]}x{0[1]}".format)
def test_conversation(snap_compare: Snap, size: tuple[int, int]) -> None:
    """You should see the end of a session: item numbers in the gutter (but not at 50 columns), a
    reply with heading, list, code, table and quote, a checkpoint, the user's own command, and a
    reply marked as interrupted. At 120x70 also cards: read and grep as one row each, an edit with
    its diff, commands that passed, failed (✗) and were refused (⊘)."""

    async def show(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Host)
        app.transcript.load(conversation())
        await pilot.pause()

    assert snap_compare(Host(), terminal_size=size, run_before=show)


def test_streaming(snap_compare: Snap) -> None:
    """You should see a prompt, three rows of reasoning under "thinking", half a reply whose code
    is already coloured, and a call whose command is still being written."""

    async def show(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Host)
        transcript = app.transcript
        transcript.append(Item(n=1, kind="user", content="Why is the config empty?"))
        transcript.stream(ReasoningDelta("One.\nTwo.\nThree.\nFour, the newest."))
        transcript.stream(TextDelta(REPLY[: REPLY.index("  # once")]))
        transcript.stream(CallDelta(0, "shell", '{"command": "pytest -x tes'))
        transcript.flush()
        await pilot.pause()

    assert snap_compare(Host(), terminal_size=(80, 24), run_before=show)


def test_cursor_and_notes(snap_compare: Snap) -> None:
    """You should see the cursor as a bar beside item 9, whose 40 lines are open, and, at the
    end, a note, a warning (!) and an error (✗) of the shell without numbers."""

    async def show(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Host)
        transcript = app.transcript
        transcript.load(item for item in conversation() if item.n in (1, 9, 10))
        transcript.note("The model is now gpt-5.")
        transcript.note("The context window is assumed.", "warning")
        transcript.note("No connection to the server.", "error")
        transcript.focus()
        await pilot.pause()
        await pilot.press("up", "enter", "pagedown", "pagedown")
        await pilot.pause()

    assert snap_compare(Host(), terminal_size=(80, 24), run_before=show)


def test_without_colour(snap_compare: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    """You should see, in greys alone, who speaks (▌), how calls ended (● ✗ ⊘) and what a diff
    adds and removes (+ -)."""
    monkeypatch.setenv("NO_COLOR", "1")

    async def show(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Host)
        app.transcript.load(item for item in conversation() if item.n < 15)
        await pilot.pause()

    assert snap_compare(Host(), terminal_size=(80, 40), run_before=show)
