"""Who may do what: what a call would do, and the mode, give the verdict."""

import os
import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pinfold.ports import Review
from pinfold.settings import Mode
from pinfold.tools import guard
from pinfold.tools.options import suspect


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The user decides."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The call does not run, and the model is told why."""

    reason: str


Verdict = Allowed | Ask | Refused


def verdict(
    mode: Mode,
    review: Review,
    read_only: bool,
    workspace: Path,
    allowed_prefixes: Collection[str],
    readable: Collection[Path] = (),
) -> Verdict:
    """What becomes of a call.

    `read_only` is the tool's own word; a call that reads with a tool that may write counts as
    a write. `readable` are folders outside the workspace that may be read as if they were in it:
    the session's own outputs. All paths are resolved.
    """
    if mode == "full":
        return Allowed("full mode")
    reads = review.access == "read" and read_only
    free = (workspace, *readable) if reads else (workspace,)
    outside = [path for path in review.paths if not any(map(path.is_relative_to, free))]
    if mode == "read-only":
        if not reads:
            return Refused("Approvals are read-only: nothing may be written or run.")
        if outside:
            return Refused(f"Approvals are read-only: {outside[0]} is outside the workspace.")
        return Allowed("reads the workspace")
    if outside:
        return Ask(f"{'reads' if reads else 'touches'} {outside[0]}, outside the workspace")
    if reads:
        return Allowed("reads the workspace")
    if review.access == "command":
        return _of_command(review.command or "", allowed_prefixes, workspace)
    for path in review.paths:
        if why := guard.reason(path, workspace, review.paths):
            return Ask(f"writes {path.relative_to(workspace)}: {why}")
    if mode == "workspace" and review.access == "write" and review.paths:
        return Allowed("writes in the workspace")
    return Ask("writes a file")


# Commands

