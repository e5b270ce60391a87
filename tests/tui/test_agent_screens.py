"""Agents on the screen. Pictures: `snapshots/test_agent_screens/`."""

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from fakes.agents import WRITES, four_agents
from fakes.live_session import LiveSession
from fakes.screen import make_app, until
from pinfold.agent.updates import ChildChanged
from pinfold.tui.agent_view import AgentView
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.panels.agents_list import AgentsList
from pinfold.tui.transcript.view import Transcript

Snap = Callable[..., bool]
Before = Callable[[Pilot[str]], Awaitable[None]]
SIZES = pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids="{0[0]}x{0[1]}".format)


@pytest.fixture
def session() -> LiveSession:
    return four_agents()


async def four(pilot: Pilot[str], session: LiveSession) -> None:
    """The four have cards."""
    await until(pilot, lambda: session.approver is not None)
    shown = pilot.app.screen.query_one(Transcript)
    session.enter("tools")
    for number in (1, 2, 3, 4):
        session.tell(ChildChanged(number))
    await until(pilot, lambda: "The model is down" in drawn(shown))


def drawn(shown: Transcript) -> str:
    return "\n".join(shown.render_line(y).text for y in range(shown.size.height))


@SIZES
def test_cards(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see four cards: a1 and a2 work, each with a row that says what it does, without
    an empty row between; a2 asks (a question mark) and is to create a file; a3 is done, names
    two changed files and its reply; a4 has failed, and says why. The status line counts two."""

    async def before(pilot: Pilot[str]) -> None:
        await four(pilot, session)

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)  # type: ignore[arg-type]


@SIZES
def test_opened(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see the transcript of a1 explore below a line that says whose it is, what it took
    so far, and that it is read-only; its own gauge; no prompt. A card asks for agent a2."""

    async def before(pilot: Pilot[str]) -> None:
        await four(pilot, session)
        session.ask(WRITES)
        await until(pilot, lambda: pilot.app.screen.query(ApprovalCard))
        pilot.app.show_agent(1)  # type: ignore[attr-defined]
        await until(pilot, lambda: "Two callers" in drawn(opened(pilot)))

    def opened(pilot: Pilot[str]) -> Transcript:
        views = pilot.app.screen.query(AgentView)
        return views.first().transcript if views else Transcript()

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)  # type: ignore[arg-type]


@SIZES
def test_panel(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see four agents with their signs, tokens, cost and time, then the two that can be
    started, with where they are from. The foot says what a2 is about to do."""

    async def before(pilot: Pilot[str]) -> None:
        await four(pilot, session)
        pilot.app.open("agents")  # type: ignore[attr-defined]
        await until(pilot, lambda: pilot.app.screen.query(AgentsList))
        await pilot.press("down")
        await pilot.pause()

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)  # type: ignore[arg-type]
