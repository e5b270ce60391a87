"""`pinfold [PROMPT]`: the screen; with `-p`, an answer on standard output."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Sequence

_SETTING = re.compile(r"[\w-]+(\.[\w\"-]+)+=|[\w-]+=\S*\Z|[a-z]\w*\.[a-z]\w*\Z")
"""What follows `-c` where that stands for `--config`, also where its value is forgotten."""
NAMES = {
    "print_": "-p",
    "continue_": "--continue",
    "resume_": "--resume",
    "json_": "--json",
    "worktree": "--worktree",
}
"""Flags that go with a prompt, not with a command."""

OF_OTHERS = {
    "--yolo": "--approvals full",
    "--dangerously-skip-permissions": "--approvals full",
    "--dangerously-bypass-approvals-and-sandbox": "--approvals full",
    "--full-auto": "--approvals workspace",
    "--auto-approve": "--approvals workspace",
    "--permission-mode": "--approvals",
    "--ask-for-approval": "--approvals",
    "--sandbox": "--approvals, or [sandbox] in config.toml",
    "--allowedTools": "allow in [approvals] of config.toml",
    "--allowed-tools": "allow in [approvals] of config.toml",
    "--disallowedTools": "deny in [approvals] of config.toml",
    "--disallowed-tools": "deny in [approvals] of config.toml",
    "--output-format": "--json",
    "--system-prompt": "a file AGENTS.md",
    "--append-system-prompt": "a file AGENTS.md",
    "--mcp-config": "the command mcp",
    "--session-id": "--resume ID",
    "--fork-session": "the command resume ID --fork",
    "--image": "@FILE in the prompt",
    "--profile": "--config KEY=VALUE",
    "--oss": "--provider NAME",
}
"""Flags of Codex, Claude Code and others, and what does the same here."""


def flags() -> argparse.ArgumentParser:
    """A parent parser for the flags of `NAMES`."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    group = parser.add_argument_group("with a prompt, or without a command")
    add = group.add_argument
    add(
        "-p",
        "--print",
        dest="print_",
        action="store_true",
        help="print the answer and exit, without the screen; piped input is added to the prompt",
    )
    add(
        "--continue",
        dest="continue_",
        action="store_true",
        help="continue the newest session of this folder (-c for short)",
    )
    add(
        "-r",
        "--resume",
        dest="resume_",
        nargs="?",
        const="",
        metavar="ID",
        help="resume this session, or choose one",
    )
    add(
        "--worktree",
        metavar="NAME",
        help="work in a Git worktree beside the repository; created if missing",
    )
    add("--json", dest="json_", action="store_true", help="with -p: print one JSON event per line")
    return parser


def spelled_out(argv: Sequence[str]) -> list[str]:
    """`argv` with `--continue` for each `-c` that no setting follows."""
    end = argv.index("--") if "--" in argv else len(argv)
    following = [*argv[1:], ""]
    return [
        "--continue" if i < end and word == "-c" and not _SETTING.match(following[i]) else word
        for i, word in enumerate(argv)
    ]


def unknown(words: Sequence[str], *parsers: argparse.ArgumentParser) -> str:
    """The error for unrecognized arguments; `parsers` know the flags that there are."""
    from pinfold.closest import nearest, shown

    hint = ""
    for flag in (word.partition("=")[0] for word in words if word.startswith("--")):
        ours = {
            name.removeprefix("--")
            for parser in parsers
            for name in parser._option_string_actions
            if name.startswith("--")
        }
        if flag in OF_OTHERS:
            hint = f"; pinfold's is {OF_OTHERS[flag]}"
        elif near := nearest(flag.removeprefix("--"), ours):
            hint = f"; did you mean --{near}?"
        if hint:
            break
    return f"unrecognized arguments: {' '.join(map(shown, words))}{hint}"


def with_prompt(
    argv: Sequence[str], common: argparse.ArgumentParser, word: str, commands: Collection[str]
) -> argparse.Namespace:
    """The arguments when `word`, the first that is not an option, is a prompt.

    Raises `SystemExit`.
    """
    from pinfold.closest import nearest, shown

    parser = argparse.ArgumentParser(
        prog="pinfold",
        usage="%(prog)s [OPTIONS] [PROMPT]",
        parents=[common, flags()],
        allow_abbrev=False,
    )
    parser.add_argument("prompt", nargs="?", metavar="PROMPT")
    arguments, more = parser.parse_known_args(argv)
    if more and not any(extra.startswith("-") for extra in more):
        parser.error('put the prompt in quotes: pinfold "fix the tests"')
    if more:
        parser.error(unknown(more, parser))
    near = nearest(word, commands) if word and not word.split()[1:] else None
    if near and not arguments.print_ and "--" not in argv:
        parser.error(
            f"there is no command {shown(word)}; did you mean {near}? "
            f"To send it as a prompt: pinfold -- {shown(word)}"
        )
    arguments.command = None
    return arguments


def command(arguments: argparse.Namespace) -> int:
    """Run `pinfold [PROMPT]`. Returns the exit code. Raises `WrongUse`."""
    from pinfold.host.app_context import WrongUse
    from pinfold.wiring import actions

    if arguments.worktree is not None:
        from pinfold.wiring.worktree_command import enter

        print(enter(arguments), file=sys.stderr)
    session: str | None = arguments.resume_
    arguments.prompt = getattr(arguments, "prompt", None)
    arguments.session, arguments.last = session, arguments.continue_
    arguments.json, arguments.fork, arguments.read_only = arguments.json_, False, False
    if session is not None and arguments.last:
        raise WrongUse("--continue takes the newest session, --resume the one you name: use one")
    if arguments.print_:
        if session == "":
            raise WrongUse("-p --resume needs a session's id; --continue takes the newest one")
        if arguments.prompt is None and sys.stdin.isatty():
            raise WrongUse('-p needs a prompt, as an argument or on stdin: pinfold -p "..."')
        return actions.exec_(arguments)
    if arguments.json:
        raise WrongUse("--json goes with -p")
    if arguments.last or session is not None:
        return actions.resume(arguments)
    return actions.shell(arguments)
