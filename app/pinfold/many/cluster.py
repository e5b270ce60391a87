"""Many sessions on a Dask cluster.

Dask moves pickles: anyone who reaches a scheduler's port can run code on all of its machines, and
on the one that uses it. So it is reached by TLS with the user's certificates, unless the scheduler
listens on this machine only.
"""

import ipaddress
import logging
import os
import tempfile
import time
from collections import Counter, deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from pinfold.adopt.adoption import NotASession
from pinfold.commands.arguments import CommandError
from pinfold.many.content import redacted
from pinfold.many.engines import LARGEST, FinishedTask, SessionTask, process_here, without
from pinfold.many.work import Failed, SessionWork, attempt, attempt_at
from pinfold.settings import ClusterSettings

if TYPE_CHECKING:
    from distributed import Client, Future, Security

DEATHS = 3
"""Workers that may die while they process one session."""
MISSING = "A cluster needs Dask: pip install 'pinfold[cluster]'."
_LOCALHOST = "127.0.0.1"
_POLL = 0.5
"""Seconds between two questions to the scheduler which workers there are."""
_PATIENCE = 30.0
"""Seconds to wait for a connection, for a result to arrive, and for a first worker."""


class Flight(Struct, eq=False):
    """A session that a worker processes."""

    task: SessionTask
    by_path: bool
    future: "Future[bytes | Failed | None]"


class DaskCluster:
    """The workers of a Dask scheduler: each has one session at a time."""

    def __init__(
        self, client: "Client", *, shared: Path | None = None, leaves: bool = True
    ) -> None:
        """Sessions below `shared` are sent as paths. Sessions that leave this machine (`leaves`)
        are sent without their secrets, where the work says so. Raises `CommandError`."""
        self._client = client
        self._shared = shared
        self._leaves = leaves
        self.large = 0
        self._refused = _differing(client)
        if self._refused:
            raise CommandError(next(iter(self._refused.values())))
        self._known: set[str] = set()
        self._alive: set[str] = set()
        self._asked = float("-inf")

    def map(
        self, work: SessionWork, tasks: Iterable[SessionTask]
    ) -> Generator[FinishedTask, None, None]:
        """Raises `CommandError` if the cluster is lost."""
        rest, more = iter(tasks), True
        again: deque[tuple[SessionTask, bool]] = deque()
        flights: dict[str, Flight] = {}
        deaths: Counter[int] = Counter()
        lonely = time.monotonic()
        try:
            while more or again or flights:
                for worker in sorted(self._usable_workers() - flights.keys()):
                    task, by_path = again.popleft() if again else (next(rest, None), True)
                    if task is None:
                        more = False
                        break
                    try:
                        flight = self._sent(work, task, worker, by_path=by_path)
                    except (OSError, NotASession) as error:
                        yield task, Failed(str(error))
                        continue
                    if flight is not None:
                        flights[worker] = flight
                    else:
                        self.large += 1
                        yield process_here(work, task)
                if flights:
                    lonely = time.monotonic()
                elif more or again:
                    if time.monotonic() - lonely > _PATIENCE:
                        raise CommandError("The cluster has no workers.")
                    time.sleep(_POLL / 5)
                    continue
                for worker, result in self._landed(flights):
                    flight = flights.pop(worker)
                    task = flight.task
                    if isinstance(result, Died):
                        self._client.cancel([flight.future], force=True)
                        deaths[task.at] += 1
                        if deaths[task.at] < DEATHS:
                            again.append((task, flight.by_path))
                        else:
                            yield task, Failed(f"{DEATHS} workers died while working on it.")
                    elif result is None:  # the worker has no such file
                        again.append((task, False))
                    else:
                        yield task, result
        except OSError as error:
            raise CommandError(f"The cluster is lost: {error}") from error
        finally:
            with suppress(Exception):
                self._client.cancel([flight.future for flight in flights.values()], force=True)

    def _sent(
        self, work: SessionWork, task: SessionTask, worker: str, *, by_path: bool
    ) -> Flight | None:
        """None if it is too large to send. Raises `NotASession`, `OSError`."""
        session = task.session
        by_path = by_path and is_below(session.path, self._shared)
        if not by_path and len(task.data) > LARGEST:
            return None
        given: tuple[Any, ...]
        if by_path:
            given = (attempt_at, work, session.name, session.path, len(task.data), task.sha256)
        elif self._leaves and work.redact:
            given = (attempt, replace(work, redact=False), session.name, redacted(task.data))
        else:
            given = (attempt, work, session.name, task.data)
        future = self._client.submit(
            *given, workers=[worker], allow_other_workers=False, pure=False, retries=0
        )
        return Flight(task, by_path, future)

    def _landed(
        self, flights: Mapping[str, Flight]
    ) -> "list[tuple[str, bytes | Failed | Died | None]]":
        """The results that arrived, with their workers; waits up to `_POLL` for one."""
        from dask.distributed import wait

        futures = [flight.future for flight in flights.values()]
        with suppress(TimeoutError), self._client.as_current():
            wait(futures, timeout=_POLL, return_when="FIRST_COMPLETED")
        found: list[tuple[str, bytes | Failed | Died | None]] = [
            (worker, self._result(flight))
            for worker, flight in flights.items()
            if flight.future.done()
        ]
        back = {worker for worker, _ in found}
        found += ((worker, Died()) for worker in flights.keys() - self._usable_workers() - back)
        return found

    def _result(self, flight: Flight) -> "bytes | Failed | Died | None":
        from concurrent.futures import CancelledError

        from dask.distributed import TimeoutError as Late
        from distributed import KilledWorker

        try:
            result: object = flight.future.result(timeout=_PATIENCE)
        except (KilledWorker, CancelledError, Late):
            return Died()
        except OSError:
            raise
        except Exception as error:  # Dask's own: what a session causes comes as a `Failed`
            return Failed(f"The cluster failed to process it: {type(error).__name__}: {error}")
        if result is None or isinstance(result, bytes | Failed):
            return result
        return Failed("The cluster returned something other than a result.")

    def _usable_workers(self) -> set[str]:
        now = time.monotonic()
        if now - self._asked < _POLL:
            return self._alive
        self._asked = now
        alive = set(self._client.scheduler_info(n_workers=-1)["workers"])
        if alive - self._known:
            self._refused = _differing(self._client)
            self._known |= alive
        self._alive = alive - self._refused.keys()
        return self._alive


