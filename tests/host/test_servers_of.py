"""The servers of a session, from the user's config and the project's file."""

import argparse
import json
import sys
from pathlib import Path

import pytest

from fakes.mcp import fake
from pinfold.host.app_context import AppContext, app_context
from pinfold.host.servers import servers_of


@pytest.fixture
def work(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "inner").mkdir(parents=True)
    (folder / ".git").mkdir()
    return folder


def configured(work: Path, config: str, *project: str) -> AppContext:
    file = work.parent / "config" / "pinfold" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(config)
    command = {"command": sys.executable, "args": [fake().args[0]]}
    content = json.dumps({"mcpServers": dict.fromkeys(project, command)})
    (work / ".mcp.json").write_text(content)
    return app_context(argparse.Namespace(cd=work / "inner"))


def test_where_none_is_configured_there_are_none(work: Path) -> None:
    ctx = app_context(argparse.Namespace(cd=work))
    assert servers_of(ctx, work, (None, ""), attended=True) is None


def test_the_users_config_goes_before_the_projects_file(work: Path) -> None:
    config = """
        mcp.servers.mine = {command = "x"}
        mcp.servers.two = {command = "x"}
        mcp.servers.off = {enabled = false}
        mcp.servers.wrong = {command = "x", url = "https://x.example"}
        mcp.servers.named = {tool_timeout = 5, network = true}
    """
    ctx = configured(work, config, "one", "two", "off", "named")
    servers = servers_of(ctx, work, (None, ""), attended=True)
    assert servers is not None
    sources = {name: servers.state(name).source for name in servers.names()}
    assert sources == {
        "mine": "user",
        "two": "user",
        "one": "project",
        "named": "project",
        "wrong": "user",
    }
    assert "a command or a url, and not both" in servers.state("wrong").why


async def test_where_nobody_can_be_asked_one_line_says_so(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = servers_of(configured(work, "", "one"), work, (None, ""), attended=False)
    assert servers is not None
    await servers.start("one")
    assert (await servers.settled("one")).state == "stopped"
    await servers.aclose()
    assert capsys.readouterr().err == (
        "pinfold: MCP server one: It needs your answer, and nobody can be asked here: run "
        "`pinfold mcp test one` in this folder.\n"
    )


async def test_no_server_gets_a_key_that_commands_may_see(work: Path) -> None:
    config = """
        tools.env_keep = ["OPENAI_API_KEY"]
        mcp.servers.mine = {command = "x", env = {TOKEN = "${OPENAI_API_KEY}"}}
    """
    servers = servers_of(configured(work, config), work, (None, ""), attended=True)
    assert servers is not None
    await servers.start("mine")
    assert "No server gets such a key." in (await servers.settled("mine")).why
    await servers.aclose()
