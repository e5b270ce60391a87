"""What follows from an "always": 90 hostile commands that must ask, 60 usual ones that need not."""

from pathlib import Path

import pytest

from pinfold.ports.tool import Review
from pinfold.tools.approvals import Allowed, Ask, always, verdict
from pinfold.tools.command_line import is_read_only


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    for name in ("a.py", "b.txt", "src/x.py", "src/deep/y.py", "tests/test_x.py", "-O./evil"):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (tmp_path / "secret").write_text("x\n")
    (work / "link").symlink_to(tmp_path / "secret")
    (work / "out").symlink_to(tmp_path)
    (work / "linked").mkdir()
    (work / "linked" / "x.py").symlink_to(tmp_path / "secret")
    return work


def after(first: str, then: str, work: Path) -> type:
    """What becomes of `then` once the user has answered `first` with "always"."""
    said = {always(first, work)[0] or ""}
    assert isinstance(of(first, work, said), Allowed)
    return type(of(then, work, said))


def of(command: str, work: Path, said: set[str]) -> object:
    review = Review("command", f"$ {command}", (work,), command)
    return verdict("workspace", review, False, work, (), (), said)


HOSTILE = {
    # Another sub-command.
    "gh pr view 1": ["gh pr merge 1", "gh pr close 1", "gh pr view 1 --web", "gh pr", "gh api x"],
    "gh issue list": ["gh issue delete 1", "gh issue create -t x", "gh repo delete x --yes"],
    "git branch -a": [
        "git branch -D main",
        "git branch new",
        "git branch -m old new",
        "git branch --edit-description",
        "git branch -a -d main",
        "git branch -vD main",
        "git branch --set-upstream-to=x",
    ],
    "git tag": ["git tag v1", "git tag -d v1", "git tag -a v1 -m x", "git tag -l -d v1"],
    "git remote -v": ["git remote add evil x", "git remote set-url origin x", "git remote update"],
    "git stash list": ["git stash drop", "git stash pop", "git stash", "git stash clear"],
    "git reflog": ["git reflog expire --all", "git reflog delete x", "git reflog -n 5 expire"],
    "git worktree list": ["git worktree add x", "git worktree remove --force x"],
    "git status": ["git stash", "git -c core.fsmonitor=./evil status", "git", "git clean -fdx"],
    "git config --get x": ["git config core.pager ./evil", "git config --get y"],
    # Options that run or write something.
    "git diff": [
        "git diff --output=a.py",
        "git diff --outp a.py",
        "git diff --ext-diff",
        "git diff --textconv",
        "git diff --no-index a.py b.txt",
        "git --exec-path=. diff",
        "git -C out diff",
    ],
    "git log": ["git log --output=x", "git log -p --ext-diff", "git --git-dir=evil log"],
    "git show HEAD": ["git show HEAD --output x", "git show --ext-diff HEAD"],
    "git grep foo": [
        "git grep -O./evil foo",
        "git grep -nO./evil foo",
        "git grep --open-files-in-pager=./evil foo",
        "git grep --open-f=./evil foo",
        "git grep foo *",
        "git grep foo ?O./evil",
        "git grep foo [-]O*",
        "git grep -e -- -O./evil",
        "git grep foo --e*",
    ],
    "rg foo": [
        "rg --pre ./evil foo",
        "rg --pre=./evil foo",
        "rg --hostname-bin=./evil foo",
        "rg -z foo",
        "rg -L foo",
        "rg --follow foo",
        "rg foo /etc",
        "rg -f link .",
        "rg -flink .",
        "rg --files ../",
        "rg -e foo /etc/passwd",
        "rg --ignore-file=/etc/passwd foo",
    ],
    "grep -rn foo src": [
        "grep -R foo .",
        "grep --dereference-recursive foo .",
        "grep -f /etc/passwd a.py",
        "grep -f/etc/passwd a.py",
        "grep -rflink .",
        "grep -c -e x /etc/passwd",
        "grep foo ../x",
    ],
    "find . -name x": [
        "find . -delete",
        "find . -exec rm x +",
        "find . -fprint a.py",
        "find . -ok rm x +",
        "find -L . -name x",
        "find / -name x",
        "find out -name x",
    ],
    "sort a.py": [
        "sort -o a.py b.txt",
        "sort -uoa.py b.txt",
        "sort --output=a.py b.txt",
        "sort --compress-program=./evil a.py",
        "sort -T/etc a.py",
        "sort --files0-from=link",
    ],
    "uniq a.py": ["uniq a.py b.txt", "uniq -c a.py b.txt"],
    "sed -n 1,5p a.py": [
        "sed -i s/x/y/ a.py",
        "sed -n '1,5w b.txt' a.py",
        "sed -n '1e ./evil' a.py",
        "sed -n -i 1p a.py",
        "sed -n 1,5p link",
        "sed -n -e 1p a.py",
    ],
    "tree src": ["tree -o a.py", "tree -R -H . -L 1", "tree -l .", "tree .."],
    "fd x": ["fd x -x rm", "fd x -X rm", "fd -HX rm x", "fd --exec=rm x", "fd -L x", "fd x /etc"],
    "date +%F": ["date 01010000", "date -s 2001-01-01", "date +%F -f link", "date --set=x"],
    # Paths that lead out, as they stand or behind a link.
    "cat a.py": [
        "cat link",
        "cat out/secret",
        "cat linked/*.py",
        "cat linked/x.*",
        "cat l?nk",
        "cat l[i]nk",
        "cat /etc/passwd",
        "cat '/etc/passwd'",
        "cat ~/.ssh/id_rsa",
        "cat ~root/x",
        "cat ../secret",
        "cat src/../../secret",
        "cat .?/secret",
        "cat src/.*/.*/secret",
        "cat -- /etc/passwd",
        "cat a.py > b.txt",
        "cat a.py | sh",
        "cat a.py; rm a.py",
        "cat $(rm a.py)",
        "cat a.py\nrm a.py",
        "X=1 cat a.py",
        "./cat a.py",
    ],
    "head -5 a.py": ["head -c5 link", "head -n5 /etc/passwd"],
    "ls": ["ls /", "ls -la ..", "ls out/", "ls ~"],
    "wc -l a.py": ["wc -l link", "wc --files0-from=link"],
    "python --version": ["python x.py", "python --version x.py", "python -c 1"],
    "which git": ["git push"],
    # Exactly this, where nobody knows what else a program does.
    "pytest -q": ["pytest", "pytest -q tests", "pytest -q -p evil", "pytest -q; rm a.py"],
    "make test": ["make", "make test SHELL=./evil", "make install"],
    "npm test": ["npm publish", "npm test -- x"],
    "./run.sh --fast": ["./run.sh", "./run.sh --fast x"],
    "awk 1 a.py": ["awk 'BEGIN{system(\"x\")}'"],
    "cargo test": ["cargo test --config x", "cargo install x"],
    "git push": ["git push --force", "git push origin main"],
    "cd src && ls": ["cd src && ls -la", "cd src"],
}
PAIRS = [(first, then) for first, follow in HOSTILE.items() for then in follow]

