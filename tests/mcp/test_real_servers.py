"""Servers that others wrote, from their registries."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.mcp import started
from pinfold.mcp.definition import Definition
from pinfold.mcp.place import ServerPlace
from pinfold.mcp.servers import McpServers
from pinfold.ports.tool import ToolOutcome

pytestmark = pytest.mark.slow
NPM = ("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")
SECONDS = 60.0


def install(*argv: str) -> None:
    try:
        ended = subprocess.run(argv, capture_output=True, text=True, timeout=280, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"the servers could not be installed: {error}")
    if ended.returncode:
        pytest.skip(f"the servers could not be installed: {ended.stderr.strip()[-300:]}")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("python")
    install(sys.executable, "-m", "venv", str(folder))
    install(str(folder / "bin/pip"), "install", "-q", "mcp-server-git", "mcp-server-time")
    yield folder / "bin"
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("node")
    install("npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *NPM)
    yield folder / "node_modules" / ".bin"
    shutil.rmtree(folder)


class One:
    """One server, accepted."""

    def __init__(self, folder: Path, command: Path, *args: str) -> None:
        definition = Definition("real", command=str(command), args=args, startup_timeout=SECONDS)
        self.servers = McpServers(
            [definition], ServerPlace(folder, folder / "session", folder / "state")
        )
        self.progress: list[str] = []

    async def __aenter__(self) -> "One":
        state = await started(self.servers, name="real")
        assert state.state == "ready", state.why
        self.state = state
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.servers.aclose()

    async def call(self, tool: str, **arguments: object) -> ToolOutcome:
        return await self.servers.call("real", tool, arguments, self.progress.append)


async def test_git(tmp_path: Path, python: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "new.txt").write_text("new")
    async with One(tmp_path, python / "mcp-server-git") as git:
        said = await git.call("git_status", repo_path=str(tmp_path))
        assert "new.txt" in said.output


async def test_time(tmp_path: Path, python: Path) -> None:
    async with One(tmp_path, python / "mcp-server-time") as time:
        said = await time.call("get_current_time", timezone="Europe/Berlin")
        assert "Europe/Berlin" in said.output


async def test_everything(tmp_path: Path, node: Path) -> None:
    async with One(tmp_path, node / "mcp-server-everything") as every:
        assert (await every.call("echo", message="hi")).output == "Echo: hi"
        picture = await every.call("get-tiny-image")
        assert [image.media_type for image in picture.images] == ["image/png"]
        await every.call("trigger-long-running-operation", duration=1, steps=2)
        assert every.progress == ["1/2\n", "2/2\n"]
        assert every.state.prompts
        prompt = await every.servers.prompt("real", every.state.prompts[0].name, {})
        assert prompt.output
        resource = await every.servers.read_resource("real", every.state.resources[0].uri)
        assert "[resource demo://" in resource.output


async def test_filesystem(tmp_path: Path, node: Path) -> None:
    async with One(tmp_path, node / "mcp-server-filesystem", str(tmp_path)) as files:
        path = str(tmp_path / "new.txt")
        assert (await files.call("write_file", path=path, content="new")).ok
        assert (tmp_path / "new.txt").read_text() == "new"
        assert not (await files.call("read_text_file", path="/etc/passwd")).ok
