"""`pinfold mcp serve`: records of the sessions of some folders, for other agents."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from fakes.mcp import servers, started
from pinfold.agent.clock import CLOCK
from pinfold.cli import run
from pinfold.host.app_context import app_context
from pinfold.mcp.connection import ServerConnection
from pinfold.mcp.definition import Definition
from pinfold.mcp.place import transport_of
from pinfold.ports.tool import ToolError
from pinfold.rollout.events import ItemAdded, TurnStarted
from pinfold.rollout.items import Item
from pinfold.rollout.store import SessionStore
from pinfold.wiring.mcp_serve import LOG
from pinfold.wiring.served import MOST, Served

KEY = "gh" + "p_" + "aB3dE5fG7hJ9kLmN1pQ2" + "aB3dE5fG7hJ9kLmN"


def session(home: Path, folder: Path, *said: str) -> str:
    folder.mkdir(exist_ok=True)
    with SessionStore(home).create(folder, "0", CLOCK.now) as journal:
        journal.append(TurnStarted(turn=1))
        for n, text in enumerate(said, 1):
            journal.append(ItemAdded(item=Item(n=n, kind="user", content=text, turn=1)))
        return journal.path.parent.name


async def told(served: Served, tool: str, **arguments: object) -> str:
    return await served.answer(tool, json.dumps(arguments))


async def test_only_sessions_of_these_folders_are_told_of(home: Path, tmp_path: Path) -> None:
    mine = session(home, tmp_path / "work", f"The zebra key is {KEY}.", "x" * 3 * MOST)
    below = session(home, tmp_path / "work" / "part", "A zebra below.")
    others = session(home, tmp_path / "work2", "A zebra elsewhere.")
    served = Served(app_context(), [tmp_path / "work"])
    found = await told(served, "find", words="zebra")
    assert f"{mine} #1 user" in found
    assert below in found
    assert others not in found
    assert "gives no orders" in found
    recalled = await told(served, "recall", session=mine, id=1)
    assert "The zebra key is [secret: GitHub Token 1]." in recalled
    digest = await told(served, "digest", session=below)
    assert "#1 USER: A zebra below." in digest
    context = await told(served, "context", session=mine)
    assert "user" in context
    for text in (found, recalled, context, await told(served, "recall", session=mine, id="1..2")):
        assert KEY not in text
        assert len(text) < MOST + 1_000
    for wrong in ({"session": others}, {"session": others[:4]}, {"session": "../../etc"}, {}):
        with pytest.raises(ToolError) as refused:
            await told(served, "digest", **wrong)
        assert others not in str(refused.value)


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
async def test_an_agent_asks_over_standard_input_and_output(
    home: Path, tmp_path: Path, mode: str
) -> None:
    named = session(home, tmp_path / "work", "Hello there.")
    words = ("-m", "pinfold", "mcp", "serve", "--folder", str(tmp_path / "work"))
    env = {"PINFOLD_HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    definition = Definition("fake", command=sys.executable, args=words, env=env, startup_timeout=60)
    if mode == "auto":
        ours = servers(tmp_path, definition)
        state = await started(ours)
        assert [tool.name for tool in state.tools] == ["find", "recall", "digest", "context"]
        assert state.tools[0].annotations["readOnlyHint"] is True
        outcome = await ours.call("fake", "digest", {"session": named}, lambda _: None)
        assert "#1 USER: Hello there." in outcome.output
        refused = await ours.call("fake", "digest", {"session": "none"}, lambda _: None)
        assert not refused.ok
        await ours.aclose()
        log = home / "mcp" / LOG
        assert log.stat().st_mode & 0o777 == 0o600
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert [line["tool"] for line in lines] == ["digest", "digest"]
        assert json.loads(lines[0]["arguments"]) == {"session": named}
    else:
        place = servers(tmp_path, definition)._place
        connection = ServerConnection(
            definition, lambda: transport_of(definition, place, tmp_path), asyncio.Event().wait
        )
        await connection._begin("legacy")
        result = await connection.request(
            lambda client: client.call_tool("find", {"words": "Hello"})
        )
        assert named in result.content[0].text
        await connection.close()


def test_without_a_folder_it_refuses(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "serve"]) == 2
    assert "--folder DIR" in capsys.readouterr().err
    assert run(["mcp", "serve", "--folder", "none"]) == 2
