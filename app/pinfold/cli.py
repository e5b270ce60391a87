"""The command line: arguments in, exit code out. What it calls is wired in `wiring`."""

import io
import os
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

# The bare `pinfold` opens the screen, which waits for all that is imported here.
if TYPE_CHECKING:
    import argparse

PROMPT = "the prompt; what is piped in goes behind it, and is the prompt without one, or for `-`"


def _common() -> "argparse.ArgumentParser":
    """The flags that each command takes."""
    import argparse

    from pinfold.settings import MODES

    common = argparse.ArgumentParser(add_help=False)
    add = common.add_argument
    add("-m", "--model", metavar="NAME", help="model to use", default=argparse.SUPPRESS)
    add("--provider", metavar="NAME", help="provider to use", default=argparse.SUPPRESS)
    add("--approvals", choices=MODES, help="what runs without asking", default=argparse.SUPPRESS)
    add("-C", "--cd", metavar="DIR", type=Path, help="work in DIR", default=argparse.SUPPRESS)
    add(
        "--add-dir",
        metavar="DIR",
        action="append",
        help="a folder to write in besides the working directory",
        default=argparse.SUPPRESS,
    )
    add(
        "-c",
        "--config",
        metavar="KEY=VALUE",
        action="append",
        help="override a setting, e.g. model.context_window=8192",
        default=argparse.SUPPRESS,
    )
    return common


