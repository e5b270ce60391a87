"""The commands of the command line, as they are declared. What carries one out is imported then."""

from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct

from pinfold.commands import compact, export, session
from pinfold.commands.arguments import Argument
from pinfold.settings import MODES

if TYPE_CHECKING:
    import argparse


class Command(Struct, frozen=True):
    name: str
    help: str
    runs: str
    """The function in `wiring` that takes the arguments and returns the exit code."""
    arguments: tuple[Argument, ...] = ()

    def run(self, arguments: "argparse.Namespace") -> int:
        module, _, function = self.runs.partition(":")
        code: int = getattr(import_module(f"pinfold.wiring.{module}"), function)(arguments)
        return code


def _flag(names: str, help: str = "", *, apart: str = "") -> Argument:  # noqa: A002
    return Argument(names, help, kind="flag", apart=apart)


def _whole(names: str, help: str = "", default: int | None = None, apart: str = "") -> Argument:  # noqa: A002
    return Argument(names, help, "N", kind="whole", default=default, apart=apart)


COMMON = (
    Argument("-m --model", "model to use", "NAME"),
    Argument("--provider", "provider to use", "NAME"),
    Argument("--approvals", "what runs without asking", choices=MODES),
    Argument("-C --cd", "work in DIR", "DIR", kind="path"),
    Argument(
        "--add-dir",
        "a folder to write in besides the working directory",
        "DIR",
        many="append",
    ),
    Argument(
        "-c --config",
        "override a setting, e.g. model.context_window=8192",
        "KEY=VALUE",
        many="append",
    ),
)
"""What each command takes."""
JSON = _flag("--json")
LAST = _flag("--last --continue", "the newest session of this folder")
LIMIT = _whole("-n --limit", default=30)
NO_REDACT = Argument("--no-redact", "leave secrets in the export", kind="off", into="redact")
INDEX = _whole("--index", "of a file that holds several: which", 0)
SPEED = Argument("--speed", "0: at once", "X", kind="number", default=1.0)
SOURCE = (Argument("source", "the start of an id, or any file", "SESSION|FILE"), LAST, INDEX)
YES = _flag("-y --yes", "don't ask")

