"""The demo that ships: played whole, and what it looks like at its end."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot

from fakes.live_session import live_session
from fakes.screen import make_app, until
from pinfold.agent.updates import PromptReturned, Told
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.codec import decode
from pinfold.rollout.events import ContextSet, Event, ItemAdded, RequestFinished
from pinfold.window.reading import GaugeReading
from pinfold.wiring.replaying import Player, demo_file

EVENTS = [decode(line) for line in demo_file().read_bytes().splitlines()]
ITEMS = [event.data.item for event in EVENTS if isinstance(event.data, ItemAdded)]


async def test_the_demo_plays_to_its_end(home: Path) -> None:
    player = Player(app_context(), demo_file(), speed=0)
    session = await player.start(no_terminal)
    await session.idle()
    assert list(session.items) == ITEMS
    usage = [e.data.usage for e in EVENTS if isinstance(e.data, RequestFinished)][-1]
    assert usage is not None
    assert session.reading().used == usage.input + usage.output
    await session.close()
    player.close()
    assert not list(home.glob("sessions/**/*.jsonl"))


@pytest.mark.parametrize("prompt", ["hello", "!touch made"])
@pytest.mark.parametrize("while_it_plays", [False, True])
async def test_what_is_typed_in_the_demo_comes_back_and_does_nothing(
    home: Path, tmp_path: Path, prompt: str, while_it_plays: bool
) -> None:
    """It neither compacts nor reads the rules of the current folder."""
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    flags = argparse.Namespace(config=["compact.auto_compact_threshold_pct=0.1"])
    player = Player(app_context(flags), demo_file(), speed=0)
    session = await player.start(no_terminal)
    if not while_it_plays:
        await session.idle()
    told: list[object] = []
    session.subscribe(told.append)
    if prompt.startswith("!"):
        session.run_command(prompt[1:])
    else:
        session.send(prompt)
    await session.idle()
    assert PromptReturned(prompt) in told
    assert any(isinstance(value, Told) and "a recording" in value.text for value in told)
    assert list(session.items) == ITEMS
    assert not session.window.boundaries
    assert not (tmp_path / "made").exists()
    assert contexts(await session.events()) == contexts(EVENTS)
    await session.close()
    player.close()


def contexts(events: Sequence[Event]) -> list[ContextSet]:
    return [event.data for event in events if isinstance(event.data, ContextSet)]


def test_demo_screen(snap_compare: Callable[..., bool]) -> None:
    """You should see a patch with its diff, a test run, and a reply with code and a list."""
    session = live_session(
        items=ITEMS[:26],
        model=ModelInfo("demo-1", "demo", 8_192, "config"),
        gauge=GaugeReading(
            used=4_192,
            source="measured",
            limit=8_192,
            segments=(
                ("instructions", 1_520),
                ("user", 60),
                ("assistant", 640),
                ("reasoning", 120),
                ("tool calls", 760),
                ("tool results", 1_090),
            ),
        ),
    )

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)

    app = make_app(session, cwd=Path("/home/ada/slugs"))
    assert snap_compare(app, terminal_size=(112, 46), run_before=before)