MAX_COMMAND = 100_000
"""Characters of a command that a prefix may allow; `shlex` takes minutes over megabytes."""
_WORD = r"""(?:[\w./:@%+=,^~?*\[\]-]|'[^'\n\r\0]*'|"[^"$`\\!\n\r\0]*")+"""
_SIMPLE = re.compile(rf"[ \t]*{_WORD}(?:[ \t]+{_WORD})*[ \t]*")
"""Words of characters on which no shell acts, save to expand file names."""
_NAME = re.compile(r"\w[\w.:@/-]*")
_SHORT_OPTIONS = re.compile(r"^-\w+")
_HEAD = re.compile(r"~?[\w./@+-]+")
_INTERPRETER = re.compile(
    r"(python|pypy|ruby|perl|php|node|lua|deno|bun|tclsh|osascript|Rscript)[\d.]*"
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SUBCOMMANDS = _names(
    "bundle cargo composer conda dart docker dotnet flutter gem gh git go gradle helm hg just "
    "make mise mix mvn nix npm pip pip3 pnpm poetry pre-commit rake ruff rustup swift task "
    "terraform uv yarn zig"
)
"""Programs of which "always" allows one subcommand alone."""
RUNNERS = frozenset(
    {"npm run", "pnpm run", "yarn run", "uv run", "poetry run", "composer run", "bundle exec"}
)
"""Subcommands that are told by the word after them what to do."""
DANGEROUS = _names(
    ". alias apt apt-get at awk bash batch bg brew builtin bunx busybox case cd chgrp chmod chown "
    "command coproc cp crontab csh curl dash dd declare disown dnf do doas ed elif else emacs "
    "enable env eval ex exec export fdisk fg fi find fish flock for function gawk halt hash if "
    "install kill killall ksh kubectl ln local mawk mkfs mount mv nano nc ncat nice nohup nsenter "
    "npx parallel passwd pkill podman poweroff reboot rm rmdir rsync scp screen script sed "
    "select set setsid sftp sh shred shutdown socat source ssh stdbuf strace su sudo systemctl "
    "systemd-run tar tee telnet then time timeout tmux trap truncate type typeset umount unlink "
    "unset until uvx vi vim watch wget while xargs yes zsh"
)
"""Heads for which there is no "always": they delete, reach out, or run what follows them."""
DANGEROUS_PAIRS = frozenset(
    tuple(pair.split())
    for pair in (
        *("git config", "git bisect", "git clean", "git filter-branch", "git rebase", "git reset"),
        *("git submodule", "git difftool", "git mergetool", "git push", "gh api", "gh alias"),
        *("gh extension", "npm exec", "npm x", "npm install", "npm i", "pnpm exec", "pnpm dlx"),
        *("pnpm add", "yarn exec", "yarn dlx", "yarn add", "pip install", "pip3 install"),
        *("uv tool", "uv pip", "uv add", "cargo install", "gem install", "go run", "go install"),
        *("docker run", "docker exec", "docker compose", "conda run", "dotnet exec", "mise exec"),
        *("mise x", "nix run", "nix shell", "nix develop", "poetry shell", "poetry add"),
    )
)
"""The same, for heads with subcommands."""


def command_prefix(command: str) -> str | None:
    """The prefix that "always" would allow: `pytest`, `git status`, `npm run build`.

    None where no prefix can be trusted: compound commands, and heads that run other commands.
    """
    words = _words(command)
    if not words or not _trusted(words[0]):
        return None
    head = _base(words[0])
    if _INTERPRETER.fullmatch(head):
        # `python -m pytest` names a program; anything else could be one.
        module = head.startswith("python") and words[1:2] == ["-m"]
        return _first(words, 3) if module else None
    if head not in SUBCOMMANDS:
        return _first(words, 1)
    if (head, *words[1:2]) in DANGEROUS_PAIRS:
        return None
    if " ".join([head, *words[1:2]]) not in RUNNERS:
        return _first(words, 2)
    runs = words[2] if len(words) > 2 else ""
    free = _trusted(runs) and not _INTERPRETER.fullmatch(_base(runs))
    return _first(words, 3) if free and _base(runs) not in SUBCOMMANDS else None


def matches(command: str, prefix: str) -> bool:
    """Whether `command` is one simple command whose first words are the prefix."""
    words, wanted = _words(command), _words(prefix)
    return bool(wanted) and words[: len(wanted)] == wanted


def _of_command(command: str, prefixes: Collection[str], workspace: Path) -> Verdict:
    reason = "runs a command"
    for prefix in prefixes:
        if not matches(command, prefix):
            continue
        words, after = _words(command), len(_words(prefix))
        if option := suspect(words, after):
            reason = f"`{prefix}` is allowed, but {option} may run or write something else"
        elif stray := next((word for word in words[after:] if _strays(word, workspace)), None):
            reason = f"`{prefix}` is allowed, but {stray} leaves the workspace or is guarded"
        else:
            return Allowed(f"`{prefix}` is allowed")
    return Ask(reason)


def _strays(word: str, workspace: Path) -> bool:
    """Whether a word may name a file outside the workspace or a guarded one, as far as it shows.

    A path may also follow an option (`-f/etc/x`, `--file=/etc/x`) or a mark (`host:/etc/x`).
    """
    for piece in re.split("[=:,@]", word):
        path = _SHORT_OPTIONS.sub("", piece)
        # `.?` and `.*` may match `..`.
        parts = [".." if _may_be_parent(part) else part for part in path.split("/")]
        real = Path(os.path.normpath(workspace / "/".join(parts)))
        home = path.startswith("~") and not path[1:].isdecimal()  # but `@~1` is a commit
        if home or not real.is_relative_to(workspace) or guard.reason(real, workspace):
            return True
    return False


def _may_be_parent(part: str) -> bool:
    return part.startswith(".") and fnmatchcase("..", part)


def _words(command: str) -> list[str]:
    """The words of a command without operators, expansions or assignments; none of others."""
    if len(command) > MAX_COMMAND or not _SIMPLE.fullmatch(command):
        return []
    words = shlex.split(command)
    return words if _HEAD.fullmatch(words[0]) else []


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _trusted(word: str) -> bool:
    base = _base(word)
    return base not in DANGEROUS and not base.startswith("mkfs")


def _first(words: list[str], count: int) -> str | None:
    """The first words, if they are all there and those after the head are no options."""
    chosen = words[:count]
    names = [word for word in chosen[1:] if word != "-m"]
    named = len(chosen) == count and all(_NAME.fullmatch(word) for word in names)
    return " ".join(chosen) if named else None
