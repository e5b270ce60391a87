"""Commands on what sessions work with: memories, worktrees, servers, skills, models."""

from pinfold.commands.arguments import Argument
from pinfold.wiring.command_line.declaration import JOBS, JSON, YES, Command, flag

COMMANDS = (
    Command(
        "memories",
        "see and change what earlier sessions learned",
        "memories_command:command",
        (
            Argument(
                "words",
                "list (the default); show KEY, with its source; run, to make them now, from the "
                "sessions, folders and patterns given; forget KEY, and all that its session "
                "taught, for good, for a team too; clear, to remove all; doctor, to find "
                "problems and set up a team's database",
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
        "MCP servers: add, list, test, login, remove, import; serve your sessions",
        "mcp_command:command",
        (
            Argument(
                "action",
                choices=("add", "list", "test", "login", "remove", "import", "serve"),
                needed=True,
            ),
            Argument("words", "NAME; for add, also COMMAND or URL", "WORD", kind="words"),
            Argument("--env", "a variable to set for it", "NAME=VALUE", many="append"),
            Argument("--header", "a header for its URL", "NAME=VALUE", many="append"),
            Argument("--bearer-env", "the variable that holds its bearer token", "NAME"),
            Argument("--cwd", "its working directory", "DIR"),
            flag("--sandbox", "run it in the sandbox"),
            flag("--network", "allow the network in the sandbox"),
            Argument(
                "--folder",
                "serve: the folder whose sessions may be read",
                "DIR",
                kind="path",
                many="append",
            ),
            YES,
        ),
    ),
    Command("skills", "list skills and custom commands", "skills_command:command", (JSON,)),
    Command("doctor", "check this machine: what is found and what is missing", "actions:doctor"),
    Command(
        "local",
        "set up the embedded model, or show whether it is installed",
        "actions:local",
        (Argument("action", choices=("setup", "status"), default="status"),),
    ),
)
