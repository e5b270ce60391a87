"""Commands on a session's windows: show, hand on, compact, go back."""

from pinfold.commands import compact, export
from pinfold.commands.arguments import Argument
from pinfold.wiring.command_line.declaration import (
    INDEX,
    JSON,
    LAST,
    MANY,
    NO_REDACT,
    OUT,
    SOURCE,
    YES,
    Command,
    flag,
    whole,
)

COMMANDS = (
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
            flag("--json", apart="shown"),
            flag("--text", "print only the inserted text", apart="shown"),
            *SOURCE,
        ),
    ),
    Command(
        "checkpoint",
        "show what pinfold remembers of a session",
        "compacting:checkpoint",
        (
            flag("--json", "checkpoint_v1, without the digest"),
            whole("--digest", "tokens of the digest; 0: none", 1_000),
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
            whole("--tokens", "default: 8000", 8_000),
            flag("--json", "the lines, and what was left out"),
            Argument("--no-redact", "leave secrets in it", kind="off", into="redact"),
            flag("--hook", "answer another agent's hook, read from standard input"),
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
            flag("--project", "in the project's settings, not in yours"),
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
)