def parser() -> "tuple[argparse.ArgumentParser, Collection[str]]":
    """All commands and flags; the names of the commands."""
    import argparse

    from pinfold import __version__
    from pinfold.wiring import opening

    common = _common()
    top = argparse.ArgumentParser(
        prog="pinfold",
        parents=[common, opening.flags()],
        usage="%(prog)s [OPTIONS] [PROMPT | COMMAND | FILE] ...",
        description="An agent shell whose context window can be seen, steered and undone.",
        epilog="pinfold PROMPT opens the screen and sends the prompt. pinfold FILE continues a "
        "session of Codex, Claude Code or any list of messages.",
    )
    top.add_argument("-V", "--version", action="version", version=f"pinfold {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", prog=top.prog)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, parents=[common], help=text, description=text)

    newest = "the newest session of this folder"
    exec_ = command("exec", "run one prompt without the screen")
    exec_.add_argument("prompt", nargs="?", help=PROMPT)
    exec_.add_argument("--json", action="store_true", help="print one journal event a line")
    exec_.add_argument("--resume", dest="session", metavar="ID", help="go on with this session")
    exec_.add_argument("--last", "--continue", action="store_true", help=newest)
    exec_.add_argument("--fork", action="store_true", help="go on in a copy of it")

    resume = command("resume", "go on with a session")
    resume.add_argument("session", nargs="?", metavar="ID", help="the start of its id is enough")
    resume.add_argument("--last", "--continue", action="store_true", help=newest)
    resume.add_argument("--read-only", action="store_true", help="open read-only")
    resume.add_argument("--fork", action="store_true", help="go on in a copy")

    sessions = command("sessions", "list sessions, newest first")
    sessions.add_argument("--json", action="store_true")
    sessions.add_argument("-n", "--limit", type=int, default=30, metavar="N")
    sessions.add_argument("--size", action="store_true", help="show what each takes on the disk")

    delete = command("delete", "delete sessions, after a question")
    delete.add_argument(
        "sessions", nargs="+", metavar="ID", help="the start of a session's id is enough"
    )
    delete.add_argument("-y", "--yes", action="store_true", help="don't ask")

    gc = command("gc", "show what takes room and nothing refers to; with --apply, remove it")
    gc.add_argument("--apply", action="store_true", help="remove it")

    adopt = command("adopt", "go on with a session of Codex or Claude Code, or list them")
    adopt.add_argument(
        "words",
        nargs="*",
        metavar="FILE|TEXT",
        help="a session's file or the start of its id; any other text is searched for",
    )
    adopt.add_argument(
        "--use-its-folder", action="store_true", help="work in the folder that it names, not here"
    )
    adopt.add_argument("--no-open", action="store_true", help="adopt it, or list, and say so")
    adopt.add_argument("--json", action="store_true", help="list as JSON, one session a line")
    adopt.add_argument("-n", "--limit", type=int, default=30, metavar="N")

    context = command("context", "show what fills a session's window")
    context.add_argument("--json", action="store_true")
    context.add_argument("--sort", choices=["order", "size"], default="order")

    export = command("export", "write a session to a file: Markdown, HTML, messages, for Codex")
    export.add_argument(
        "-f",
        "--format",
        choices=["md", "html", "messages", "codex", "jsonl"],
        help="told from the file's ending where it is not named",
    )
    export.add_argument(
        "-o",
        "--out",
        "--output",
        metavar="PATH",
        help="`-` is stdout, where the rollout goes if no format is named either",
    )
    export.add_argument(
        "--no-redact", dest="redact", action="store_false", help="leave secrets in it"
    )
    scope = export.add_mutually_exclusive_group()
    scope.add_argument("--window", action="store_true", help="what the model sees alone")
    scope.add_argument("--all", action="store_true", help="every item")

    compact = command(
        "compact", "make room in a session's window, or show how; Ctrl+C leaves it as it is"
    )
    compact.add_argument("--dry-run", action="store_true", help="only show what it would do")
    shown = compact.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true")
    shown.add_argument("--text", action="store_true", help="print the inserted text alone")
    compact.add_argument(
        "--verbose", action="store_true", help="a line for every item, long runs of them too"
    )
    compact.add_argument(
        "--strategy",
        metavar="S",
        help="prune, checkpoint, layered; snapshot, handoff and remote ask a model (-m, else "
        "the one of [compact], else of [model]), and checkpoint takes their place where it fails",
    )
    compact.add_argument(
        "--target", type=float, metavar="X", help="share of the usable window to aim at"
    )
    compact.add_argument("--max-tail", type=int, metavar="N", help="newest messages that stay")
    compact.add_argument("--min-headroom", type=int, metavar="N", help="tokens to leave free")
    compact.add_argument(
        "--keep-files",
        action="append",
        metavar="GLOB,GLOB",
        help="files whose newest read and newest edit stay",
    )
    compact.add_argument(
        "--keep-roles", metavar="R,R", help="what snapshot keeps: tool, diff, decision, or none"
    )
    compact.add_argument(
        "--auto-compact-threshold",
        metavar="X",
        help="do nothing while the window is below this share of what a request may have",
    )
    compact.add_argument(
        "--focus", metavar="TEXT", default="", help="what the model should look at above all"
    )

    checkpoint = command("checkpoint", "show what the host keeps in mind of a session")
    checkpoint.add_argument("--json", action="store_true", help="checkpoint_v1, without the digest")
    checkpoint.add_argument(
        "--digest", type=int, default=1_000, metavar="N", help="tokens of the digest; 0: none"
    )

    history = command("history", "list a session's windows, show one, compare two")
    history.add_argument("--json", action="store_true")
    which = history.add_mutually_exclusive_group()
    which.add_argument("--show", type=int, metavar="G", help="the items of window G")
    which.add_argument(
        "--diff", type=int, nargs=2, metavar=("G", "H"), help="what differs between G and H"
    )
    which.add_argument(
        "--export",
        metavar="G|TS",
        help="write window G (or the one compacted at TS) in full, as JSONL",
    )
    history.add_argument("-o", "--out", metavar="PATH", help="where --export goes, not stdout")
    history.add_argument(
        "--no-redact", dest="redact", action="store_false", help="leave secrets in the export"
    )

    for looking in (context, export, compact, checkpoint, history):
        looking.add_argument(
            "source", nargs="?", metavar="SESSION|FILE", help="the start of an id, or any file"
        )
        looking.add_argument("--last", action="store_true", help=newest)

    restore = command("restore", "bring an earlier window of a session back")
    restore.add_argument("session", metavar="SESSION", help="the start of its id is enough")
    restore.add_argument("window", metavar="G|TS", help="its number, or when it was compacted")

    replay = command("replay", "play a recorded session, whoever's, and say what compactions did")
    replay.add_argument("file", type=Path, metavar="FILE")
    replay.add_argument(
        "--strategy", metavar="S", help="compact by S, in place of the recorded compactions"
    )
    replay.add_argument(
        "--threshold", type=float, metavar="X", help="compact at this share of the usable window"
    )
    replay.add_argument(
        "--json", action="store_true", help="no screen: print each compaction as a line of JSON"
    )
    for reading in (adopt, context, export, compact, checkpoint, history, replay):
        reading.add_argument(
            "--index", type=int, default=0, metavar="N", help="of a file that holds several: which"
        )
    demo = command("demo", "play the session that ships with pinfold")
    for player in (replay, demo):
        player.add_argument("--speed", type=float, default=1.0, metavar="X", help="0: at once")

    eval_ = command("eval", "try strategies, on conversations or on files, and say what each keeps")
    eval_.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="sessions, whoever's, or folders of them; without one, conversations are made up. No "
        "model is asked about a file, and nothing is sent anywhere",
    )
    eval_.add_argument("--codex", action="store_true", help="your own Codex sessions, the newest")
    eval_.add_argument("--claude", action="store_true", help="the same of Claude Code")
    eval_.add_argument(
        "-n", "--limit", type=int, default=30, metavar="N", help="how many of these; default: 30"
    )
    eval_.add_argument("--trials", type=int, default=5, metavar="N", help="default: 5")
    eval_.add_argument(
        "--compactions", type=int, default=3, metavar="N", help="in each, 1 to 5; default: 3"
    )
    eval_.add_argument(
        "--conversations", type=int, metavar="N", help="in each trial; default: all, with --model 1"
    )
    eval_.add_argument(
        "--budget",
        type=int,
        metavar="N",
        help="tokens that a compaction leaves; default: 4000, on files 8000",
    )
    eval_.add_argument(
        "--strategy", action="append", metavar="S", help="one to try, repeatable; else all"
    )
    eval_.add_argument("--seed", type=int, default=1, metavar="N", help="another one, other values")
    eval_.add_argument(
        "--judge", metavar="NAME", help="model that grades what --model answers; else that one"
    )
    eval_.add_argument("--json", action="store_true", help="print figures for programs")
    eval_.add_argument("--html", type=Path, metavar="FILE", help="write the report as an HTML page")
    eval_.add_argument("--explain", action="store_true", help="say what the figures mean")

    memories = command("memories", "see and change what earlier sessions learned")
    memories.add_argument(
        "words",
        nargs="*",
        metavar="ACTION",
        help="list (the default); show KEY, with what it comes from; run, to make them now; "
        "forget KEY, with all that its session taught, for good; clear, to remove all; doctor, to "
        "say what is wrong",
    )
    memories.add_argument("-y", "--yes", action="store_true", help="don't ask")
    memories.add_argument("--json", action="store_true")

    command("doctor", "say what was found, and what is missing")

    local = command("local", "the embedded model")
    local.add_argument("action", choices=["setup", "status"], nargs="?", default="status")
    return top, commands.choices


