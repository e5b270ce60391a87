import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.ports.tool import Review
from pinfold.settings import Mode
from pinfold.tools.approvals import (
    Allowed,
    Ask,
    Denied,
    always,
    matches,
    verdict,
)
from pinfold.tools.command_line import MAX_COMMAND

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
        ("read-only", Allowed, Denied, Denied, Denied, Denied, Denied),
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
def test_drift_asks_after_what_is_worse(mode: Mode) -> None:
    def of(review: Review) -> Allowed | Ask | Denied:
        return verdict(mode, review, review.access == "read", ROOT, (), drift="drifts")

    assert of(WRITE) == Ask("drifts")
    assert of(GIT) == Ask("writes .git/hooks/pre-commit: git runs programs named there")
    assert "outside the workspace" in of(WRITE_OUTSIDE).reason
    assert of(READ) == Allowed("reads the workspace")
    assert of(COMMAND) == Ask("runs a command")


@pytest.mark.parametrize("mode", ["ask", "workspace"])
def test_an_allowed_prefix_lets_a_command_run(mode: Mode) -> None:
    assert isinstance(verdict(mode, COMMAND, False, ROOT, {"pytest"}), Allowed)
    assert isinstance(verdict(mode, COMMAND, False, ROOT, {"pytest -x"}), Ask)
    assert isinstance(verdict("read-only", COMMAND, False, ROOT, {"pytest"}), Denied)


def test_a_tool_that_may_write_does_not_pass_as_a_reader() -> None:
    assert isinstance(verdict("ask", READ, False, ROOT, ()), Ask)
    assert isinstance(verdict("workspace", READ, False, ROOT, ()), Ask)


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
def test_a_command_that_is_not_plain_matches_no_prefix(command: str) -> None:
    assert not matches(command, "git status")
    assert not matches(command, "git")
    assert not matches(command, "")


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


@pytest.mark.parametrize("folder", ["kept", ".local/share/pinfold", ".config/pinfold"])
def test_what_pinfold_keeps_asks_where_the_workspace_is_the_home_folder(folder: str) -> None:
    write = Review("write", "write", (ROOT / folder / "memories/memory_summary.md",))
    assert isinstance(verdict("workspace", write, False, ROOT, (), [ROOT / "kept"]), Ask)


def of_command(command: str, *prefixes: str, mode: Mode = "workspace") -> type:
    review = Review("command", f"$ {command}", (ROOT,), command)
    return type(verdict(mode, review, False, ROOT, prefixes))


@pytest.mark.parametrize(
    ("prefix", "rest"),
    [
        # Runs another program.
        ("rg", "--pre ./evil x"),
        ("rg", "--pre=./evil x"),
        ("rg", "x --hostname-bin=./evil"),
        ("git grep", "--open-files-in-pager=./evil x"),
        ("git grep", "--open-f=./evil x"),
        ("git grep", "-O./evil x"),
        ("git grep", "-nO./evil x"),
        ("git diff", "--ext-diff"),
        ("git fetch", "--upload-pack=./evil ."),
        ("git fetch", "--upload-p ./evil ."),
        ("git clone", "-u ./evil . x"),
        ("git", "-c core.pager=./evil log"),
        ("git", "--exec-path=. x"),
        ("git init", "--template=evil x"),
        ("sort", "--compress-program=./evil a"),
        ("sort", "--comp ./evil a"),
        ("uv run sort", "--compress-program=./evil a"),
        ("go test", "-exec ./evil"),
        ("go test", "--exec=./evil"),
        ("go vet", "-vettool=evil"),
        ("cargo test", "--config build.rustc-wrapper='./evil'"),
        ("cargo rustc", "-- -Clinker=./evil"),
        ("make test", "SHELL=./evil"),
        ("make test", "'SHELL:=./evil'"),
        ("make test", "'--eval=x:=$(shell ./evil)'"),
        ("make test", "-f evil.mk"),
        ("npm test", "--script-shell=./evil"),
        ("find", ". -exec rm x +"),
        ("tar", "--to-command=./evil -xf a.tar"),
        ("tar", "-xI./evil -f a.tar"),
        # Writes or removes.
        ("git diff", "--output=x.py"),
        ("git log", "--outp x.py"),
        ("sort", "-o x.py a"),
        ("sort", "-uox.py a"),
        ("find", ". -delete"),
        ("find", ". -fprint x.py"),
        ("pytest", "--basetemp=app"),
        ("go test", "-coverprofile=.git/hooks/pre-commit"),
        ("touch", "sub/.GIT/x"),
        # Leaves the workspace.
        ("cat", "/etc/passwd"),
        ("cat", "-- /etc/passwd"),
        ("cat", "'/etc/passwd'"),
        ("cat", "/home/u/project2/x"),
        ("cat", "/home/u/project/../x"),
        ("cat", "~/.ssh/id_rsa"),
        ("cat", "~root/x"),
        ("cat", "~-/x"),
        ("cat", "../x"),
        ("cat", "a/../../x"),
        ("cat", ".?/x"),
        ("cat", "a/.*/.?/x"),
        ("cat", ".[.]/x"),
        ("ls", ".."),
        ("grep", "-f/etc/passwd x"),
        ("grep", "-rf../x ."),
        ("grep", "--file=/etc/passwd x"),
        ("git show", "HEAD:../x"),
        ("gcc", "@/etc/passwd"),
        ("pytest", "-p evil /outside"),
    ],
)
def test_an_allowed_prefix_does_not_reach_further(prefix: str, rest: str) -> None:
    command = f"{prefix} {rest}"
    assert matches(command, prefix)
    assert of_command(command, prefix) is Ask
    assert of_command(command, prefix, mode="ask") is Ask
    assert of_command(command, prefix, mode="full") is Allowed


