"""What commands on many sessions share: selection, engine, progress, report."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.commands.arguments import CommandError
from pinfold.host.app_context import WrongUse, app_context
from pinfold.many.engines import LARGEST, Engine, InProcess, Processes
from pinfold.many.named import NamedSession
from pinfold.many.results import Cache, Folder, Results
from pinfold.many.run import RunReport, new, run
from pinfold.many.work import SessionWork
from pinfold.numbers import duration
from pinfold.output import warn
from pinfold.sanitize import one_line
from pinfold.settings import ClusterSettings, Settings, SettingsError
from pinfold.tools.workspace import size_text
from pinfold.wiring.progress import watched
from pinfold.wiring.stdin import agreed

if TYPE_CHECKING:
    from pinfold.many.cluster import Leaving


def outside(out: Path | None, sessions: Sequence[NamedSession]) -> list[NamedSession]:
    """`sessions` without the results of an earlier run in `out`."""
    if out is None:
        return list(sessions)
    inside = f"{paths.typed(str(out))}{os.sep}"
    return [session for session in sessions if not session.path.startswith(inside)]


@contextmanager
def kept(out: Path | None, ending: str) -> Iterator[Results]:
    """The store of results: files below `out`, else the cache."""
    cache = Cache(paths.cache_folder())
    try:
        yield Folder(out, ending, cache) if out else cache
    finally:
        cache.close()


def worked(
    arguments: argparse.Namespace,
    work: SessionWork,
    sessions: Sequence[NamedSession],
    results: Results,
) -> RunReport:
    """Process the sessions with the engine that the command line names, and report.

    Raises `WrongUse`, `CommandError`, `OSError`.
    """
    began = time.monotonic()
    with (
        _engine(arguments, work, sessions, results) as engine,
        watched(len(sessions)) as show,
    ):

        def hear(report: RunReport) -> None:
            show(report.done + len(report.failed), len(report.failed))

        report = run(work, sessions, engine, results, hear)
    if engine.large:
        was = "1 session was" if engine.large == 1 else f"{engine.large:,} sessions were"
        warn(f"{was} processed here: larger than {size_text(LARGEST)}.")
    for at, why in sorted(report.failed.items()):
        session = sessions[at]
        known = why.startswith(session.name)
        warn(why.replace(session.name, session.path, 1) if known else f"{session.path}: {why}")
    for at, many in sorted(report.lost.items()):
        were = "1 picture is" if many == 1 else f"{many:,} pictures are"
        warn(f"{sessions[at].path}: {were} missing from its blobs/; the rest is there.")
    if len(sessions) > 1 or report.interrupted:
        warn(_summary(report, len(sessions), time.monotonic() - began))
    return report


def code(report: RunReport) -> int:
    return 1 if report.failed or report.interrupted else 0


def _summary(report: RunReport, every: int, seconds: float) -> str:
    said = [f"{report.new:,} new"]
    if report.known:
        said.append(f"{report.known:,} unchanged since the last run")
    if report.failed:
        said.append(f"{len(report.failed):,} failed")
    sessions = "1 session" if every == 1 else f"{every:,} sessions"
    line = f"{sessions}: {', '.join(said)}; {duration(seconds)}."
    if report.interrupted:
        line = f"Interrupted. Of {line} What is done is kept: run it again for the rest."
    return line


def wanted_jobs(arguments: argparse.Namespace) -> int | None:
    """Raises `WrongUse`."""
    jobs: int | None = arguments.jobs
    if jobs is not None and jobs < 1:
        raise WrongUse("--jobs takes a number, 1 or more")
    return jobs


@contextmanager
def _engine(
    arguments: argparse.Namespace,
    work: SessionWork,
    sessions: Sequence[NamedSession],
    results: Results,
) -> Iterator[Engine]:
    """Raises `WrongUse`, `CommandError`."""
    jobs = wanted_jobs(arguments)
    if arguments.shared and not arguments.cluster:
        raise WrongUse("--shared goes with --cluster")
    if not arguments.cluster:
        yield Processes(jobs, _keys(arguments)) if jobs and jobs > 1 else InProcess()
        return
    from pinfold.many import cluster

    if arguments.cluster == "local":
        with cluster.local(jobs, _keys(arguments)) as client:
            yield cluster.DaskCluster(client, leaves=False)
        return
    if jobs is not None:
        raise WrongUse("--jobs is for this machine: it goes with --cluster local alone")
    settings, address = _cluster_settings(arguments)
    host = cluster.host_of(address)
    shared = paths.typed(str(arguments.shared)) if arguments.shared else None
    with cluster.connected(address, settings) as client:
        engine = cluster.DaskCluster(client, shared=shared)
        _ask(arguments, host, cluster.leaving(new(work, sessions, results), shared), work)
        yield engine


def _keys(arguments: argparse.Namespace) -> frozenset[str]:
    """The variables with keys of providers: processes that ask no model don't get them."""
    from pinfold.host.models import key_variables

    try:
        return key_variables(app_context(arguments).settings)
    except SettingsError:  # sessions can be read whatever the config says
        return key_variables(Settings())


def _cluster_settings(arguments: argparse.Namespace) -> tuple[ClusterSettings, str]:
    """The user's settings, and the scheduler's address. Raises `WrongUse`, `SettingsError`."""
    ctx = app_context(arguments)
    settings = ctx.settings.cluster
    if "the environment" in (
        ctx.loaded.origins.get(f"cluster.{name}") for name in settings.__struct_fields__
    ):
        raise WrongUse("[cluster] is read from your config.toml, not from the environment")
    if arguments.cluster != "config":
        return settings, arguments.cluster
    if not settings.address:
        raise WrongUse("--cluster config needs an address in [cluster] of your config.toml")
    return settings, settings.address


def _ask(arguments: argparse.Namespace, host: str, leaving: "Leaving", work: SessionWork) -> None:
    """Ask before anything is sent. Raises `WrongUse`, and `CommandError` when the user says no."""
    many, by_path = leaving.sessions, leaving.by_path
    if not many and not by_path:
        return
    sessions = "1 session" if many == 1 else f"{many:,} sessions"
    leave = "leaves" if many == 1 else "leave"
    secrets = "without their secrets" if work.redact else "with their secrets"
    size = size_text(leaving.size)
    said = f"{sessions}, {size}, {leave} this machine for {one_line(host)}, {secrets}."
    if by_path:
        more = f"{by_path:,} more {'is sent as a path' if by_path == 1 else 'are sent as paths'}"
        said += f" {more}, or in full where a worker does not have the same file."
    if arguments.yes:
        warn(said)
    elif not sys.stdin.isatty():
        raise WrongUse(f"{said} Use --yes when nobody can answer")
    elif not agreed(f"{said} Continue?"):
        raise CommandError("Nothing was sent.")
