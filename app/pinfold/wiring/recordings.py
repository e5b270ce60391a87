"""`pinfold eval FILES`: what strategies keep of recorded sessions. Nothing leaves the machine."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from pinfold import paths
from pinfold.adopt import foreign_list
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.detect import read
from pinfold.evaluation import report_recorded
from pinfold.evaluation.evaluate import Chosen
from pinfold.evaluation.recorded_scores import Recorded, SessionResult, over_all
from pinfold.evaluation.recorded_trials import BUDGET, tried
from pinfold.evaluation.recorded_verdict import verdict
from pinfold.evaluation.trials import SLACK
from pinfold.host.app_context import AppContext, WrongUse
from pinfold.host.sessions import folder_of
from pinfold.rollout.journal import ROLLOUT, JournalError
from pinfold.sanitize import one_line
from pinfold.tokens.catalog import O200K
from pinfold.tokens.counter import Counter
from pinfold.wiring.eval_output import show, tell, watched

_ENDINGS = (".jsonl", ".jsonl.zst", ".json")


def asked(arguments: argparse.Namespace) -> bool:
    """Whether the command line names recorded sessions."""
    return bool(arguments.files or arguments.codex or arguments.claude)


def evaluation(ctx: AppContext, arguments: argparse.Namespace, strategies: Sequence[Chosen]) -> int:
    """Raises `WrongUse`, `JournalError`, `CommandError`, `OSError`."""
    with watched():
        result = _recorded(ctx, arguments, strategies)
    show(result, report_recorded.report(result), arguments)
    return 0


def _recorded(
    ctx: AppContext, arguments: argparse.Namespace, strategies: Sequence[Chosen]
) -> Recorded:
    """Raises `WrongUse`, `JournalError`, where nothing at all can be read."""
    for option in ("model", "judge"):
        if getattr(arguments, option, None) is not None:
            raise WrongUse(f"recorded sessions are tried without a model; remove --{option}.")
    able = [chosen for chosen in strategies if not chosen[0].needs_model]
    if not able:
        raise WrongUse("these strategies use a model; recorded sessions are tried without one.")
    budget: int = arguments.budget or BUDGET
    begun = time.monotonic()
    counter = Counter(O200K, paths.cache_folder())
    counter.load()
    sessions: list[SessionResult] = []
    unread: list[str] = []
    files = list(_files(ctx, arguments))
    for number, file in enumerate(files, 1):
        tell(f"{number}/{len(files)} files: {file.name}")
        try:
            for name, adoption in _conversations(file):
                sessions.append(tried(name, adoption.tool, adoption.events, budget, able, counter))
        except (NotASession, JournalError, OSError) as error:
            unread.append(one_line(str(error)))
            tell("")
            print(f"pinfold: {unread[-1]}", file=sys.stderr)
    if not sessions:
        raise JournalError("No sessions found.")
    result = over_all(budget, sessions, unread, SLACK)
    seconds = round(time.monotonic() - begun, 1)
    return replace(result, verdict=verdict(result), seconds=seconds)


def _conversations(file: Path) -> Iterator[tuple[str, Adoption]]:
    """All in a file, each with a name. Raises `NotASession`, `JournalError`, `OSError`."""
    name = file.parent.name if file.name == ROLLOUT else file.name
    adoption = read(file)
    yield name, adoption
    if adoption.tool == "messages":
        for index in range(1, adoption.conversations):
            yield f"{name} --index {index}", read(file, index)


def _files(ctx: AppContext, arguments: argparse.Namespace) -> Iterator[Path]:
    """Each once; of Codex and Claude Code the newest. Raises `JournalError`."""
    seen: dict[Path, None] = {}
    for name in arguments.files:
        if not paths.is_file_name(name):
            seen[folder_of(ctx, name) / ROLLOUT] = None
            continue
        path = paths.typed(name)
        seen.update(dict.fromkeys(_below(path) if path.is_dir() else [path]))
    wanted = {name for name in ("codex", "claude") if getattr(arguments, name)}
    own = [
        file
        for place in foreign_list.tool_folders()
        if place.tool in wanted
        for file in foreign_list.files(place)
        if file.is_file()
    ]
    own.sort(key=lambda file: -file.stat().st_mtime)
    seen.update(dict.fromkeys(own[: arguments.limit]))
    return iter(seen)


def _below(folder: Path) -> Iterator[Path]:
    """The files in a folder that may be sessions; beside a rollout of pinfold's, it alone."""
    if (folder / ROLLOUT).is_file():
        yield folder / ROLLOUT
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)
        elif path.name.endswith(_ENDINGS) and path.is_file():
            yield path
