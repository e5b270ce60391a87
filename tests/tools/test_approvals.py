import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.ports import Review
from pinfold.settings import Mode
from pinfold.tools.approvals import (
    Allowed,
    Ask,
    Refused,
    command_prefix,
    matches,
    verdict,
)

ROOT = Path("/home/u/project")
READ = Review("read", "read x", (ROOT / "x",))
READ_OUTSIDE = Review("read", "read y", (Path("/etc/passwd"),))
WRITE = Review("write", "edit x", (ROOT / "x",))
WRITE_OUTSIDE = Review("write", "edit y", (ROOT / "x", Path("/home/u/project2/y")))
COMMAND = Review("command", "$ pytest", (ROOT,), "pytest -q")
GIT = Review("write", "edit hook", (ROOT / ".git" / "hooks" / "pre-commit",))
CONFIG = Review("write", "edit config", (ROOT / ".pinfold" / "config.toml",))


@pytest.mark.parametrize(
    ("mode", "read", "read_outside", "write", "write_outside", "command", "guarded"),
    [
        ("read-only", Allowed, Refused, Refused, Refused, Refused, Refused),
        ("ask", Allowed, Ask, Ask, Ask, Ask, Ask),
        ("workspace", Allowed, Ask, Allowed, Ask, Ask, Ask),
        ("full", Allowed, Allowed, Allowed, Allowed, Allowed, Allowed),
    ],
)
def test_the_modes(
    mode: Mode,
    read: type,
    read_outside: type,
    write: type,
    write_outside: type,
    command: type,
    guarded: type,
) -> None:
    def of(review: Review) -> type:
        return type(verdict(mode, review, review.access == "read", ROOT, ()))

    assert of(READ) is read
    assert of(READ_OUTSIDE) is read_outside
    assert of(WRITE) is write
    assert of(WRITE_OUTSIDE) is write_outside
    assert of(COMMAND) is command
    assert of(GIT) is guarded
    assert of(CONFIG) is guarded


@pytest.mark.parametrize("mode", ["ask", "workspace"])
def test_an_allowed_prefix_lets_a_command_run(mode: Mode) -> None:
    assert isinstance(verdict(mode, COMMAND, False, ROOT, {"pytest"}), Allowed)
    assert isinstance(verdict(mode, COMMAND, False, ROOT, {"pytest -x"}), Ask)
    assert isinstance(verdict("read-only", COMMAND, False, ROOT, {"pytest"}), Refused)


def test_a_tool_that_may_write_does_not_pass_as_a_reader() -> None:
    assert isinstance(verdict("ask", READ, False, ROOT, ()), Ask)
    assert isinstance(verdict("workspace", READ, False, ROOT, ()), Ask)


def test_guarded_files_are_known_in_any_case_and_depth() -> None:
    for name in (".GIT/config", "sub/.git/hooks/x", ".git", "sub/.Pinfold/Config.toml"):
        assert isinstance(verdict("workspace", Review("write", "", (ROOT / name,)), False, ROOT, ()), Ask)  # fmt: skip  # noqa: E501
    for name in (".gitignore", ".github/x", ".pinfold/notes"):
        assert isinstance(
            verdict("workspace", Review("write", "", (ROOT / name,)), False, ROOT, ()), Allowed
        )


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("pytest -q tests", "pytest"),
        ("  git status --short", "git status"),
        ("'git' \"status\"", "git status"),
        ("git commit -m 'a; b && c'", "git commit"),
        ("npm test", "npm test"),
        ("npm run build -- --watch", "npm run build"),
        ("uv run pytest -q", "uv run pytest"),
        ("python -m pytest", "python -m pytest"),
        (".venv/bin/ruff check", ".venv/bin/ruff check"),
        ("ls *.py", "ls"),
    ],
)
def test_a_simple_command_has_a_prefix(command: str, prefix: str) -> None:
    assert command_prefix(command) == prefix
    assert matches(command, prefix)


COMPOUND = [
    "git status; rm -rf /",
    "git status && rm x",
    "git status | sh",
    "git status & rm x",
    "git status$(rm x)",
    "git status `rm x`",
    'git status "$(rm x)"',
    'git status "`rm x`"',
    "git status ${IFS}x",
    "git status\nrm x",
    "git status\rrm x",
    "git status 'a\nb'",
    "git status > x",
    "git status < x",
    "git status <(rm x)",
    "git status \\\nrm",
    "git status 'unclosed",
    "git status # x",
    "(git status)",
    "{ git status; }",
    "! git status",
    "GIT_PAGER=rm git status",
    "A[1]=x git status",
    "g?t status",
    "",
    "   ",
]


@pytest.mark.parametrize("command", COMPOUND)
def test_a_command_that_is_not_simple_has_no_prefix_and_matches_none(command: str) -> None:
    assert command_prefix(command) is None
    assert not matches(command, "git status")
    assert not matches(command, "git")
    assert not matches(command, "")


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "/bin/rm x",
        "sudo ls",
        "sh -c ls",
        "bash x.sh",
        "python -c 1",
        "python3.12 x.py",
        "node -e 1",
        "curl example.org",
        "env rm x",
        "time rm x",
        "xargs rm",
        "find . -delete",
        "git",
        "git -c alias.x=!rm x",
        "git config x y",
        "uv run python x.py",
        "uv run --with x y",
        "npm run",
        "if true",
        "eval x",
        ". x",
    ],
)
def test_there_is_no_always_for_a_dangerous_head(command: str) -> None:
    assert command_prefix(command) is None


def test_a_prefix_matches_whole_words_alone() -> None:
    assert not matches("git statusx", "git status")
    assert not matches("git -C / status", "git status")
    assert not matches("/tmp/git status", "git status")
    assert not matches("git", "git status")
    assert not matches("pytest; rm x", "pytest")


@given(st.lists(st.text(alphabet="git satus \t\"'" * 3 + ";&|$()`<>\\\n\r{}!#=*~-é", max_size=12)))
@settings(max_examples=40)
def test_bash_sees_one_plain_command_in_all_that_matches(tails: list[str]) -> None:
    commands = [c for c in (f"git status {tail}" for tail in tails) if matches(c, "git status")]
    script = "\n".join(["git() { printf '%s;' \"$1\"; }", *commands])
    bash = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert bash.stdout == "status;" * len(commands)
    assert bash.stderr == ""


def test_the_sessions_own_outputs_may_be_read_but_not_written() -> None:
    outputs = Path("/home/u/.local/share/pinfold/s/outputs")
    read = Review("read", "read", (outputs / "call_1.txt",))
    write = Review("write", "write", (outputs / "call_1.txt",))
    for mode in ("read-only", "ask", "workspace"):
        assert isinstance(verdict(mode, read, True, ROOT, (), [outputs]), Allowed)
        assert not isinstance(verdict(mode, write, False, ROOT, (), [outputs]), Allowed)