@pytest.mark.parametrize(
    ("prefix", "rest"),
    [
        ("pytest", "tests/x.py -q"),
        ("pytest", "tests/x.py::test_a[b=c] -x -k 'a or b' -n 2 -p no:cacheprovider"),
        ("python -m pytest", "-q --cov=app --exitfirst"),
        ("uv run pytest", "-q"),
        ("git log", "--oneline -5"),
        ("git log", "--format='%h %s' main..HEAD -- app/x.py"),
        ("git diff", "HEAD~3 --stat"),
        ("git diff", "@~1 .github/x .gitignore"),
        ("git show", "HEAD:app/x.py"),
        ("git commit", "-m 'Fix a=b, see /etc/x: done'"),
        ("git status", "--short"),
        ("npm test", ""),
        ("npm run build", "-- --watch"),
        ("rg", "foo src"),
        ("rg", "-n --no-heading x=1 src/*.py"),
        ("ls", "-la ./app /home/u/project/tests"),
        ("cat", "app/../README.md"),
        ("sort", "-k2,2 -t: -u a"),
        ("cargo test", "--all-features -- --nocapture"),
        ("go test", "./... -run TestX -cover -v"),
        ("make test", "-j4"),
        ("ruff check", "--fix --output-format=concise app"),
        ("mypy", "--strict app"),
    ],
)
def test_usual_commands_pass(prefix: str, rest: str) -> None:
    assert of_command(f"{prefix} {rest}", prefix) is Allowed


@pytest.mark.parametrize("mode", ["ask", "workspace"])
def test_what_only_reads_runs_unasked_in_a_sandbox_or_a_trusted_folder(mode: Mode) -> None:
    def runs(command: str, *, confined: bool = False, trusted: bool = False) -> bool:
        review = Review("command", f"$ {command}", (ROOT,), command)
        found = verdict(mode, review, False, ROOT, (), confined=confined, trusted=trusted)
        return isinstance(found, Allowed)

    for command in (
        "git status",
        "ls -la",
        "rg -n todo | head -5",
        "git log --oneline && git diff",
    ):
        assert runs(command, confined=True)
        assert runs(command, trusted=True)
        assert not runs(command)
    for command in ("git status > x", "rg --pre ./evil x", "ls; rm x", "cat /etc/passwd"):
        assert not runs(command, trusted=True)


def test_what_only_reads_asks_all_the_same_before_it_leaves_the_sandbox() -> None:
    review = Review("command", "$ git status", (ROOT,), "git status", outside="wants the network")
    assert isinstance(verdict("ask", review, False, ROOT, (), confined=True, trusted=True), Ask)


def test_the_question_tells_what_is_unusual() -> None:
    review = Review("command", "$ rg", (ROOT,), "rg --pre ./evil x")
    asked = verdict("ask", review, False, ROOT, ("rg",))
    assert asked == Ask("`rg` is allowed, but --pre may run or write something else")


def test_a_very_long_command_is_always_asked_about() -> None:
    """No word of it is looked at: that would take minutes."""
    short = "ls " + "x" * (MAX_COMMAND - 3)
    long = short + "x"
    assert matches(short, "ls")
    assert not matches(long, "ls")
    assert always(long, ROOT) == (None, False)
    review = Review("command", "$ ls", (ROOT,), long)
    assert isinstance(verdict("workspace", review, False, ROOT, ["ls"]), Ask)


def test_allowed_edits_are_plain_ones_in_the_workspace() -> None:
    def of(review: Review, mode: Mode = "ask") -> Allowed | Ask | Denied:
        return verdict(mode, review, False, ROOT, (), edits=True)

    assert of(WRITE) == Allowed("writes in the workspace")
    for review in (WRITE_OUTSIDE, GIT, CONFIG, COMMAND):
        found = of(review)
        assert isinstance(found, Ask)
        assert not found.edits
    assert isinstance(of(WRITE, "read-only"), Denied)
    asked = verdict("ask", WRITE, False, ROOT, ())
    assert isinstance(asked, Ask)
    assert asked.edits
