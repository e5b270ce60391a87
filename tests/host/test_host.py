"""The host: what opens and closes sessions for every face."""

from functools import partial
from pathlib import Path

from fakes.agent import MODEL
from fakes.provider import ScriptedProvider, says
from pinfold.agent.requests.connection import Connection
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.host.host import Host
from pinfold.host.sessions import new_journal


async def test_sessions_are_open_beside_each_other_until_the_host_stops(home: Path) -> None:
    ctx = app_context()
    host = Host(ctx, attended=False)
    one, other = [
        await host.open(
            no_terminal,
            partial(new_journal, ctx),
            connection=Connection(ScriptedProvider([says(reply)]), MODEL, "chat", "scripted"),
            tools=(),
        )
        for reply in ("one", "two")
    ]
    endings = [one.send("Which are you?"), other.send("And you?")]
    assert [(await ending).answer for ending in endings] == ["one", "two"]
    await host.close(one)
    assert sorted(line.held for line in host.catalog.list(9)) == [False, True]
    await host.stop()
    assert not any(line.held for line in host.catalog.list(9))
