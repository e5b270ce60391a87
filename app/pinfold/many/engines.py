"""Engines that map work over sessions, in this process or several; Dask's is in `cluster`."""

import os
import signal
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, connection, get_context, parent_process
from typing import ParamSpec, Protocol, TypeVar

from msgspec import Struct

from pinfold.many.named import NamedSession
from pinfold.many.work import Failed, SessionWork, attempt

LARGEST = 64 << 20
"""Bytes of a session that is sent to another process; larger ones are processed in this one."""
AT_ONCE = 256 << 20
"""Bytes of sessions that are sent and not yet done."""
P = ParamSpec("P")
T = TypeVar("T")


class SessionTask(Struct, frozen=True):
    """A session to process."""

    at: int
    """Its position among all."""
    session: NamedSession
    key: str
    data: bytes
    sha256: str


FinishedTask = tuple[SessionTask, bytes | Failed]


class Engine(Protocol):
    large: int
    """How many sessions were too large to send, and processed here."""

    def map(
        self, work: SessionWork, tasks: Iterable[SessionTask]
    ) -> Generator[FinishedTask, None, None]:
        """The tasks with their results, as they finish. Takes a task only when there is room for
        it, so that few are in memory."""
        ...


class InProcess:
    """Sequential, in this process."""

    large = 0

    def map(
        self, work: SessionWork, tasks: Iterable[SessionTask]
    ) -> Generator[FinishedTask, None, None]:
        for task in tasks:
            yield process_here(work, task)


def process_here(work: SessionWork, task: SessionTask) -> FinishedTask:
    return task, attempt(work, task.session.name, task.data)


class Processes:
    """Parallel, in `jobs` new processes."""

    def __init__(self, jobs: int, withheld: Collection[str]) -> None:
        """The processes do not get the environment variables in `withheld`."""
        self._jobs = jobs
        self._withheld = withheld
        self.large = 0

    def map(
        self, work: SessionWork, tasks: Iterable[SessionTask]
    ) -> Generator[FinishedTask, None, None]:
        rest = iter(tasks)
        while suspects := (yield from self._mapped(work, rest, self._jobs)):
            # One of them killed its process, which ends the whole pool. Each alone shows which.
            for suspect in suspects:
                if (yield from self._mapped(work, iter([suspect]), 1)):
                    yield suspect, Failed("The process working on it was killed.")

    def _mapped(
        self, work: SessionWork, tasks: Iterator[SessionTask], jobs: int
    ) -> Generator[FinishedTask, None, list[SessionTask]]:
        """Returns the tasks that were under way when a process was killed."""
        under_way: dict[Future[bytes | Failed], SessionTask] = {}
        before = set(active_children())
        pool = Pool(jobs, self._withheld)
        more, task = True, None
        try:
            while more or under_way:
                while more and has_room(under_way.values(), 2 * jobs):
                    task = next(tasks, None)
                    if task is None:
                        more = False
                    elif len(task.data) > LARGEST:
                        self.large += 1
                        yield process_here(work, task)
                    else:
                        future = pool.submit(attempt, work, task.session.name, task.data)
                        under_way[future] = task
                    task = None
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    task = under_way[future]
                    result = future.result()
                    del under_way[future]
                    yield task, result
                    task = None
        except BrokenProcessPool:
            return list({task.at: task for task in (task, *under_way.values()) if task}.values())
        except BaseException:  # nobody waits for what is under way
            for child in {*active_children()} - before:
                child.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
        return []


class Pool(ProcessPoolExecutor):
    """New processes, which end with this one and lack the variables in `withheld`."""

    def __init__(self, jobs: int, withheld: Collection[str]) -> None:
        self._withheld = withheld
        with without(withheld):  # starts a process that tracks shared resources
            super().__init__(jobs, get_context("spawn"), initializer=_begin)

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        with without(self._withheld):  # starts processes as they are needed
            return super().submit(work, *args, **kwargs)


@contextmanager
def without(variables: Collection[str]) -> Iterator[None]:
    """Take these variables out of the environment, which processes started now inherit."""
    held = {name: os.environ.pop(name) for name in variables if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(held)


def has_room(under_way: Collection[SessionTask], most: int) -> bool:
    """Whether one more can be sent."""
    return len(under_way) < most and sum(len(task.data) for task in under_way) < AT_ONCE


def _begin() -> None:
    """Set a process of the pool up: it ignores Ctrl+C, and ends when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
