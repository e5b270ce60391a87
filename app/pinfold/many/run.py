"""Process many sessions: reuse known results, continue after failures."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from errno import EEXIST, EILSEQ, EINVAL, EISDIR, ENAMETOOLONG, ENOTDIR, ENOTEMPTY

from msgspec import Struct, field

from pinfold.adopt.adoption import NotASession
from pinfold.many import content
from pinfold.many.engines import Engine, SessionTask
from pinfold.many.named import NamedSession
from pinfold.many.results import Results
from pinfold.many.work import Failed, SessionWork

OF_A_NAME = {ENAMETOOLONG, EISDIR, ENOTDIR, EEXIST, ENOTEMPTY, EINVAL, EILSEQ}
"""Errors that a session's name causes, which may be hostile."""


class RunReport(Struct):
    """The outcome of a run. Sessions are identified by position."""

    keys: list[str]
    """Of each result; empty if there is none."""
    new: int = 0
    known: int = 0
    """Sessions whose results are from an earlier run."""
    failed: dict[int, str] = field(default_factory=dict)
    """Why, in a sentence."""
    lost: dict[int, int] = field(default_factory=dict)
    """How many of a session's pictures are missing."""
    held: dict[int, bytes] = field(default_factory=dict)
    """Results that could not be stored."""
    interrupted: bool = False

    @property
    def done(self) -> int:
        return self.new + self.known


RunListener = Callable[[RunReport], None]


def run(
    work: SessionWork,
    sessions: Sequence[NamedSession],
    engine: Engine,
    results: Results,
    listener: RunListener = lambda _: None,
) -> RunReport:
    """Process the sessions. After Ctrl+C the report has what was done by then.

    Raises `OSError` if results can't be written.
    """
    report = RunReport([""] * len(sessions))
    try:
        tasks = _tasks(work, sessions, results, report, listener)
        with closing(engine.map(work, tasks)) as done:
            for task, result in done:
                if isinstance(result, Failed):
                    report.failed[task.at] = result.why
                else:
                    _keep(task, result, results, report)
                listener(report)
    except KeyboardInterrupt:
        report.interrupted = True
    return report


def _keep(task: SessionTask, result: bytes, results: Results, report: RunReport) -> None:
    """Raises `OSError` if other results can't be stored either."""
    try:
        kept = results.put(task.key, task.session, result)
    except OSError as error:
        if error.errno not in OF_A_NAME:
            raise
        report.failed[task.at] = f"Its result can't be written: {error.strerror}."
        return
    if not kept:
        report.held[task.at] = result
    report.keys[task.at] = task.key
    report.new += 1


def _tasks(
    work: SessionWork,
    sessions: Sequence[NamedSession],
    results: Results,
    report: RunReport,
    listener: RunListener,
) -> Iterator[SessionTask]:
    """The sessions without a result; the others go into the report."""
    for at, session in enumerate(sessions):
        try:
            read = content.read(session.path)
        except NotASession as error:
            report.failed[at] = str(error)
        except OSError as error:
            report.failed[at] = f"{session.name} can't be read: {error.strerror or error}."
        else:
            if read.lost:
                report.lost[at] = read.lost
            sha256 = read.sha256
            key = work.key(session.name, sha256)
            if not results.has(key, session):
                yield SessionTask(at, session, key, read.data, sha256)
                continue
            report.keys[at] = key
            report.known += 1
        listener(report)


def new(
    work: SessionWork, sessions: Sequence[NamedSession], results: Results
) -> Iterator[SessionTask]:
    """The sessions that a run would process, one in memory at a time."""
    return _tasks(work, sessions, results, RunReport([""] * len(sessions)), lambda _: None)


def outcomes(
    report: RunReport, sessions: Sequence[NamedSession], results: Results
) -> Iterator[tuple[NamedSession, bytes]]:
    """The results, in the order of the sessions."""
    for at, (session, key) in enumerate(zip(sessions, report.keys, strict=True)):
        found = report.held.get(at) if key else None
        found = results.get(key, session) if key and found is None else found
        if found is not None:
            yield session, found
