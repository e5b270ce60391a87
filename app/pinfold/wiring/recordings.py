"""`pinfold eval FILES`: what strategies keep of recorded sessions. Sends nothing anywhere."""

import argparse
import time
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from pinfold.adopt import foreign_list
from pinfold.evaluation import report_recorded
from pinfold.evaluation.evaluate import Chosen
from pinfold.evaluation.recorded_scores import Recorded, over_all
from pinfold.evaluation.recorded_trials import BUDGET
from pinfold.evaluation.recorded_verdict import verdict
from pinfold.evaluation.trials import SLACK
from pinfold.host.app_context import AppContext, WrongUse
from pinfold.host.sessions import folder_of
from pinfold.many.evaluation import results as evaluation_results
from pinfold.many.named import NamedSession, named
from pinfold.many.run import outcomes
from pinfold.many.work import SessionWork
from pinfold.rollout.journal import JournalError
from pinfold.sanitize import one_line
from pinfold.wiring import many
from pinfold.wiring.eval_output import show


def asked(arguments: argparse.Namespace) -> bool:
    """Whether the command line names recorded sessions."""
    return bool(arguments.files or arguments.codex or arguments.claude)


def evaluation(ctx: AppContext, arguments: argparse.Namespace, strategies: Sequence[Chosen]) -> int:
    """Raises `WrongUse`, `JournalError`, `CommandError`, `OSError`."""
    result, code = _recorded(ctx, arguments, strategies)
    show(result, report_recorded.report(result), arguments)
    return code


def _recorded(
    ctx: AppContext, arguments: argparse.Namespace, strategies: Sequence[Chosen]
) -> tuple[Recorded, int]:
    """The report, and the exit code.

    Raises `WrongUse`, and `JournalError` when no session can be read.
    """
    for option in ("model", "judge"):
        if getattr(arguments, option, None) is not None:
            raise WrongUse(f"recorded sessions are tried without a model; remove --{option}.")
    able = [chosen for chosen in strategies if not chosen[0].needs_model]
    if not able:
        raise WrongUse("these strategies use a model; recorded sessions are tried without one.")
    budget: int = arguments.budget or BUDGET
    begun = time.monotonic()
    files = list(_files(ctx, arguments))
    names = [strategy.name for strategy, _ in able]
    work = SessionWork("eval", {"budget": budget, "strategies": names}, arguments.redact)
    with many.kept(None, "") as results:
        report = many.worked(arguments, work, files, results)
        kept = outcomes(report, files, results)
        sessions = [session for _, data in kept for session in evaluation_results(data)]
    if not sessions:
        raise JournalError("No sessions found.")
    unread = [one_line(f"{files[at].name}: {why}") for at, why in sorted(report.failed.items())]
    result = over_all(budget, sessions, unread, SLACK)
    seconds = round(time.monotonic() - begun, 1)
    return replace(result, verdict=verdict(result), seconds=seconds), many.code(report)


def _files(ctx: AppContext, arguments: argparse.Namespace) -> Iterator[NamedSession]:
    """Each once; of Codex and Claude Code the newest. Raises `JournalError`, `OSError`."""
    yield from named(arguments.files, partial(folder_of, ctx))
    wanted = {name for name in ("codex", "claude") if getattr(arguments, name)}
    own = [
        file
        for place in foreign_list.tool_folders()
        if place.tool in wanted
        for file in foreign_list.files(place)
        if file.is_file()
    ]
    own.sort(key=lambda file: -file.stat().st_mtime)
    yield from (NamedSession(str(file), str(file.parent)) for file in own[: arguments.limit])
