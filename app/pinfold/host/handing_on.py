"""Handing a session on: a compacted copy of it, for another model or another agent."""

import asyncio
import shutil
from contextlib import AsyncExitStack
from pathlib import Path

from pinfold.agent.clock import CLOCK
from pinfold.agent.session import Session
from pinfold.host.app_context import AppContext
from pinfold.host.models import connect
from pinfold.host.sessions import open_session
from pinfold.ports.approver import Approver
from pinfold.settings import strategy_named
from pinfold.window.refused import Refused


async def hand_on(
    ctx: AppContext,
    folder: Path,
    approver: Approver,
    *,
    strategy: str | None = None,
    model: str | None = None,
) -> Session:
    """A copy of the session in `folder`, compacted, on `model` where one is named.

    The session itself stays as it is. Raises `Refused` where it can't be compacted,
    `ProviderError`, `JournalError`, `SettingsError`; then nothing is left of it.
    """
    async with AsyncExitStack() as undoing:
        connection = None
        if model is not None:
            connection = await connect(ctx, model)
            undoing.push_async_callback(connection.provider.close)
        journal = (await asyncio.to_thread(ctx.store.fork, folder, None, CLOCK.now))[0]
        undoing.callback(shutil.rmtree, journal.folder, ignore_errors=True)
        undoing.callback(journal.close)
        session = await open_session(ctx, approver, lambda: journal, connection=connection)
        undoing.push_async_callback(session.close)
        if await session.compact(strategy and strategy_named(strategy)) is None:
            raise Refused("Interrupted: there is no copy.")
        undoing.pop_all()
        return session
