"""Commands that open, find, keep and remove sessions."""

from pinfold.commands import session
from pinfold.commands.arguments import Argument
from pinfold.wiring.command_line.declaration import (
    INDEX,
    JOBS,
    JSON,
    LAST,
    LIMIT,
    YES,
    Command,
    flag,
    whole,
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
            flag("--json", "print one journal event per line"),
            Argument("--resume", "resume this session", "ID", into="session"),
            LAST,
            flag("--fork", "continue in a fork of it"),
            Argument("--output-schema", "a JSON schema for the answer", "FILE"),
            whole("--max-turns", "requests to the model at most; then exit code 3"),
            Argument("--max-cost", "US dollars at most; then exit code 3", "USD", kind="number"),
            flag("--ephemeral", "keep nothing of the session"),
        ),
    ),
    Command(
        "resume",
        "resume a session",
        "actions:resume",
        (
            Argument("session", "the start of its id is enough", "ID"),
            LAST,
            flag("--read-only", "open read-only"),
            flag("--fork", "continue in a fork"),
        ),
    ),
    Command(
        "sessions",
        "list sessions, newest first",
        "session_list:command",
        (JSON, LIMIT, flag("--size", "show disk usage")),
    ),
    Command(
        "find",
        "find words in all sessions",
        "find_command:command",
        (
            Argument(
                "words",
                "items with all these words; the last may be a prefix",
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
            flag("--json", "print one item per line"),
            whole("-n --limit", "default: 20", 20),
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
        (flag("--apply", "remove them"),),
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
            flag("--no-open", "only adopt or list; do not open it"),
            flag("--json", "list as JSON, one session per line"),
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
                "list (the default); sync, to copy what is new; forget ID, to remove a session "
                "and never copy it again",
                "ACTION",
                kind="words",
            ),
            YES,
            JSON,
        ),
    ),
)
