"""Phase 1: reads finished sessions. (Phase 2, in `consolidate`, makes files of the results.)

If a process dies between any two steps, nothing is lost and nothing is done twice: its jobs are
claimed again once their leases have ended.
"""

import asyncio
from collections import Counter as Tally
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.metadata import detached
from pinfold.agent.requests.writing import Writer
from pinfold.memories import source
from pinfold.memories.eligible import chosen, eligible
from pinfold.memories.extract import Extraction, UnusableAnswer, extract
from pinfold.memories.offline import read_offline
from pinfold.memories.records import Claim, SessionCandidate, StateError
from pinfold.memories.source import safely
from pinfold.ports.clock import Clock
from pinfold.ports.errors import NoSuchModel, ProviderError
from pinfold.rollout.journal import JournalError
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import Usage
from pinfold.settings import MemorySettings
from pinfold.tokens.counter import Counter

if TYPE_CHECKING:
    from pinfold.memories.state import MemoriesState

CONCURRENCY = 8
"""Sessions that are read at the same time."""
EMBEDDED = "embedded"
"""The provider whose model is too small to read sessions."""

Connect = Callable[[], Awaitable[Connection]]
"""Reaches a model. Raises `ProviderError` if there is none."""
ReadStatus = Literal["succeeded", "succeeded_no_output", "failed", "lost"]
"""`lost`: another process has claimed the session, or it was forgotten."""
ReadListener = Callable[[str, str], None]
"""Called after each session with its id, and why it failed or an empty text."""
T = TypeVar("T")


class PipelineReport(Struct, frozen=True):
    """The outcome of phase 1."""

    results: Mapping[str, ReadStatus] = field(default_factory=dict)
    """By session."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Why sessions failed."""
    model: str = ""
    """The model that read them; empty if none did."""
    proven: int = 0
    """Statements that their sessions support."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many other statements there were, by reason."""
    usage: Usage = Usage()
    seconds: float = 0.0
    note: str = ""
    """A sentence for the user, or empty."""

    def __add__(self, later: "PipelineReport") -> "PipelineReport":
        return PipelineReport(
            {**self.results, **later.results},
            {**self.errors, **later.errors},
            later.model or self.model,
            self.proven + later.proven,
            dict((Tally(self.left_out) + Tally(later.left_out)).most_common()),
            self.usage + later.usage,
            round(self.seconds + later.seconds, 3),
            later.note or self.note,
        )


