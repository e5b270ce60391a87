"""Engines that map work over sessions, in this process or several; `cluster` has Dask."""

import os
import signal
import threading
from collections.abc import Collection, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, connection, get_context, parent_process
from typing import Protocol

from msgspec import Struct

from pinfold.many.named import NamedSession
from pinfold.many.work import Failed, SessionWork, attempt

LARGEST = 64 << 20
"""Bytes of a session that is handed to another process; a larger one is worked on in this one."""
AT_ONCE = 256 << 20
"""Bytes of sessions that are handed over and not yet done."""


class SessionTask(Struct, frozen=True):
    """A session to work on."""

    at: int
    """Its place among all."""
    session: NamedSession
    key: str
    data: bytes
    sha256: str


FinishedTask = tuple[SessionTask, bytes | Failed]


class Engine(Protocol):
    large: int
    """How many sessions were worked on here because they are too large to be handed over."""

    def map(
        self, work: SessionWork, tasks: Iterable[SessionTask]
    ) -> Generator[FinishedTask, None, None]:
        """The tasks with what came of them, as they are done. Takes a task only when there is room
        for it, so that few are in memory."""
        ...


class InProcess:
    """Sequential, in this process."""

    large = 0

    def map(
        self, work: SessionWork, tasks: Iterable[SessionTask]
    ) -> Generator[FinishedTask, None, None]:
        for task in tasks:
            yield here(work, task)


def here(work: SessionWork, task: SessionTask) -> FinishedTask:
    return task, attempt(work, task.session.name, task.data)


class Processes:
    """In `jobs` processes, which begin as new ones: nothing of this one is in them."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self.large = 0

    def map(
        self, work: SessionWork, tasks: Iterable[SessionTask]
    ) -> Generator[FinishedTask, None, None]:
        rest = iter(tasks)
        while suspects := (yield from self._mapped(work, rest, self._jobs)):
            # One of them ended its process, and all others with it. Each alone shows which.
            for suspect in suspects:
                if (yield from self._mapped(work, iter([suspect]), 1)):
                    yield suspect, Failed("The process working on it was killed.")

    def _mapped(
        self, work: SessionWork, tasks: Iterator[SessionTask], jobs: int
    ) -> Generator[FinishedTask, None, list[SessionTask]]:
        """Returns the tasks that were under way when a process was ended."""
        under_way: dict[Future[bytes | Failed], SessionTask] = {}
        before = set(active_children())
        pool = processes(jobs)
        more, task = True, None
        try:
            while more or under_way:
                while more and has_room(under_way.values(), 2 * jobs):
                    task = next(tasks, None)
                    if task is None:
                        more = False
                    elif len(task.data) > LARGEST:
                        self.large += 1
                        yield here(work, task)
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


def processes(jobs: int) -> ProcessPoolExecutor:
    """A pool of new processes, which end with this one."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin)


def has_room(under_way: Collection[SessionTask], most: int) -> bool:
    """Whether one more can be handed over."""
    return len(under_way) < most and sum(len(task.data) for task in under_way) < AT_ONCE


def _begin() -> None:
    """A process of the pool: Ctrl+C is for the one that began it, and it ends with that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
