"""The hook in the real Claude Code and the real Codex, in a terminal of tmux's, on a server of our
own. `npm install @anthropic-ai/claude-code @openai/codex` brings them; both must be on the PATH."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.agent_server import AgentServer, Body, serving, texts
from pinfold.other_agents.answer import NOTE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

PATIENCE = 60
SUMMARY = "The model's own summary."
PROMPTS = ("Call the table orders_v2.", "The retry limit is 17.")
CLAUDE = {
    "hasCompletedOnboarding": True,
    "theme": "dark",
    "bypassPermissionsModeAccepted": True,
    "customApiKeyResponses": {"approved": ["fakefakefakefakefake"], "rejected": []},
}
CODEX = """model = "fake-model"
model_provider = "fake"
model_context_window = 400000
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[projects."{work}"]
trust_level = "trusted"
[analytics]
enabled = false
"""
SETTINGS = '{\n    "skipDangerousModePermissionPrompt": true\n}'


def answer(body: Body) -> str:
    asked = texts(body)[-1:] or [""]
    if "summary" in asked[0] and len(asked[0]) > 400:
        return SUMMARY
    count = 400 if "long" in asked[0] else 2
    numbers = (f"Part_{n} has {n * 7919 % 9973} rows in file_{n}.py." for n in range(count))
    return f"{' '.join(numbers)} Noted: {len(asked[0])}."


class Terminal:
    """An agent in tmux, in a home of its own."""

    def __init__(self, name: str, home: Path, server: AgentServer) -> None:
        self._tmux = ["tmux", "-L", f"pinfold-{os.getpid()}-{name}"]
        self._server = server
        self.home, self.name = home, name
        self.env = {
            "HOME": str(home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PATH": os.environ["PATH"],
            "SHELL": "/bin/bash",
            "NO_PROXY": "127.0.0.1",
            "OPENAI_API_KEY": "sk-fake",
            "CODEX_HOME": str(home / ".codex"),
            "ANTHROPIC_BASE_URL": server.url,
            "IS_SANDBOX": "1",
            "ANTHROPIC_API_KEY": "sk-ant-fakefakefakefakefakefake",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "PINFOLD_HOME": str(home / "pinfold"),
            "XDG_CACHE_HOME": str(home / "cache"),
        }

    def pinfold(self, *arguments: str) -> None:
        """A command of ours, in the same home."""
        command = [sys.executable, "-m", "pinfold", *arguments]
        subprocess.run(command, env=self.env, cwd=self.home, check=True, capture_output=True)

    def start(self, *argv: str) -> None:
        command = ["env", "-i", *(f"{name}={value}" for name, value in self.env.items()), *argv]
        size = ["-x", "120", "-y", "40", "-c", str(self.home / "work")]
        self._run("new-session", "-d", *size, *command)

    def stop(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    def keys(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def shows(self, text: str) -> None:
        self.wait(lambda: text in self.screen())

    def wait(self, met: Callable[[], object]) -> None:
        """Until a condition is met; a terminal announces nothing."""
        until = time.monotonic() + PATIENCE
        while not met():
            assert time.monotonic() < until, self.screen()
            time.sleep(0.1)

    def type(self, text: str) -> None:
        self.keys("-l", text)
        self.shows(text)
        time.sleep(0.3)  # Codex takes what comes at once for pasted
        self.keys("Enter")

    def ask(self, prompt: str) -> list[str]:
        """The texts of the request that a prompt makes."""
        before = len(self._server.asked(prompt))
        self.type(prompt)
        self.wait(lambda: len(self._server.asked(prompt)) > before)
        return texts(self._server.asked(prompt)[-1])

    def compact(self) -> None:
        """`/compact`, until the agent is done with it."""
        before = len(self._server.bodies)
        self.type("/compact")
        self.wait(lambda: len(self._server.bodies) > before)
        self.shows("ompacted")
        time.sleep(2)  # the hook, and what the agent writes down

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._tmux, *arguments], check=False, capture_output=True, text=True
        )
        return done.stdout


@pytest.fixture(params=["claude", "codex"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    for program in (request.param, "tmux"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not on the PATH")
    work = tmp_path / "work"
    work.mkdir()
    with serving(answer) as server:
        terminal = Terminal(request.param, tmp_path, server)
        if request.param == "claude":
            project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
            told = {**CLAUDE, "projects": {str(work): project}}
            (tmp_path / ".claude.json").write_text(json.dumps(told))
            (tmp_path / ".claude").mkdir()
            (tmp_path / ".claude" / "settings.json").write_text(SETTINGS)
        else:
            (tmp_path / ".codex").mkdir()
            config = CODEX.format(url=server.url, work=work)
            (tmp_path / ".codex" / "config.toml").write_text(config)
        try:
            yield terminal
        finally:
            terminal.stop()


def start(agent: Terminal) -> None:
    if agent.name == "claude":
        model = ["--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"]
        agent.start("claude", *model)
        agent.shows("bypass permissions on")
        return
    agent.start("codex", "--no-daemon")
    agent.shows("Hooks need review")
    agent.keys("2")
    agent.shows("› 2. Trust all")
    agent.keys("Enter")
    agent.shows("Ask Codex to do anything")
    time.sleep(2)  # what it still draws would take the first letters


def records(request: list[str]) -> list[str]:
    return [text for text in request if NOTE in text]


def test_after_a_compaction_the_next_request_holds_the_digest_once(agent: Terminal) -> None:
    claude, codex = agent.home / ".claude" / "settings.json", agent.home / ".codex" / "hooks.json"
    agent.pinfold("hook", "install", agent.name, "--yes")
    start(agent)
    for prompt in PROMPTS:
        assert not records(agent.ask(prompt))
        agent.shows("Noted:")
    for prompt, count in (("What is next?", 2), ("And then?", 3)):
        agent.compact()
        request = agent.ask(prompt)
        (record,) = records(request)
        told = (*PROMPTS, "What is next?")[:count]
        assert all(record.count(said) == 1 for said in told)
        assert any(SUMMARY in text for text in request)  # its own stands as well
        agent.shows("Noted:")
    agent.stop()
    agent.pinfold("hook", "uninstall", agent.name, "--yes")
    assert not codex.exists()
    if agent.name == "claude":
        assert claude.read_text() == SETTINGS


def test_a_hook_that_fails_leaves_the_agent_as_it_is(agent: Terminal) -> None:
    settings = agent.home / (
        ".claude/settings.json" if agent.name == "claude" else ".codex/hooks.json"
    )
    agent.pinfold("hook", "install", agent.name, "--yes")
    fault, script = agent.home / "fault", agent.home / "faulty"
    (agent.home / "broken.jsonl").write_bytes(b'{"type": "user", \0')
    ours = f"{sys.executable} -m pinfold digest --hook"
    script.write_text(
        f'case "$(cat {fault})" in\n'
        f"missing) sed 's#[.]jsonl#.gone#' | {ours} ;;\n"
        f'broken) sed \'s#"[^"]*[.]jsonl"#"{agent.home}/broken.jsonl"#\' | {ours} ;;\n'
        f"full) (ulimit -f 0; {ours}) ;;\nesac\n"
        f'echo "$? $(cat {fault})" >> {agent.home}/codes\n'
    )
    settings.write_text(settings.read_text().replace(f"{ours} || true", f"sh {script}"))
    start(agent)
    agent.ask(PROMPTS[0])
    agent.shows("Noted:")
    agent.ask("Tell me something long.")
    agent.shows("file_399.py")
    for number, kind in enumerate(("missing", "broken", "full"), 1):
        fault.write_text(kind)
        agent.compact()
        request = agent.ask(f"Question {number}?")
        assert not records(request)
        assert any(SUMMARY in text for text in request)
        agent.shows("Noted:")
    assert (agent.home / "codes").read_text() == "0 missing\n0 broken\n0 full\n"
    log = (agent.home / "pinfold" / "hook.log").read_text()
    assert "FileNotFoundError" in log
    assert "NotASession" in log