class Died(Struct, frozen=True):
    """A worker died before it was done."""


class Leaving(Struct):
    """What would be sent."""

    sessions: int = 0
    size: int = 0
    """Bytes of these sessions."""
    by_path: int = 0
    """Sessions sent as path, size and hash, and in full to a worker without that file."""


def leaving(tasks: Iterable[SessionTask], shared: Path | None) -> Leaving:
    found = Leaving()
    for task in tasks:
        if is_below(task.session.path, shared):
            found.by_path += 1
        elif len(task.data) <= LARGEST:
            found.sessions += 1
            found.size += len(task.data)
    return found


def is_below(path: str, folder: Path | None) -> bool:
    return folder is not None and path.startswith(f"{str(folder).rstrip(os.sep)}{os.sep}")


def _differing(client: "Client") -> dict[str, str]:
    """The workers, and the scheduler, whose versions differ from this machine's: how, by name."""
    versions: Any = client.get_versions(packages=["pinfold"])
    own = _versions(versions["client"])
    every = {"the scheduler": versions["scheduler"], **versions["workers"]}
    found: dict[str, str] = {}
    for place, version in every.items():
        there = _versions(version)
        for name, ours in own.items():
            theirs = there.get(name)
            if theirs != ours and (theirs or place != "the scheduler"):
                has = f"{name} {theirs}" if theirs else f"no {name}"
                found.setdefault(place, f"{place} has {has}, this machine {name} {ours}.")
    return found


def _versions(node: Mapping[str, Any]) -> dict[str, str | None]:
    packages = node["packages"]
    python = ".".join(packages["python"].split(".")[:2])
    return {
        "pinfold": packages.get("pinfold"),
        "Python": python,
        "distributed": packages.get("distributed"),
    }


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(address: str) -> str:
    """The host of a scheduler's address. Raises `CommandError` if it is not safe to use."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or port is None or parts.scheme not in ("tcp", "tls"):
        raise CommandError(f"{address} is not a scheduler's address, such as tls://host:8786.")
    if parts.scheme == "tcp" and not is_loopback(host):
        raise CommandError(
            f"{address} is not encrypted, and anyone who reaches it can run code: use tls:// with "
            "the certificates of [cluster] in your config.toml."
        )
    return host


@contextmanager
def connected(address: str, settings: ClusterSettings) -> "Iterator[Client]":
    """A client of the scheduler at an address that `host_of` accepted. Raises `CommandError`."""
    security = _security(settings) if address.startswith("tls:") else None
    _quiet()
    from distributed import Client

    try:
        client = Client(
            address, security=security, timeout=_PATIENCE, set_as_default=False, name="pinfold"
        )
    except (OSError, ValueError) as error:
        raise CommandError(f"The scheduler at {address} can't be reached: {error}") from error
    with client:
        yield client


def _security(settings: ClusterSettings) -> "Security":
    files = [settings.ca_file, settings.cert_file, settings.key_file]
    if not all(files):
        raise CommandError("tls:// needs ca_file, cert_file and key_file in your [cluster].")
    for file in filter(None, files):
        if not Path(file).expanduser().is_file():
            raise CommandError(f"The file {file} in your [cluster] does not exist.")
    _quiet()
    from distributed import Security

    ca, cert, key = (str(Path(file).expanduser()) for file in filter(None, files))
    return Security(
        tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True
    )


@contextmanager
def local(workers: int | None, withheld: Collection[str]) -> "Iterator[Client]":
    """A cluster that listens on 127.0.0.1 only, and is removed afterwards; its processes do not
    get the environment variables in `withheld`."""
    _quiet()
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        stack.enter_context(without(withheld))  # to the end: dead workers are started again
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pinfold-cluster-"))
        cluster = stack.enter_context(
            LocalCluster(
                n_workers=workers or os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                host=_LOCALHOST,
                scheduler_port=0,
                dashboard_address=f"{_LOCALHOST}:0",
                worker_dashboard_address=f"{_LOCALHOST}:0",
                silence_logs=logging.CRITICAL,
                local_directory=folder,
                preload=["pinfold.many.workers"],
            )
        )
        yield stack.enter_context(Client(cluster, set_as_default=False, name="pinfold"))


def _quiet() -> None:
    """Silence Dask's logs. Raises `CommandError` if Dask is not installed."""
    try:
        import dask
        import distributed
    except ImportError as error:
        raise CommandError(MISSING) from error
    dask.config.set(
        {
            "logging.distributed": "critical",
            "distributed.admin.large-graph-warning-threshold": "1GB",
        }
    )
    logging.getLogger(distributed.__name__).setLevel(logging.CRITICAL)
