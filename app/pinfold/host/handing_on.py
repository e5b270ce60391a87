"""Makes a compacted copy of a session, for another model or agent."""

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
    """A compacted copy of the session in `folder`, on `model` if given. The original is unchanged.

    Raises `Refused` if it can't be compacted, `ProviderError`, `JournalError`, `SettingsError`;
    then no copy is left.
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
