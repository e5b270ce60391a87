"""Commands that play sessions again and compare strategies on them."""

from pinfold.commands.arguments import Argument
from pinfold.wiring.command_line.declaration import INDEX, MANY, SPEED, Command, flag, whole

GATE = (
    Argument("--gate", "check that sessions keep what RULES names; exit code 1 if not", "RULES"),
    flag("--with-model", "with --gate: also the rules under [model]"),
    Argument("--against", "with --gate: rules, config and prompts as in commit REF", "REF"),
    Argument("--baseline", "with --gate: compare with the run saved in FILE", "FILE", kind="path"),
    Argument("--write-baseline", "with --gate: save this run in FILE", "FILE", kind="path"),
    Argument("--junit", "with --gate: write JUnit XML", "FILE", kind="path"),
    Argument("--markdown", "with --gate: write Markdown", "FILE", kind="path"),
)
COMMANDS = (
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
            flag("--json", "print each compaction as a line of JSON, without the screen"),
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
            flag("--codex", "your own Codex sessions, the newest"),
            flag("--claude", "your own Claude Code sessions, the newest"),
            whole("-n --limit", "how many of them; default: 30", 30),
            whole("--trials", "default: 5", 5),
            whole("--compactions", "in each, 1 to 5; default: 3", 3),
            whole("--conversations", "in each trial; default: all, with --model 1"),
            whole("--budget", "tokens that a compaction leaves; default: 4000, on files 8000"),
            Argument("--strategy", "one to try, repeatable; else all", "S", many="append"),
            whole("--seed", "seed of the made-up values", 1),
            Argument("--judge", "model that grades the answers; default: --model", "NAME"),
            flag("--json", "print JSON"),
            Argument("--html", "write the report as an HTML page", "FILE", kind="path"),
            flag("--explain", "explain the figures"),
            *GATE,
            Argument("--no-redact", "leave secrets in the files", kind="off", into="redact"),
            *MANY,
        ),
    ),
)