INNOCENT = {
    "git status": ["git status -sb", "git status --short --branch", "git status src"],
    "git log": [
        "git log --oneline -5",
        "git log --format='%h %s' main..HEAD -- src/x.py",
        "git log -n5 --stat --author=me",
        "git log -p -3 --since='2 days ago'",
        "git log --graph --all --decorate --oneline",
        "git log -L1,5:a.py",
    ],
    "git diff HEAD": [
        "git diff",
        "git diff --cached --stat",
        "git diff -U3 -w HEAD~3 -- src tests",
        "git diff --name-only main...HEAD",
        "git diff @~1 src/*.py",
        "git diff -M90% --diff-filter=AM",
    ],
    "git show HEAD": ["git show HEAD:src/x.py", "git show --stat HEAD~2", "git show --name-only"],
    "git branch": ["git branch -a", "git branch -vv", "git branch --show-current"],
    "git blame a.py": ["git blame -L10,20 src/x.py", "git blame -w src/x.py"],
    "git grep foo": ["git grep -n 'foo.*bar' -- src", "git grep -il x", "git grep -n /etc/hosts"],
    "git rev-parse HEAD": ["git rev-parse --show-toplevel", "git rev-parse --abbrev-ref HEAD"],
    "git ls-files": ["git ls-files -o --exclude-standard", "git ls-files src"],
    "gh pr view": ["gh pr view 12 --comments", "gh pr view 3 --json title,body"],
    "cat a.py": ["cat src/x.py", "cat -n a.py b.txt", "cat src/*.py", "cat src/../b.txt"],
    "ls": ["ls -la", "ls -R src", "ls src tests", "ls *.txt", "ls -lah --sort=time"],
    "head a.py": ["head -20 src/x.py", "head -n 20 a.py", "head -c100 a.py"],
    "tail a.py": ["tail -5 a.py", "tail -n +5 a.py"],
    "sed -n 1p a.py": ["sed -n 10,20p src/x.py", "sed -n '5,$p' a.py", "sed -n '5,+3p' a.py"],
    "wc -l a.py": ["wc -l src/*.py", "wc a.py"],
    "grep x a.py": [
        "grep -rn 'def main' src",
        "grep -rn --include='*.py' /usr/bin src",
        "grep -A3 -B2 -i x a.py",
        "grep -c x src/*.py",
        "grep -e x -e y a.py",
        "grep -vE '^#|^$' a.py",
    ],
    "rg x": ["rg -n 'x.y' src", "rg -tpy -g '!tests' x", "rg --files src", "rg -C3 -i x src"],
    "find .": [
        "find . -name '*.py' -not -path './tests/*'",
        "find src -type f -mtime -3 -size +10k",
        "find . -maxdepth 2 -type d",
    ],
    "sort a.py": ["sort -k2,2 -t: -u a.py", "sort -rn b.txt"],
    "tree": ["tree -L 2 src", "tree -aI .git"],
    "du -sh .": ["du -h --max-depth=1 src"],
    "which ls": ["which -a python3"],
    "date +%F": ["date -u '+%Y-%m-%d'", "date"],
    "pytest -q": ["pytest -q", " pytest -q "],
}
HARMLESS = [(first, then) for first, follow in INNOCENT.items() for then in follow]


