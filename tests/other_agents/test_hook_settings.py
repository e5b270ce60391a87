"""`pinfold hook`: the hook goes into an agent's settings and out of them; all else stays."""

import io
import json
import stat
import sys
from pathlib import Path

import pytest

from pinfold.cli import run

CLAUDE = '{\n  // mine\n  "theme": "dark", /* x */\n  "hooks": {\n    "Stop": []\n  }\n}'
TOML = 'model = "gpt-5.5"  # mine\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\n'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with both agents, on a machine that knows no other program."""
    for name in ("PINFOLD_DEBUG", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "argv", ["pytest"])
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    agent(tmp_path, "claude", "2.1.197 (Claude Code)")
    agent(tmp_path, "codex", "codex-cli 0.169.0")
    return tmp_path


def agent(home: Path, name: str, version: str) -> None:
    """A program that says its version."""
    program = home / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)


def group(settings: Path) -> dict:
    (found,) = json.loads(settings.read_text())["hooks"]["SessionStart"]
    return found


@pytest.mark.parametrize(
    "before",
    [
        None,
        b"",
        b"{}",
        b"{\r\n}\r\n",
        CLAUDE.encode(),
        b'{"hooks":{"SessionStart":[{"hooks":[]}]}}',
    ],
)
def test_uninstalling_leaves_the_bytes_that_were_there(home: Path, before: bytes | None) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    if before is not None:
        settings.write_bytes(before)
        settings.chmod(0o640)
    assert run(["hook", "install", "claude", "--yes"]) == 0
    installed = settings.read_text()
    assert installed.count("digest --hook") == 1
    if before is not None:
        assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    assert run(["hook", "uninstall", "claude", "--yes"]) == 0
    assert (settings.read_bytes() if settings.exists() else None) == before


def test_what_changed_since_stays_when_the_hook_goes(home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(CLAUDE)
    run(["hook", "install", "claude", "--yes"])
    settings.write_text(settings.read_text().replace('"dark"', '"light"'))
    run(["hook", "uninstall", "claude", "--yes"])
    assert settings.read_text() == CLAUDE.replace('"dark"', '"light"')


def test_both_agents_take_the_same_form(home: Path) -> None:
    for name, file in (("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json")):
        run(["hook", "install", name, "--yes"])
        found = group(home / file)
        assert found["matcher"] == "compact"
        (hook,) = found["hooks"]
        assert hook["type"] == "command"
        assert hook["command"].endswith(" digest --hook || true")


def test_hooks_of_codex_that_stand_in_its_toml_stay_together(home: Path) -> None:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    for before in (TOML, TOML.rstrip()):
        config.write_text(before)
        assert run(["hook", "install", "codex", "--yes"]) == 0
        assert config.read_text().startswith(before)
        assert config.read_text().count("digest --hook") == 1
        assert not (home / ".codex" / "hooks.json").exists()
        config.write_text(config.read_text().replace("mine", "yours"))
        assert run(["hook", "uninstall", "codex", "--yes"]) == 0
        assert config.read_text() == before.replace("mine", "yours")


def test_the_diff_is_shown_and_nobody_is_asked_twice(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["hook", "install", "codex"]) == 2
    shown = capsys.readouterr()
    assert '+            "command": ' in shown.out
    assert shown.err == "pinfold: this asks first: use --yes when nobody can answer\n"
    assert not (home / ".codex" / "hooks.json").exists()
    run(["hook", "install", "codex", "--yes"])
    assert "once you trust it" in capsys.readouterr().out
    before = (home / ".codex" / "hooks.json").read_bytes()
    for arguments in (["--yes"], ["--yes", "--project"]):  # both would answer
        assert run(["hook", "install", "codex", *arguments]) == 0
        assert "already" in capsys.readouterr().out
    assert (home / ".codex" / "hooks.json").read_bytes() == before


@pytest.mark.parametrize(("said", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_nothing_is_written_before_the_user_says_yes(
    home: Path, monkeypatch: pytest.MonkeyPatch, said: str, code: int
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{said}\n"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    assert run(["hook", "install", "claude"]) == code
    assert (home / ".claude" / "settings.json").exists() == (code == 0)


def test_status_says_what_keeps_a_hook_from_answering(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["hook", "install", "codex", "--yes"])
    (home / "home" / "hook.log").write_text("2026-01-01 one\n2026-01-02 two\n")
    capsys.readouterr()
    run(["hook", "status", "codex"])
    assert capsys.readouterr().out == (
        "Codex: installed in ~/.codex/hooks.json, but not trusted yet: see /hooks.\n"
        "Last failure: 2026-01-02 two\n"
    )
    (home / ".codex" / "config.toml").write_text(
        f'[hooks.state."{home}/.codex/hooks.json:session_start:0:0"]\ntrusted_hash = "sha256:1"\n'
    )
    run(["hook", "status", "codex"])
    assert capsys.readouterr().out.startswith("Codex: installed in ~/.codex/hooks.json.\n")


def test_a_project_has_settings_of_its_own(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hook", "install", "claude", "--project", "--yes"]) == 0
    (hook,) = group(home / "work" / ".claude" / "settings.json")["hooks"]
    assert hook["command"] == "pinfold digest --hook || true"  # whoever shares it has it elsewhere
    capsys.readouterr()
    assert run(["hook", "status"]) == 0
    shown = capsys.readouterr().out
    assert "Claude Code: installed in ~/work/.claude/settings.json." in shown
    assert "Codex: not installed in ~/.codex." in shown
    assert run(["hook", "uninstall", "claude", "--project", "--yes"]) == 0
    assert not (home / "work" / ".claude" / "settings.json").exists()


@pytest.mark.parametrize(
    ("name", "version", "why"),
    [
        ("opencode", "", "opencode documents no hook that runs after a compaction"),
        ("claude", "1.0.61 (Claude Code)", "Claude Code 1.0.61 documents no hook"),
        ("codex", "codex-cli 0.132.0", "Codex 0.132.0 documents no hook"),
        ("codex", None, "there is no `codex` on your PATH"),
    ],
)
def test_an_agent_without_such_a_hook_is_refused_in_a_sentence(
    home: Path, capsys: pytest.CaptureFixture[str], name: str, version: str | None, why: str
) -> None:
    if version:
        agent(home, name, version)
    elif version is None:
        (home / "bin" / name).unlink()
    assert run(["hook", "install", name, "--yes"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert why in shown.err
    assert shown.err.count("\n") == 1
    assert not (home / f".{name}").exists()


def test_what_keeps_hooks_from_running_is_said(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("[features]\nhooks = false\n")
    run(["hook", "install", "claude", "--yes"])
    assert "remove `disableAllHooks`" in capsys.readouterr().out
    run(["hook", "install", "codex", "--yes"])
    assert "set `hooks = true`" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ['{"a": ', '{"hooks": []}', '{"hooks": {"SessionStart": {}}}', "[]"]
)
def test_settings_that_are_not_understood_stay_as_they_are(
    home: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(text)
    assert run(["hook", "install", "claude", "--yes"]) == 2
    assert "~/.claude/settings.json was not changed: " in capsys.readouterr().err
    assert settings.read_text() == text


def test_a_link_stays_a_link(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / ".claude").mkdir()
    (home / "dotfiles" / "claude.json").write_text("{}\n")
    settings = home / ".claude" / "settings.json"
    settings.symlink_to(home / "dotfiles" / "claude.json")
    run(["hook", "install", "claude", "--yes"])
    assert settings.is_symlink()
    assert "digest --hook" in (home / "dotfiles" / "claude.json").read_text()
