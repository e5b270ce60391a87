"""Background commands, as the journal and the model learn of them."""

from contextlib import suppress

from msgspec.structs import replace

from pinfold.agent.record import Record
from pinfold.agent.state import running
from pinfold.agent.updates import Told
from pinfold.ports.tool import ToolError
from pinfold.rollout.events import Data, ItemAdded, JobEnded, JobStarted
from pinfold.rollout.items import ABOUT, JOB, JOBS, Item
from pinfold.rollout.journal import JournalError
from pinfold.sanitize import one_line
from pinfold.tools.jobs import BackgroundJob, BackgroundJobs

TAIL = 2_000
"""Bytes of unread output that the model is told when a command ends."""


class Background:
    """The background commands of a session."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.jobs = BackgroundJobs(record.state.last_job, self._journal_end)

    async def take_up(self) -> None:
        """Journal the end of commands left by an earlier opening. Raises `JournalError`."""
        left = tuple(self._record.state.jobs)
        if left:
            await self._record.append(*(JobEnded(job=n, reason="pinfold stopped") for n in left))

    async def _journal_end(self, job: BackgroundJob) -> None:
        record = self._record
        ended = JobEnded(
            job=job.number,
            exit_code=job.exit_code,
            reason=job.reason,
            seconds=round(job.seconds, 1),
        )
        try:
            await record.append(ended)
        except JournalError as error:
            record.tell(Told(str(error), "error"))
        for note in job.notes:
            record.warn(note)
        how = job.reason or f"exit code {job.exit_code}"
        said = f"Background command {job.number} has ended ({how}): {one_line(job.command)}"
        record.tell(Told(said))

    async def tell(self) -> None:
        """Append what the model does not know yet: ended and running commands. Raises
        `JournalError`."""
        record = self._record
        if not record.state.unreported_jobs and record.state.knows_jobs:
            return
        rest = {n: await self._unread_output(n) for n in tuple(record.state.unreported_jobs)}

        def make(first: int) -> list[Data]:
            state = record.state
            items = [_ended_item(*state.unreported_jobs[n], text) for n, text in rest.items()]
            if not state.knows_jobs:
                detail = {ABOUT: [JOBS, running(state.jobs)]}
                items.append(
                    Item(n=0, kind="context", content=_running_text(state.jobs), detail=detail)
                )
            return [ItemAdded(item=replace(item, n=n)) for n, item in enumerate(items, first)]

        await record.add(make)

    async def _unread_output(self, number: int) -> str:
        with suppress(ToolError):  # it belongs to an earlier opening
            _, text = await self.jobs.output(number, 0, TAIL)
            return text
        return ""


def _running_text(jobs: dict[int, JobStarted]) -> str:
    if not jobs:
        return "No commands are running in the background any more."
    lines = (f"- {n}: `{job.command}`, output in {job.output}" for n, job in jobs.items())
    return "\n".join(["These commands are running in the background:", *lines])


def _ended_item(started: JobStarted, ended: JobEnded, text: str) -> Item:
    how = ended.reason or f"exit code {ended.exit_code}"
    seconds = f", {ended.seconds:.1f} s" if ended.seconds else ""
    head = f"Background command {started.job} (`{started.command}`) has ended: {how}{seconds}."
    more = "It has printed nothing new." if not text else "The end of its output:\n"
    where = f"{head} All of its output is in {started.output}. {more}"
    return Item(
        n=0,
        kind="context",
        content=where + text,
        detail={
            JOB: started.job,
            "act": "command",
            "command": started.command,
            "exit_code": ended.exit_code,
            "ok": ended.exit_code == 0,
            "host": [[0, len(where)]],
        },
    )
