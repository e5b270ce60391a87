"""Commands of the command line, and arguments that several of them take."""

from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct

from pinfold.commands.arguments import Argument
from pinfold.settings import MODES

if TYPE_CHECKING:
    import argparse


class Command(Struct, frozen=True):
    name: str
    help: str
    runs: str
    """`module:function` in `wiring`; takes the arguments, returns the exit code."""
    arguments: tuple[Argument, ...] = ()

    def run(self, arguments: "argparse.Namespace") -> int:
        module, _, function = self.runs.partition(":")
        code: int = getattr(import_module(f"pinfold.wiring.{module}"), function)(arguments)
        return code


def flag(names: str, help: str = "", *, apart: str = "") -> Argument:  # noqa: A002
    return Argument(names, help, kind="flag", apart=apart)


def whole(names: str, help: str = "", default: int | None = None, apart: str = "") -> Argument:  # noqa: A002
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
"""Arguments of every command."""
JSON = flag("--json")
LAST = flag("--last --continue", "the newest session in this folder")
LIMIT = whole("-n --limit", default=30)
NO_REDACT = Argument("--no-redact", "do not remove secrets", kind="off", into="redact")
INDEX = whole("--index", "which session, in a file of several", 0)
SPEED = Argument("--speed", "0: no delays", "X", kind="number", default=1.0)
SOURCE = (Argument("source", "the start of an id, or any file", "SESSION|FILE"), LAST, INDEX)
YES = flag("-y --yes", "don't ask")
OUT = Argument("-o --out", "write one file for each session into DIR", "DIR", kind="path")
JOBS = whole("-j --jobs", "process N sessions in parallel, each in its own process")
MANY = (
    JOBS,
    Argument(
        "--cluster",
        "use a Dask cluster: the address of its scheduler, `local` for one on this machine, "
        "`config` for the one in your config.toml",
        "ADDRESS",
    ),
    Argument(
        "--shared",
        "a folder that the cluster's machines share: its sessions are not sent",
        "DIR",
        kind="path",
    ),
    YES,
)
"""Arguments of commands on many sessions."""
