"""`pinfold mcp`: what it writes, asks and prints."""

import json
import sys
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail

from fakes.mcp import fake
from fakes.oauth_server import oauth_server
from fakes.terminal import Terminal
from pinfold.cli import run
from pinfold.mcp import browser

CONFIG = """# my settings
[mcp.servers.old]
command = "old"  # still good

[mcp.servers.old.env]
A = "1"

# what I like
[ui]
theme = "paper"
"""


@pytest.fixture
def config(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name)
    file = tmp_path / "config" / "pinfold" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(CONFIG)
    return file


def test_servers_are_added_and_removed_and_all_else_stays(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["mcp", "add", "new", "--env", "B=${B}", "--", "run", "--fast", "x y"]) == 0
    assert run(["mcp", "add", "far", "https://far.example/mcp", "--bearer-env", "TOKEN"]) == 0
    new = '[mcp.servers.new]\ncommand = "run"\nargs = ["--fast", "x y"]\nenv = {B = "${B}"}\n'
    far = '[mcp.servers.far]\nurl = "https://far.example/mcp"\nbearer_env = "TOKEN"\n'
    assert config.read_text() == f"{CONFIG}\n{new}\n{far}"
    assert "pinfold mcp test new" in capsys.readouterr().out
    assert run(["mcp", "add", "new", "again"]) == 2
    for name in ("old", "new", "far"):
        assert run(["mcp", "remove", name]) == 0
    assert config.read_text() == '# my settings\n# what I like\n[ui]\ntheme = "paper"\n'
    assert run(["mcp", "remove", "old"]) == 2


def test_a_server_is_tried_once_the_user_has_seen_what_it_offers(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = fake()
    assert run(["mcp", "add", "mine", "--", server.command, *server.args]) == 0
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert run(["mcp", "test", "mine"]) == 1
    assert "Tool say" in (said := capsys.readouterr()).out
    assert "You did not allow it." in said.err
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert run(["mcp", "test", "mine"]) == 0
    assert "mine is ready: 8 tools, 1 prompt, 2 resources" in capsys.readouterr().out
    assert run(["mcp", "list"]) == 0
    assert "8 tools, 1 prompt, 2 resources" in capsys.readouterr().out
    assert run(["mcp", "test", "nothing"]) == 2


def test_servers_of_other_agents_are_shown_before_they_are_added(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codex = config.parents[2] / ".codex" / "config.toml"
    codex.parent.mkdir()
    codex.write_text(
        '[mcp_servers.git]\ncommand = "git-server"\nstartup_timeout_sec = 5\n'
        'env = { KEY = "secret" }\nenv_vars = ["OTHER"]\n[mcp_servers.old]\ncommand = "x"\n'
        '[mcp_servers."a b"]\ncommand = "x"\n'
    )
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert run(["mcp", "import", "codex"]) == 1
    said = capsys.readouterr()
    assert 'env = {KEY = "***", OTHER = "${OTHER}"}' in said.out
    assert "secret" not in said.out
    assert 'There is already a server "old".' in said.err
    assert "can't be called 'a b'" in said.err
    assert config.read_text() == CONFIG
    local = {"mcpServers": {"far": {"type": "http", "url": "https://far.example"}}}
    claude = {"mcpServers": {"sse": {"type": "sse", "url": "https://x.example"}}}
    claude["projects"] = {str(config.parents[2] / "work"): local}
    (config.parents[2] / ".claude.json").write_text(json.dumps(claude))
    assert run(["mcp", "import", "claude", "--yes"]) == 0
    assert config.read_text().endswith('[mcp.servers.far]\nurl = "https://far.example"\n')
    assert 'old transport "sse"' in capsys.readouterr().err


def test_the_user_signs_in_and_out(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    monkeypatch.setattr(sys, "stdin", Terminal("y\ny\n"))
    try:
        with oauth_server() as server:
            monkeypatch.setattr(browser, "open_page", server.browser)
            assert run(["mcp", "add", "far", server.url]) == 0
            assert run(["mcp", "login", "far"]) == 0
            said = capsys.readouterr().out
            assert f"{server.base}/authorize?" in said
            assert "Signed in. The tokens are in " in said
            assert "far is ready: 1 tool," in said
            assert run(["mcp", "remove", "far"]) == 0
        assert not list((config.parents[2] / "home" / "mcp" / "signed-in").iterdir())
    finally:
        keyring.set_keyring(before)