@dataclass(eq=False)
class Phase1:
    """Reads the sessions that have changed. An instance runs once."""

    state: "MemoriesState"
    store: SessionStore
    settings: MemorySettings
    clock: Clock
    _: KW_ONLY
    limit: int
    """Most sessions to read."""
    connect: Connect | None = None
    """None if no model is to be asked."""
    metadata: bool = True
    """Whether requests say what they are for."""
    cache: Path | None = None
    """Where the tokenizer is kept."""
    only: Sequence[Path] | None = None
    """Folders of sessions that the user named."""
    processes: Executor | None = None
    """Reads sessions where no model is asked."""
    listener: ReadListener = lambda _session, _why: None

    def __post_init__(self) -> None:
        # One thread for what needs the processor, which the screen needs too.
        self._worker = ThreadPoolExecutor(1, "memories")
        self._places = asyncio.Semaphore(CONCURRENCY)
        self._claims: dict[str, Claim] = {}
        """Claims of sessions that are not finished."""
        self._made: list[Extraction] = []
        self._results: dict[str, ReadStatus] = {}
        self._errors: dict[str, str] = {}
        self._broken: StateError | None = None

    async def run(self, but: Collection[str] = (), *, force: bool = False) -> PipelineReport:
        """Read the sessions that are due, except `but`; with `force` also those that failed lately.

        Unfinished claims are always released. Raises `StateError`.
        """
        started = self.clock.monotonic()
        claiming = asyncio.ensure_future(asyncio.to_thread(self._claim, but, force))
        note, model = "", ""
        try:
            candidates = await asyncio.shield(claiming)
            async with AsyncExitStack() as closing:
                writer = None
                try:
                    writer = await self._writer(closing) if candidates else None
                except NoSuchModel as error:
                    return PipelineReport(note=str(error))
                except ProviderError:
                    note = "No model is set up: memories are made without one."
                model = writer.name if writer else ""
                async with asyncio.TaskGroup() as group:
                    for candidate in candidates:
                        group.create_task(self._finish(candidate, writer))
        finally:
            self._worker.shutdown(wait=False, cancel_futures=True)
            await asyncio.wait([claiming])
            with suppress(StateError):  # then the leases end
                await asyncio.to_thread(self.state.release, *self._claims.values())
        if self._broken is not None:
            raise self._broken
        return PipelineReport(
            self._results,
            self._errors,
            model,
            sum(made.proven for made in self._made),
            dict(Tally(why for made in self._made for why in made.left_out).most_common()),
            sum((made.usage for made in self._made), Usage()),
            round(self.clock.monotonic() - started, 3),
            note,
        )

    def _claim(self, but: Collection[str], force: bool) -> list[SessionCandidate]:
        if self.only is None:
            found = eligible(self.store, self.settings, self.clock.now(), but)
        else:
            found = chosen(self.only, self.settings, but)
        every = {candidate.session: candidate for candidate in found}
        claims = self.state.claim_sessions(every.values(), self.limit, force=force)
        self._claims = {claim.key: claim for claim in claims}
        return [every[claim.key] for claim in claims]

    async def _writer(self, closing: AsyncExitStack) -> Writer | None:
        """The writer that asks the model; None if none is asked. Raises `ProviderError`."""
        if self.connect is None:
            return None
        connection = await self.connect()
        closing.push_async_callback(connection.provider.close)
        if connection.model.provider == EMBEDDED:
            return None
        counter = Counter(connection.model.encoding, self.cache)
        await asyncio.to_thread(counter.load)
        headers = detached("memory", wanted=self.metadata)
        return Writer(connection.provider, connection.model, counter, self.clock, headers=headers)

    async def _finish(self, candidate: SessionCandidate, writer: Writer | None) -> None:
        claim = self._claims[candidate.session]
        try:
            async with self._places:
                result, ended = await self._read(candidate, claim, writer)
        except StateError as error:
            self._broken = error
            return
        del self._claims[candidate.session]
        self._results[candidate.session] = result = result if ended else "lost"
        self.listener(candidate.session, self._errors.get(candidate.session, ""))

    async def _read(
        self, candidate: SessionCandidate, claim: Claim, writer: Writer | None
    ) -> tuple[ReadStatus, bool]:
        """The result, and whether the job was still ours."""
        state = self.state
        try:
            folder = Path(candidate.rollout_path).parent
            if writer is None:
                reader = self.processes or self._worker
                reading = asyncio.get_running_loop().run_in_executor(reader, read_offline, folder)
                cwd, made = await reading
            else:
                session = await self._in_thread(source.read, folder)
                cwd, made = session.cwd, Extraction(None)
                if session.is_talk:
                    made = await extract(session, writer, self._in_thread)
        except (JournalError, OSError, ProviderError, UnusableAnswer) as error:
            why = safely(str(error))
        except Exception as error:  # a hostile session must not stop the others
            why = f"{type(error).__name__} while it was read"
        else:
            self._made.append(made)
            candidate = replace(candidate, cwd=cwd)
            found = made.extracted
            ended = await asyncio.to_thread(state.finish_extracted, claim, candidate, found)
            return "succeeded" if found else "succeeded_no_output", ended
        self._errors[candidate.session] = why
        return "failed", await asyncio.to_thread(state.fail, claim, why)

    async def _in_thread(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, lambda: work(*args))