def parse(argv: Sequence[str]) -> "argparse.Namespace":
    """The arguments. `pinfold FILE` is short for `pinfold adopt FILE`. Raises `SystemExit`."""
    import argparse

    from pinfold.paths import is_session_file
    from pinfold.wiring import opening

    argv = opening.spelled_out(argv)
    top, names = parser()
    leading = argparse.ArgumentParser(
        prog="pinfold", add_help=False, parents=[_common(), opening.flags()]
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
    arguments, more = top.parse_known_args(argv)
    if more and (
        arguments.command != "memories" or any(argument.startswith("-") for argument in more)
    ):
        top.error(f"unrecognized arguments: {' '.join(more)}")
    if more:  # argparse fills a list only up to the next option
        arguments.words += more
    return arguments


def _open_streams() -> None:
    """Whoever began us may have closed them; Python then has None in their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # not every terminal has every character


def _action(argv: Sequence[str]) -> Callable[[], int]:
    """What `argv` asks for. Raises `SystemExit` where there is nothing to do, or it is wrong."""
    if not argv:  # the usual start waits for no parser
        from pinfold.wiring import actions as wiring

        return wiring.shell
    arguments = parse(argv)
    from pinfold.wiring import actions as wiring
    from pinfold.wiring import opening

    actions: dict[str | None, Callable[[argparse.Namespace], int]] = {
        None: opening.command,
        "resume": wiring.resume,
        "exec": wiring.exec_,
        "sessions": wiring.sessions,
        "delete": wiring.delete,
        "gc": wiring.gc,
        "adopt": wiring.adopt,
        "context": wiring.context,
        "export": wiring.export,
        "compact": wiring.compact,
        "checkpoint": wiring.checkpoint,
        "history": wiring.history,
        "restore": wiring.restore,
        "replay": wiring.replay,
        "demo": wiring.demo,
        "eval": wiring.eval_,
        "memories": wiring.memories,
        "doctor": wiring.doctor,
        "local": wiring.local,
    }
    return partial(actions[arguments.command], arguments)


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
