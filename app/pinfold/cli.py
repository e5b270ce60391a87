"""The command line: arguments in, exit code out. What it calls is wired in `wiring`."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pinfold import __version__
from pinfold.settings import MODES


def parser() -> argparse.ArgumentParser:
    """All commands and flags."""
    common = argparse.ArgumentParser(add_help=False)
    add = common.add_argument
    add("-m", "--model", metavar="NAME", help="model to use", default=argparse.SUPPRESS)
    add("--provider", metavar="NAME", help="provider to use", default=argparse.SUPPRESS)
    add("--approvals", choices=MODES, help="what runs unasked", default=argparse.SUPPRESS)
    add("-C", "--cd", metavar="DIR", type=Path, help="work in DIR", default=argparse.SUPPRESS)
    add(
        "-c",
        "--config",
        metavar="KEY=VALUE",
        action="append",
        help="override a setting, e.g. model.context_window=8192",
        default=argparse.SUPPRESS,
    )

    top = argparse.ArgumentParser(
        prog="pinfold",
        parents=[common],
        description="An agent shell whose context window can be seen, steered and undone.",
    )
    top.add_argument("-V", "--version", action="version", version=f"pinfold {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, parents=[common], help=text, description=text)

    newest = "the newest session of this folder"
    exec_ = command("exec", "run one prompt without the screen")
    exec_.add_argument("prompt", nargs="?", help="the prompt; `-` or nothing reads it from stdin")
    exec_.add_argument("--json", action="store_true", help="print one journal event a line")
    exec_.add_argument("--resume", dest="session", metavar="ID", help="go on with this session")
    exec_.add_argument("--last", action="store_true", help=newest)
    exec_.add_argument("--fork", action="store_true", help="go on in a copy of it")

    resume = command("resume", "go on with a session")
    resume.add_argument("session", nargs="?", metavar="ID", help="the start of its id is enough")
    resume.add_argument("--last", action="store_true", help=newest)
    resume.add_argument("--read-only", action="store_true", help="look, don't touch")
    resume.add_argument("--fork", action="store_true", help="go on in a copy")

    sessions = command("sessions", "list sessions, newest first")
    sessions.add_argument("--json", action="store_true")
    sessions.add_argument("-n", "--limit", type=int, default=30, metavar="N")

    export = command("export", "write a session's journal to a file or stdout, line for line")
    export.add_argument("session", metavar="ID")
    export.add_argument("-o", "--output", type=Path, metavar="FILE")

    replay = command("replay", "play a recorded session on the screen")
    replay.add_argument("file", type=Path, metavar="FILE")
    demo = command("demo", "play the session that ships with pinfold")
    for player in (replay, demo):
        player.add_argument("--speed", type=float, default=1.0, metavar="X", help="0: at once")

    command("doctor", "say what was found, and what is missing")

    local = command("local", "the embedded model")
    local.add_argument("action", choices=["setup", "status"], nargs="?", default="status")
    return top


def run(argv: Sequence[str]) -> int:
    """Parse and carry out. Every failure is one plain line on stderr.

    With `PINFOLD_DEBUG` set, one that nobody expected is raised on.
    """
    try:
        arguments = parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed
        return stop.code if isinstance(stop.code, int) else 2
    from pinfold.commands.failures import EXPECTED, told
    from pinfold.wiring import actions as wiring
    from pinfold.wiring.house import WrongUse

    actions: dict[str | None, Callable[[argparse.Namespace], int]] = {
        None: wiring.shell,
        "resume": wiring.resume,
        "exec": wiring.exec_,
        "sessions": wiring.sessions,
        "export": wiring.export,
        "replay": wiring.replay,
        "demo": wiring.demo,
        "doctor": wiring.doctor,
        "local": wiring.local,
    }
    try:
        code = actions[arguments.command](arguments)
        sys.stdout.flush()
        return code
    except WrongUse as error:
        print(f"pinfold: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output went away. Keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("pinfold: interrupted", file=sys.stderr)
        return 1
    except Exception as error:
        if "PINFOLD_DEBUG" in os.environ and not isinstance(error, EXPECTED):
            raise
        print(f"pinfold: {told(error)}", file=sys.stderr)
        return 1
