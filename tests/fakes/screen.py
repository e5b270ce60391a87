"""The app on a session whose agent is scripted."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from fakes.host import FakeHost
from fakes.live_session import LiveSession
from pinfold.ports.approver import Approver
from pinfold.tui.app import PinfoldApp
from pinfold.tui.screen_config import ScreenConfig

CWD = Path("/home/ada/wc")
CONFIG = ScreenConfig(cwd=CWD, history=Path("/dev/null"), card_delay=0.0, letter_pause=0.0)


def make_app(
    session: LiveSession | None,
    *,
    host: FakeHost | None = None,
    config: ScreenConfig = CONFIG,
    ready: asyncio.Event | None = None,
    monotonic: Callable[[], float] = lambda: 0.0,
    **changes: object,
) -> PinfoldApp:
    """An app that starts with `session`; without one it waits for ever.

    The session has its `approver` once it is shown. The clock stands still by default.
    """

    async def start(approver: Approver) -> LiveSession:
        if session is None:
            await asyncio.Event().wait()
            raise AssertionError
        if ready is not None:
            await ready.wait()
        session.cwd = config.cwd
        app.run_worker(give(session, approver))
        return session

    async def give(session: LiveSession, approver: Approver) -> None:
        await app._begun.wait()
        session.approver = approver

    config = replace(config, **changes)
    app = PinfoldApp(start, host or FakeHost(), config, monotonic=monotonic)
    return app


def type_fast(pilot: Pilot[str], *keys: str) -> None:
    """Post `keys` all at once, before any of them can take effect."""
    for key in keys:
        single = len(key) == 1
        name = _character_to_key(key) if single else key
        pilot.app.post_message(events.Key(name, key if single else None))


def survived(app: PinfoldApp) -> None:
    """The app met a failure that it was to survive; else a test ends with it."""
    assert app._exception is not None
    app._exception = None


async def until(pilot: Pilot[str], condition: Callable[[], object]) -> None:
    """Wait for `condition`."""
    for _ in range(500):
        if condition():
            await pilot.pause()
            return
        await pilot.pause(0.01)
    raise AssertionError("what was waited for did not come")
