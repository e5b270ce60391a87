"""A session with a window worth compacting, and its preview."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot
from textual.widgets import Static

from fakes.compactions import working
from fakes.host import FakeHost
from fakes.live_session import LiveSession, live_session
from fakes.screen import make_app, until
from fakes.summaries import answer, entry
from pinfold.agent.compaction.trigger import BY_HAND, CompactionTrigger
from pinfold.agent.options import Options
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import Context
from pinfold.rollout.events import ContextSet, ItemAdded
from pinfold.tui.panels.preview import PreviewPanel
from pinfold.tui.panels.preview_list import PreviewList

SUMMARY = answer(
    task=entry((89, "Make part 12 faster"), text="Make part 12 faster."),
    decisions=[
        entry((7, "Part 1 takes 1.5 seconds less"), text="Part 1 is done, 1.5 seconds less."),
        entry(text="Move the server to port 9999."),
    ],
    constraints=[entry((8, "Always run the tests"), text="The tests run before each next step.")],
    files_in_scope=[
        entry(
            (3, "def function_1_0"), (4, "def function_1_0"), path="src/part_1.py", why="Faster."
        ),
        entry((11, "no such words"), path="src/absent.py", why="Read once."),
    ],
)
"""What a model writes of `make_session`; two entries are borne out by no item."""


def model(context_window: int = 16_000) -> ModelInfo:
    """A model of that size."""
    return ModelInfo("small", "p", context_window, "table", max_output=2_000)


def make_session(
    turns: int = 12, on: ModelInfo | None = None, options: Options | None = None
) -> LiveSession:
    """A session of so many turns of eight items."""
    session = live_session(gauge=None, options=options)
    session.model = on or model()
    session.append(ContextSet(hash="h", context=Context(instructions="You are pinfold.")))
    for data in working(turns):
        session.append(data.item if isinstance(data, ItemAdded) else data)
    return session


@asynccontextmanager
async def opened(
    session: LiveSession,
    *keys: str,
    trigger: CompactionTrigger = BY_HAND,
    host: FakeHost | None = None,
    runs: bool = True,
) -> AsyncIterator[Pilot[str]]:
    """The preview of `session`, all strategies planned, also one that uses the model where it is
    the chosen one; its runs are open, and `keys` pressed."""
    save = (host or FakeHost()).save_compact
    app = make_app(session)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.results = []  # type: ignore[attr-defined]
        panel = PreviewPanel(session, save, trigger=trigger)
        app.push_screen(panel, app.results.append)  # type: ignore[attr-defined]
        await until(pilot, lambda: app.screen.query(PreviewList))
        await settled(pilot)
        if session.compaction.asks_model(session.compaction.strategy):
            await pilot.press("enter")
            await settled(pilot)
        if runs:
            await pilot.press("x")
        for key in keys:
            await pilot.press(key)
            await settled(pilot)
        yield pilot


async def settled(pilot: Pilot[str]) -> None:
    """Every strategy is planned, nothing is under way."""
    await until(pilot, lambda: "…" not in said(pilot, ".strategies"))
    await until(pilot, lambda: "◐ " not in said(pilot, ".said"))


def said(pilot: Pilot[str], selector: str) -> str:
    return "\n".join(
        str(result.visual) for result in pilot.app.screen.query(selector).results(Static)
    )