@pytest.mark.parametrize(("first", "then"), PAIRS)
def test_always_does_not_reach_further_than_what_was_read(
    first: str, then: str, work: Path
) -> None:
    assert after(first, then, work) is Ask
    assert not is_read_only(then, work, network=True)


@pytest.mark.parametrize(("first", "then"), HARMLESS)
def test_always_covers_its_usual_variants(first: str, then: str, work: Path) -> None:
    assert after(first, then, work) is Allowed


def test_the_corpora_are_large() -> None:
    assert len(PAIRS) >= 80
    assert len(HARMLESS) >= 40


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("git log -5", ("git log", False)),
        ("git stash list", ("git stash list", False)),
        ("'git' \"status\"", ("git status", False)),
        ("cat a.py", ("cat", False)),
        ("cat link", ("cat link", True)),
        ("git branch -D main", ("git branch -D main", True)),
        (" pytest -q ", ("pytest -q", True)),
        ("make && ./run", ("make && ./run", True)),
    ],
)
def test_the_card_offers_a_prefix_only_of_what_reads(
    command: str, offered: tuple[str, bool], work: Path
) -> None:
    assert always(command, work) == offered


def test_the_question_says_what_is_not_covered(work: Path) -> None:
    assert of("git grep -O./evil x", work, {"git grep"}) == Ask(
        "`git grep` is allowed, but not with -O./evil"
    )
    assert of("cat link", work, {"cat"}) == Ask("`cat` is allowed, but not with link")


def test_an_always_of_an_earlier_version_covers_that_command_alone(work: Path) -> None:
    assert isinstance(of("gh pr merge 1", work, {"gh pr"}), Ask)
    assert isinstance(of("pytest -x", work, {"pytest"}), Ask)
    assert isinstance(of("pytest", work, {"pytest"}), Allowed)


@pytest.mark.parametrize("mode", ["read-only", "ask", "workspace"])
def test_a_program_in_the_workspace_is_not_the_one_that_is_known(
    mode: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = work / "bin" / "ls"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert is_read_only("ls", work)
    monkeypatch.setenv("PATH", f"{own.parent}:/usr/bin:/bin")
    assert not is_read_only("ls", work)


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "cat a.py | head -5 | wc -l",
        "git diff --stat && git log -1",
        "ls nowhere 2>/dev/null || ls src",
        "grep -rn x src 2>&1 | sort | uniq -c;",
        "ls >/dev/null",
    ],
)
def test_lines_of_commands_that_read(command: str, work: Path) -> None:
    assert is_read_only(command, work)


@pytest.mark.parametrize(
    "command",
    [
        "",
        " ",
        "cat a.py | tee b.txt",
        "cat a.py |",
        "cat a.py & ls",
        "cat a.py &",
        "ls > /dev/nullx",
        "ls > b.txt",
        "ls 2>/dev/null& rm a.py",
        "ls;; ls",
        "ls && rm a.py",
        "ls || ./evil",
        "cd src && ls",
        "gh pr view 1",
        "echo x" + "x" * 200_000,
    ],
)
def test_lines_that_do_more(command: str, work: Path) -> None:
    assert not is_read_only(command, work)
