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
        "another folder to write to",
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
LAST = _flag("--last --continue", "the newest session in this folder")
LIMIT = _whole("-n --limit", default=30)
NO_REDACT = Argument("--no-redact", "do not remove secrets", kind="off", into="redact")
INDEX = _whole("--index", "which session, in a file of several", 0)
SPEED = Argument("--speed", "0: no delays", "X", kind="number", default=1.0)
SOURCE = (Argument("source", "the start of an id, or any file", "SESSION|FILE"), LAST, INDEX)
YES = _flag("-y --yes", "don't ask")
OUT = Argument("-o --out", "write one file for each session into DIR", "DIR", kind="path")
JOBS = _whole("-j --jobs", "work on N sessions at once, each in a process of its own")
MANY = (
    JOBS,
    Argument(
        "--cluster",
        "work on a Dask cluster: the address of its scheduler, `local` for one on this machine, "
        "`config` for the one in your config.toml",
        "ADDRESS",
    ),
    Argument(
        "--shared",
        "a folder that the cluster's machines have too: sessions in it are not sent",
        "DIR",
        kind="path",
    ),
    YES,
)
"""What commands over many sessions take."""

GATE = (
    Argument(
        "--gate", "check that sessions keep what RULES.toml names; exit code 1 if not", "RULES"
    ),
    _flag("--with-model", "with --gate: also the rules under [model]"),
    Argument("--against", "with --gate: rules, config and prompts as in commit REF", "REF"),
    Argument("--baseline", "with --gate: an earlier run, to say since when", "FILE", kind="path"),
    Argument("--write-baseline", "with --gate: keep this run as one", "FILE", kind="path"),
    Argument("--junit", "with --gate: write JUnit XML", "FILE", kind="path"),
    Argument("--markdown", "with --gate: write Markdown", "FILE", kind="path"),
)
COMMANDS = (
    Command(
        "exec",
        "run one prompt without the screen",
        "actions:exec_",
        (
            Argument(
                "prompt",
                "the prompt; piped input is added to it, or is the prompt if there is none or it "
                "is `-`",
                "prompt",
            ),
            _flag("--json", "print one journal event per line"),
            Argument("--resume", "resume this session", "ID", into="session"),
            LAST,
            _flag("--fork", "continue in a fork of it"),
            Argument("--output-schema", "a JSON schema that the answer has to obey", "FILE"),
            _whole("--max-turns", "requests to the model at most; then exit code 3"),
            Argument("--max-cost", "US dollars at most; then exit code 3", "USD", kind="number"),
            _flag("--ephemeral", "keep nothing of the session"),
        ),
    ),
    Command(
        "resume",
        "resume a session",
        "actions:resume",
        (
            Argument("session", "the start of its id is enough", "ID"),
            LAST,
            _flag("--read-only", "open read-only"),
            _flag("--fork", "continue in a fork"),
        ),
    ),
    Command(
        "sessions",
        "list sessions, newest first",
        "session_list:command",
        (JSON, LIMIT, _flag("--size", "show disk usage")),
    ),
    Command(
        "find",
        "find words in all sessions",
        "find_command:command",
        (
            Argument(
                "words",
                "all of them; the last may be the beginning of one",
                "WORDS",
                kind="words",
                needed=True,
            ),
            Argument(
                "--in",
                "search these sessions, of any tool: a file, a folder or a pattern; repeatable",
                "FOLDER",
                into="within",
                many="append",
            ),
            JOBS,
            _flag("--json", "print one item per line"),
            _whole("-n --limit", "default: 20", 20),
        ),
    ),
    Command(
        "delete",
        "delete sessions, after asking",
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
        "list unused files; --apply removes them",
        "disk:gc",
        (_flag("--apply", "remove them"),),
    ),
    Command(
        "adopt",
        "continue a session of Codex or Claude Code, or list them",
        "adopt_command:command",
        (
            Argument(
                "words",
                "a session's file or the start of its id; any other text is searched for",
                "FILE|TEXT",
                kind="words",
            ),
            session.USE_ITS_FOLDER,
            _flag("--no-open", "only adopt or list; do not open it"),
            _flag("--json", "list as JSON, one session per line"),
            LIMIT,
            INDEX,
        ),
    ),
    Command(
        "vault",
        "keep Codex's and Claude Code's sessions before those tools delete them",
        "vault_command:command",
        (
            Argument(
                "words",
                "list (the default); sync, to take in what is new; forget ID, to remove a session "
                "and never take it in again",
                "ACTION",
                kind="words",
            ),
            YES,
            JSON,
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
        "export a session: Markdown, HTML, messages, Codex",
        "exporting:command",
        (
            Argument(
                "-f --format",
                "default: from the file's extension",
                choices=("md", "html", "messages", "codex", "jsonl"),
            ),
            Argument(
                "-o --out --output",
                "a file; `-` is stdout, where a rollout goes by default; a folder for several",
                "PATH",
            ),
            *export.SHARED,
            Argument(
                "sources",
                "the start of an id, any file, or several: files, folders, patterns",
                "SESSION|FILE|FOLDER",
                kind="words",
            ),
            LAST,
            INDEX,
            *MANY,
        ),
    ),
    Command(
        "compact",
        "make room in a session's window, or show how; Ctrl+C changes nothing",
        "compacting:compact",
        (
            *compact.SHARED,
            _flag("--json", apart="shown"),
            _flag("--text", "print only the inserted text", apart="shown"),
            *SOURCE,
        ),
    ),
    Command(
        "checkpoint",
        "show what pinfold remembers of a session",
        "compacting:checkpoint",
        (
            _flag("--json", "checkpoint_v1, without the digest"),
            _whole("--digest", "tokens of the digest; 0: none", 1_000),
            *SOURCE,
        ),
    ),
    Command(
        "digest",
        "print what was said and done in a session, verbatim, within a token budget",
        "digest_command:command",
        (
            Argument(
                "sources",
                "the start of a session's id, any file, standard input, or several: files, "
                "folders, patterns such as '**/*.jsonl'; default: the newest session in this "
                "folder",
                "SESSION|FILE|FOLDER|-",
                kind="words",
            ),
            _whole("--tokens", "default: 8000", 8_000),
            _flag("--json", "the lines, and what was left out"),
            Argument("--no-redact", "leave secrets in it", kind="off", into="redact"),
            _flag("--hook", "answer another agent's hook, read from standard input"),
            INDEX,
            OUT,
            *MANY,
        ),
    ),
    Command(
        "hook",
        "give Claude Code or Codex the digest after each compaction",
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
            Argument("-o --out", "where --export writes; default: stdout", "PATH"),
            NO_REDACT,
            *SOURCE,
        ),
    ),
    Command(
        "restore",
        "restore an earlier window of a session",
        "windows:restore",
        (
            Argument("session", "the start of its id is enough", "SESSION", needed=True),
            Argument("window", "its number, or when it was compacted", "G|TS", needed=True),
        ),
    ),
    Command(
        "replay",
        "replay a recorded session of any tool, and show what compactions did",
        "actions:replay",
        (
            Argument("file", "", "FILE", kind="path", needed=True),
            Argument("--strategy", "compact with S instead of as recorded", "S"),
            Argument(
                "--threshold", "compact at this share of the usable window", "X", kind="number"
            ),
            _flag("--json", "print each compaction as a line of JSON, without the screen"),
            INDEX,
            SPEED,
        ),
    ),
    Command("demo", "play the session that ships with pinfold", "actions:demo", (SPEED,)),
    Command(
        "eval",
        "compare what strategies keep, on made-up conversations or on files",
        "evaluating:evaluation",
        (
            Argument(
                "files",
                "session files of any tool, folders of them, or patterns; default: made-up "
                "conversations. Files are tried without a model, and nothing is sent anywhere "
                "without --cluster",
                "FILE",
                kind="words",
            ),
            _flag("--codex", "your own Codex sessions, the newest"),
            _flag("--claude", "your own Claude Code sessions, the newest"),
            _whole("-n --limit", "how many of them; default: 30", 30),
            _whole("--trials", "default: 5", 5),
            _whole("--compactions", "in each, 1 to 5; default: 3", 3),
            _whole("--conversations", "in each trial; default: all, with --model 1"),
            _whole("--budget", "tokens that a compaction leaves; default: 4000, on files 8000"),
            Argument("--strategy", "one to try, repeatable; else all", "S", many="append"),
            _whole("--seed", "seed of the made-up values", 1),
            Argument("--judge", "model that grades the answers; default: --model", "NAME"),
            _flag("--json", "print JSON"),
            Argument("--html", "write the report as an HTML page", "FILE", kind="path"),
            _flag("--explain", "explain the figures"),
            *GATE,
            Argument("--no-redact", "leave secrets in the files", kind="off", into="redact"),
            *MANY,
        ),
    ),
    Command(
        "memories",
        "see and change what earlier sessions learned",
        "memories_command:command",
        (
            Argument(
                "words",
                "list (the default); show KEY, with what it comes from; run, to make them now, of "
                "the sessions, folders and patterns that follow it; "
                "forget KEY, with all that its session taught, for good, and for the team it is "
                "shared with; clear, to remove all; doctor, to say what is wrong, and to set up "
                "a team's database",
                "ACTION",
                kind="words",
            ),
            JOBS,
            YES,
            JSON,
        ),
    ),
    Command(
        "worktree",
        "list the worktrees that --worktree made, or remove a clean one",
        "worktree_command:command",
        (
            Argument("action", choices=("list", "remove"), default="list"),
            Argument("name", metavar="NAME"),
        ),
    ),
    Command(
        "mcp",
        "MCP servers: add, list, test, remove, import",
        "mcp_command:command",
        (
            Argument("action", choices=("add", "list", "test", "remove", "import"), needed=True),
            Argument("words", "NAME, for add also its COMMAND or URL", "WORD", kind="words"),
            Argument("--env", "a variable that it sees", "NAME=VALUE", many="append"),
            Argument("--header", "a header for its URL", "NAME=VALUE", many="append"),
            Argument("--bearer-env", "the variable that holds its bearer token", "NAME"),
            Argument("--cwd", "the folder that it works in", "DIR"),
            _flag("--sandbox", "run it in the sandbox"),
            _flag("--network", "with the network there"),
            YES,
        ),
    ),
    Command("skills", "list skills and commands of your own", "skills_command:command", (JSON,)),
    Command("doctor", "check this machine: what was found and what is missing", "actions:doctor"),
    Command(
        "local",
        "set up the embedded model, or show whether it is there",
        "actions:local",
        (Argument("action", choices=("setup", "status"), default="status"),),
    ),
)
