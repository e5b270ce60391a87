"""The command line: arguments in, exit code out. What it calls is wired in `wiring`."""

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

# The bare `pinfold` opens the screen, which waits for all that is imported here.
if TYPE_CHECKING:
    import argparse

LAST = (["--continue"], ["-c"], ["resume", "--last"])
"""The ways to ask for the newest session of the folder."""


def _common() -> "argparse.ArgumentParser":
    """The flags that each command takes."""
    import argparse

    from pinfold.commands.arguments import add
    from pinfold.wiring.command_line.declaration import COMMON

    common = argparse.ArgumentParser(
        add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS
    )
    add(common, COMMON)
    return common


def parser() -> "tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]":
    """All commands and flags; the parser of each command, by its name."""
    import argparse

    from pinfold import __version__
    from pinfold.commands.arguments import add
    from pinfold.wiring import opening
    from pinfold.wiring.command_line.table import COMMANDS

    common = _common()
    top = argparse.ArgumentParser(
        prog="pinfold",
        parents=[common, opening.flags()],
        allow_abbrev=False,
        usage="%(prog)s [OPTIONS] [PROMPT | COMMAND | FILE] ...",
        description="An agent shell whose context window can be seen, steered and undone.",
        epilog="pinfold PROMPT opens the screen and sends the prompt. pinfold FILE continues a "
        "session of Codex, Claude Code or any list of messages.",
    )
    top.add_argument("-V", "--version", action="version", version=f"pinfold {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", prog=top.prog)
    for command in COMMANDS:
        made = commands.add_parser(
            command.name,
            parents=[common],
            help=command.help,
            description=command.help,
            allow_abbrev=False,
        )
        add(made, command.arguments)
        made.set_defaults(run=command.run)
    return top, commands.choices


def parse(argv: Sequence[str]) -> "argparse.Namespace":
    """The arguments. `pinfold FILE` is short for `pinfold adopt FILE`. Raises `SystemExit`."""
    import argparse

    from pinfold.paths import is_session_file
    from pinfold.wiring import opening

    argv = opening.spelled_out(argv)
    top, names = parser()
    leading = argparse.ArgumentParser(
        prog="pinfold", add_help=False, parents=[_common(), opening.flags()], allow_abbrev=False
    )
    leading.add_argument("rest", nargs=argparse.REMAINDER)
    ahead = leading.parse_known_args(argv)[0]
    rest = ahead.rest
    given = [
        flag for dest, flag in opening.NAMES.items() if getattr(ahead, dest) not in (False, None)
    ]
    if rest and (ahead.print_ or rest[0] not in names):
        if given or not is_session_file(rest[0]):
            return opening.with_prompt(argv, _common(), rest[0], names)
        argv = [*argv[: len(argv) - len(rest)], "adopt", *rest]
    elif rest and given:
        top.error(f"{given[0]} goes with a prompt, not with the command {rest[0]}")
    behind: Sequence[str] = ()
    if rest[:1] == ["mcp"] and "--" in argv:  # the command of a server, with its own options
        at = argv.index("--")
        argv, behind = argv[:at], argv[at + 1 :]
    arguments, more = top.parse_known_args(argv)
    if more and (
        arguments.command not in ("memories", "mcp", "find", "vault")
        or any(argument.startswith("-") for argument in more)
    ):
        command = names[arguments.command] if arguments.command else top
        top.error(opening.unknown(more, command, top))
    if more or behind:  # argparse fills a list only up to the next option
        arguments.words += [*more, *behind]
    return arguments


def _open_streams() -> None:
    """Anyone who began us may have closed them; Python then has None in their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # not every terminal has every character


def _action(argv: Sequence[str]) -> Callable[[], int]:
    """What `argv` asks for. Raises `SystemExit` where there is nothing to do, or it is wrong."""
    if not argv or list(argv) in LAST:  # the usual starts wait for no parser
        from pinfold.wiring import actions as wiring

        return wiring.resume_last if argv else wiring.shell
    arguments = parse(argv)
    from pinfold.wiring import opening

    return partial(opening.command if arguments.command is None else arguments.run, arguments)


def run(argv: Sequence[str]) -> int:
    """Parse and carry out. Every failure is one plain line on stderr.

    With `PINFOLD_DEBUG` set, one that nobody expected is raised on.
    """
    from pinfold.output import guarded

    _open_streams()
    with guarded():
        return _run(argv)


def _run(argv: Sequence[str]) -> int:
    try:
        act = _action(argv)
    except SystemExit as stop:  # argparse has printed
        return stop.code if isinstance(stop.code, int) else 2
    from pinfold.host.app_context import WrongUse

    try:
        code = act()
        sys.stdout.flush()
        return code
    except WrongUse as error:
        _fail(str(error))
        return 2
    except BrokenPipeError:
        # The reader of our output went away. Keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        _fail("interrupted")
        return 1
    except Exception as error:
        from pinfold.commands.failures import EXPECTED, WRONG_USE, told

        if "PINFOLD_DEBUG" in os.environ and not isinstance(error, EXPECTED):
            raise
        _fail(told(error))
        return 2 if isinstance(error, WRONG_USE) else 1


def _fail(why: str) -> None:
    from pinfold.sanitize import one_line

    print(f"pinfold: {one_line(why)}", file=sys.stderr)