COMMANDS = (
    Command(
        "exec",
        "run one prompt without the screen",
        "actions:exec_",
        (
            Argument(
                "prompt",
                "the prompt; what is piped in goes behind it, and is the prompt without one, or "
                "for `-`",
                "prompt",
            ),
            _flag("--json", "print one journal event a line"),
            Argument("--resume", "go on with this session", "ID", into="session"),
            LAST,
            _flag("--fork", "go on in a copy of it"),
            Argument("--output-schema", "a JSON schema that the answer has to obey", "FILE"),
            _whole("--max-turns", "requests to the model at most; then exit code 3"),
            Argument("--max-cost", "US dollars at most; then exit code 3", "USD", kind="number"),
            _flag("--ephemeral", "keep nothing of the session"),
        ),
    ),
    Command(
        "resume",
        "go on with a session",
        "actions:resume",
        (
            Argument("session", "the start of its id is enough", "ID"),
            LAST,
            _flag("--read-only", "open read-only"),
            _flag("--fork", "go on in a copy"),
        ),
    ),
    Command(
        "sessions",
        "list sessions, newest first",
        "session_list:command",
        (JSON, LIMIT, _flag("--size", "show what each takes on the disk")),
    ),
    Command(
        "delete",
        "delete sessions, after a question",
        "disk:delete",
        (
            Argument(
                "sessions",
                "the start of a session's id is enough",
                "ID",
                kind="words",
                needed=True,
            ),
            YES,
        ),
    ),
    Command(
        "gc",
        "show what takes room and nothing refers to; with --apply, remove it",
        "disk:gc",
        (_flag("--apply", "remove it"),),
    ),
    Command(
        "adopt",
        "go on with a session of Codex or Claude Code, or list them",
        "adopt_command:command",
        (
            Argument(
                "words",
                "a session's file or the start of its id; any other text is searched for",
                "FILE|TEXT",
                kind="words",
            ),
            session.USE_ITS_FOLDER,
            _flag("--no-open", "adopt it, or list, and say so"),
            _flag("--json", "list as JSON, one session a line"),
            LIMIT,
            INDEX,
        ),
    ),
    Command(
        "context",
        "show what fills a session's window",
        "actions:context",
        (JSON, Argument("--sort", choices=("order", "size"), default="order"), *SOURCE),
    ),
    Command(
        "export",
        "write a session to a file: Markdown, HTML, messages, for Codex",
        "exporting:command",
        (
            Argument(
                "-f --format",
                "told from the file's ending where it is not named",
                choices=("md", "html", "messages", "codex", "jsonl"),
            ),
            Argument(
                "-o --out --output",
                "`-` is stdout, where the rollout goes if no format is named either",
                "PATH",
            ),
            *export.SHARED,
            *SOURCE,
        ),
    ),
    Command(
        "compact",
        "make room in a session's window, or show how; Ctrl+C leaves it as it is",
        "compacting:compact",
        (
            *compact.SHARED,
            _flag("--json", apart="shown"),
            _flag("--text", "print the inserted text alone", apart="shown"),
            *SOURCE,
        ),
    ),
    Command(
        "checkpoint",
        "show what the host keeps in mind of a session",
        "compacting:checkpoint",
        (
            _flag("--json", "checkpoint_v1, without the digest"),
            _whole("--digest", "tokens of the digest; 0: none", 1_000),
            *SOURCE,
        ),
    ),
    Command(
        "digest",
        "print what was said and done in a session, word for word, in so many tokens",
        "digest_command:command",
        (
            Argument(
                "source",
                "the start of a session's id, any file, or standard input; default: the newest "
                "session of this folder",
                "SESSION|FILE|-",
            ),
            _whole("--tokens", "default: 8000", 8_000),
            _flag("--json", "the lines, and what was left out"),
            Argument("--no-redact", "leave secrets in it", kind="off", into="redact"),
            _flag("--hook", "answer the hook of another agent, which stands on standard input"),
            INDEX,
        ),
    ),
    Command(
        "hook",
        "give Claude Code or Codex the digest after each of their compactions",
        "hook_command:command",
        (
            Argument("action", choices=("install", "uninstall", "status"), needed=True),
            Argument("agent", "claude or codex", "AGENT"),
            _flag("--project", "in the project's settings, not in yours"),
            YES,
        ),
    ),
    Command(
        "history",
        "list a session's windows, show one, compare two",
        "windows:history",
        (
            JSON,
            Argument("--show", "the items of window G", "G", kind="whole", apart="which"),
            Argument(
                "--diff",
                "what differs between G and H",
                "G H",
                kind="whole",
                count=2,
                apart="which",
            ),
            Argument(
                "--export",
                "write window G (or the one compacted at TS) in full, as JSONL",
                "G|TS",
                apart="which",
            ),
            Argument("-o --out", "where --export goes, not stdout", "PATH"),
            NO_REDACT,
            *SOURCE,
        ),
    ),
    Command(
        "restore",
        "bring an earlier window of a session back",
        "windows:restore",
        (
            Argument("session", "the start of its id is enough", "SESSION", needed=True),
            Argument("window", "its number, or when it was compacted", "G|TS", needed=True),
        ),
    ),
    Command(
        "replay",
        "play a recorded session, whoever's, and say what compactions did",
        "actions:replay",
        (
            Argument("file", "", "FILE", kind="path", needed=True),
            Argument("--strategy", "compact by S, in place of the recorded compactions", "S"),
            Argument(
                "--threshold", "compact at this share of the usable window", "X", kind="number"
            ),
            _flag("--json", "no screen: print each compaction as a line of JSON"),
            INDEX,
            SPEED,
        ),
    ),
    Command("demo", "play the session that ships with pinfold", "actions:demo", (SPEED,)),
    Command(
        "eval",
        "try strategies, on conversations or on files, and say what each keeps",
        "evaluating:evaluation",
        (
            Argument(
                "files",
                "sessions, whoever's, or folders of them; without one, conversations are made up. "
                "No model is asked about a file, and nothing is sent anywhere",
                "FILE",
                kind="words",
            ),
            _flag("--codex", "your own Codex sessions, the newest"),
            _flag("--claude", "the same of Claude Code"),
            _whole("-n --limit", "how many of these; default: 30", 30),
            _whole("--trials", "default: 5", 5),
            _whole("--compactions", "in each, 1 to 5; default: 3", 3),
            _whole("--conversations", "in each trial; default: all, with --model 1"),
            _whole("--budget", "tokens that a compaction leaves; default: 4000, on files 8000"),
            Argument("--strategy", "one to try, repeatable; else all", "S", many="append"),
            _whole("--seed", "another one, other values", 1),
            Argument("--judge", "model that grades what --model answers; else that one", "NAME"),
            _flag("--json", "print figures for programs"),
            Argument("--html", "write the report as an HTML page", "FILE", kind="path"),
            _flag("--explain", "say what the figures mean"),
        ),
    ),
    Command(
        "memories",
        "see and change what earlier sessions learned",
        "memories_command:command",
        (
            Argument(
                "words",
                "list (the default); show KEY, with what it comes from; run, to make them now; "
                "forget KEY, with all that its session taught, for good; clear, to remove all; "
                "doctor, to say what is wrong",
                "ACTION",
                kind="words",
            ),
            YES,
            JSON,
        ),
    ),
    Command(
        "worktree",
        "list the worktrees of --worktree, or remove one that has nothing uncommitted",
        "worktree_command:command",
        (
            Argument("action", choices=("list", "remove"), default="list"),
            Argument("name", metavar="NAME"),
        ),
    ),
    Command("doctor", "say what was found, and what is missing", "actions:doctor"),
    Command(
        "local",
        "the embedded model",
        "actions:local",
        (Argument("action", choices=("setup", "status"), default="status"),),
    ),
)
