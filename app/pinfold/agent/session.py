"""A session: what the screen, `exec` and the commands hold on to."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import cast, get_args

from pinfold.agent import instructions, playback, user_command
from pinfold.agent.calls import Calls, Consent
from pinfold.agent.compacting import Compacting
from pinfold.agent.files import Files
from pinfold.agent.found import changed_since, found_as
from pinfold.agent.memory import Memory
from pinfold.agent.memory_tool import MemoryApply
from pinfold.agent.options import Limits, Options
from pinfold.agent.queue import PromptQueue
from pinfold.agent.record import Record
from pinfold.agent.request import Connection, Requester
from pinfold.agent.server_count import ServerCount
from pinfold.agent.steering import Steering
from pinfold.agent.turn import Turn
from pinfold.agent.updates import (
    Phase,
    PromptReturned,
    Told,
    Update,
)
from pinfold.ports import (
    Approver,
    Clock,
    ModelInfo,
    ProviderError,
    Tool,
)
from pinfold.rollout import drafts
from pinfold.rollout.events import (
    ContextSet,
    Data,
    Event,
    ItemAdded,
    ModelChanged,
    PromptUnqueued,
    TurnFinished,
)
from pinfold.rollout.items import Image, Item
from pinfold.rollout.journal import Journal
from pinfold.settings import Auto, Mode
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import count_item
from pinfold.tokens.stream import StreamCount
from pinfold.tools.pictures import attached
from pinfold.window.reading import Reading

CRASHED = "Unknown: pinfold stopped before this call's result was written down."


class Session:
    """One conversation. Made by `open`, on the event loop; all its methods belong there too."""

    def __init__(
        self,
        record: Record,
        cwd: Path,
        connection: Connection,
        tools: Sequence[Tool],
        approver: Approver,
        clock: Clock,
        options: Options,
        *,
        user_folder: Path,
        connect: Callable[[str], Awaitable[Connection]],
    ) -> None:
        self._record = record
        self._connection = connection
        self._clock = clock
        self._user_folder = user_folder
        self._connect = connect
        self._consent = Consent(options.approvals, options.allow)
        self._limits = Limits(options.auto, options.threshold)
        self._prices = options.prices
        from pinfold.tools.recall import Recall  # loads pydantic

        self._memory = Memory(record.journal)
        record.subscribe(self._memory.hear)
        own: tuple[Tool, ...] = (Recall(record.window), MemoryApply(self._memory))
        by_name = {tool.schema.name: tool for tool in (*own, *tools)}
        self._calls = Calls(record, by_name, approver, self._consent, cwd)
        requester = Requester(
            record,
            clock,
            max_retries=options.max_retries,
            effort=options.reasoning_effort,
            rng=Random(),  # noqa: S311  jitter
        )
        self.compaction = Compacting(
            record,
            self._memory,
            cwd,
            lambda: self.model,
            self.reading,
            self._limits,
            lambda: self.busy,
            options.strategy,
            options.compact,
        )
        self._turn = Turn(
            record, requester, self._calls, self.compaction, max_steps=options.max_steps
        )
        self._task: asyncio.Task[None] | None = None
        self._queue = PromptQueue(record)
        self._closing = False
        self._found = found_as(record.state, read_only=record.journal.read_only)
        self.cwd = cwd
        self.files = Files(record, cwd)
        self._server_count = ServerCount(record, lambda: self._connection)
        record.subscribe(self._server_count.hear)
        self.window = Steering(record, lambda: self.model, self.reading, lambda: self.busy)

    @classmethod
    async def open(
        cls,
        journal: Journal,
        cwd: Path,
        connection: Connection,
        tools: Sequence[Tool],
        approver: Approver,
        clock: Clock,
        options: Options,
        *,
        counter: Counter,
        user_folder: Path,
        connect: Callable[[str], Awaitable[Connection]],
    ) -> "Session":
        """Fold the journal and go on from its end; a turn that a crash cut short is closed.

        Raises `JournalError`.
        """
        record = await asyncio.to_thread(Record, journal, counter, connection.wire_api)
        session = cls(
            record,
            cwd,
            connection,
            tools,
            approver,
            clock,
            options,
            user_folder=user_folder,
            connect=connect,
        )
        if not journal.read_only:
            await session._take_up()
        return session

    async def _take_up(self) -> None:
        record = self._record
        await self._calls.close_open(CRASHED)
        if left := record.state.queue:
            # Nothing is sent unasked: what waited when pinfold stopped goes into the prompt.
            texts = [*left.values(), await asyncio.to_thread(self.draft)]
            await asyncio.to_thread(self.save_draft, "\n\n".join(text for text in texts if text))
            await record.append(*(PromptUnqueued(id=k, reason="edited") for k in tuple(left)))
        if record.state.turn_open:
            await record.append(
                TurnFinished(turn=record.state.turn, state="interrupted", reason="pinfold stopped")
            )
        await self._note_model("session opened")
        if self.reading().source != "measured":
            self._server_count.ask()

    async def _note_model(self, reason: str) -> None:
        model, last = self.model, self._record.state.model
        now = ModelChanged(
            provider=model.provider,
            model=model.name,
            context_window=model.context_window,
            window_source=model.window_source,
            reason=reason,
        )
        if last is None or (last.provider, last.model, last.context_window) != (
            now.provider,
            now.model,
            now.context_window,
        ):
            await self._record.append(now)

    # What it is

    @property
    def id(self) -> str:
        return self._record.state.id

    @property
    def folder(self) -> Path:
        return self._record.journal.folder

    @property
    def read_only(self) -> bool:
        return self._record.journal.read_only

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know about how the session was found."""
        found = []
        if (torn := self._record.journal.torn) is not None:
            found.append(f"The last line was half-written. It is cut off and kept in {torn}.")
        found += self._found
        if damaged := self._record.state.unreadable:
            found.append(f"{damaged} lines of the journal are damaged; they stay as they are.")
        if self.read_only:
            found.append("This session is open read-only. /fork goes on in a copy of it.")
        return tuple(found)

    @property
    def items(self) -> Sequence[Item]:
        """Every item of the session, oldest first; `window` tells which the model sees."""
        return self.window.history

    @property
    def model(self) -> ModelInfo:
        return self._connection.model

    @property
    def choice_note(self) -> str:
        return self._connection.note

    @property
    def phase(self) -> Phase:
        return self._record.phase

    @property
    def approvals(self) -> str:
        return self._consent.mode

    @property
    def auto(self) -> Auto:
        """What happens at the threshold."""
        return self._limits.auto

    @property
    def threshold(self) -> float:
        """The share of the usable window at which it happens."""
        return self._limits.threshold

    @property
    def queue(self) -> tuple[tuple[int, str], ...]:
        return self._queue.prompts

    @property
    def last_ending(self) -> str:
        """How the last turn ended: `done`, `waiting`, `interrupted`, `failed`, or nothing yet."""
        return self._record.state.turn_state

    def reading(self) -> Reading:
        """The gauge now."""
        threshold = self._limits.threshold if self._limits.auto != "off" else None
        return self._record.gauge.reading(self.model, threshold, self._prices)

    def stream_count(self) -> StreamCount:
        """A count for text that streams in."""
        return StreamCount(self._record.gauge.counter)

    async def recount(self, counter: Counter) -> None:
        """Count the window again, with a counter that has its tokenizer by now."""
        wire_api = self._connection.wire_api
        # Counted in a thread, remembered by the counter, then only added up here.
        shown = [each.item for each in self._record.window.shown]
        await asyncio.to_thread(lambda: [count_item(counter, item, wire_api) for item in shown])
        self._record.gauge.recount(counter, wire_api)

    async def move_in(self) -> None:
        """Where another tool's set-up stands before the window, put ours there.

        Raises `JournalError`.
        """
        record = self._record
        if record.journal.started.adopted and not self.read_only:
            context = await self._fresh_context()
            if context.hash != record.state.context.hash:
                await record.append(context)

    async def warm(self) -> None:
        """Load what the first request needs. What fails here, the request will tell."""
        with suppress(ProviderError):
            await self._connection.provider.warm()

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        """Hear every update from now on. Returns how to stop."""
        return self._record.subscribe(listener)

    # What one can do

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def send(self, text: str) -> None:
        """Start a turn with `text`, or queue it while one runs. Comes back as `PromptReturned`
        where it can't even be written down."""
        if self.read_only:
            self._refuse(text, "This session is open to read only. Fork it to go on: /fork.")
        elif self.busy:
            self._queue.add(text)
        else:
            self.compaction.prompted()
            self._task = asyncio.create_task(self._run(text))

    def run_command(self, command: str) -> None:
        """Run the user's own shell command; what it prints enters the window."""
        if self.read_only or self.busy:
            why = "open to read only" if self.read_only else "busy: Esc interrupts the turn"
            self._refuse(f"!{command}", f"This session is {why}.")
        else:
            self._task = asyncio.create_task(self._command(command))

    def play(self, events: Sequence[Event], speed: float) -> None:
        """Write a recording down as if it happened now, `speed` times as fast; 0: at once."""
        self._task = asyncio.create_task(self._play(events, speed))

    def interrupt(self) -> None:
        """End the turn, the command, the wait or the question under way. What came is kept."""
        if self.busy:
            # Not at once: a task that is cancelled before its first step never sees its prompt.
            asyncio.get_running_loop().call_soon(self._cancel)

    def _cancel(self) -> None:
        # Once is enough: a second cancel would cut off the writing down of what came.
        if self._task is not None and not self._task.done() and not self._task.cancelling():
            self._task.cancel()

    def unqueue(self, queue_id: int) -> str:
        """Take a queued prompt back, to edit or drop it; its text, or nothing if it is gone."""
        return self._queue.take_back(queue_id)

    async def set_model(self, name: str) -> None:
        """Use another model from the next request on. Raises `ProviderError`, `JournalError`."""
        if self.busy:
            raise ProviderError("A turn is running: interrupt it first, or wait for its end.")
        old = self._connection
        new = await self._connect(name)
        if self.busy:
            await new.provider.close()
            raise ProviderError("A turn began meanwhile: choose the model again at its end.")
        self._connection = new
        if self._connection.provider is not old.provider:
            await old.provider.close()
        await self._note_model("chosen by the user")
        if new.wire_api != old.wire_api:
            await self.recount(self._record.gauge.counter)
        self.compaction.acted()
        await self.compaction.check("model")

    def set_approvals(self, mode: str) -> None:
        """Change what runs without a question, from the next call on. Raises `ValueError`."""
        if mode not in get_args(Mode):
            raise ValueError(f"{mode!r} is none of {', '.join(get_args(Mode))}.")
        self._consent.mode = cast("Mode", mode)

    def set_threshold(self, to: str) -> None:
        """Take `auto`, `ask`, `off`, or a share of the usable window. Raises `ValueError`."""
        self._limits.set(to)
        self.compaction.acted()

    def save_draft(self, text: str) -> None:
        """Keep what is being typed; it survives a crash. Raises `OSError`."""
        if not self.read_only:
            drafts.save(self.folder, text)

    def draft(self) -> str:
        return drafts.load(self.folder)

    async def idle(self) -> None:
        """Wait until nothing runs and nothing is left to write."""
        while self.busy or self._queue.writing:
            running = {*self._queue.writing, *((self._task,) if self._task else ())}
            await asyncio.wait(running)
            await asyncio.sleep(0)

    async def close(self) -> None:
        """Interrupt what runs and let go of the journal and the model."""
        self._closing = True
        self._server_count.stop()
        self.interrupt()
        await self.idle()
        try:
            await self._connection.provider.close()
        finally:
            await self._record.close()

    # How it runs

    async def _run(self, text: str | None, taken: Sequence[Data] = ()) -> None:
        """Run turns from `text` on, until the queue is empty; `taken` took `text` out of it."""
        record = self._record
        waiting = text
        """The prompt that is not in the journal yet."""
        try:
            while waiting is not None:
                context = await self._fresh_context()
                images = await self._pictures(waiting)
                await self._catch_up()
                prompt, waiting = waiting, None
                ending = await self._turn.run(
                    prompt,
                    context,
                    self._connection,
                    *taken,
                    images=images,
                )
                if not ending.accepted:
                    waiting = prompt
                    break
                if ending.state != "done" or self._interrupted():
                    break
                waiting, taken = self._queue.next()
        except asyncio.CancelledError:
            pass  # before the turn had begun
        except Exception as error:  # the session must outlive our own mistakes
            record.tell(Told(f"pinfold failed: {type(error).__name__}: {error}", "error"))
        finally:
            self._give_back(waiting)
            record.enter("idle")

    async def _catch_up(self) -> None:
        """Journal what changed while the session was closed; the model reads what became of it."""
        meanwhile = await self.files.meanwhile()
        self.files.up_to_date = True
        if not meanwhile.seen:
            return
        await self._record.append(*meanwhile.seen)
        if self.model.tools:
            checkpoint, _ = await self._memory.now()
            text = changed_since(meanwhile, checkpoint)
            await self._record.add(
                lambda n: [ItemAdded(item=Item(n=n, kind="checkpoint", content=text))]
            )

    def _interrupted(self) -> bool:
        task = asyncio.current_task()
        return task is not None and bool(task.cancelling())

    def _give_back(self, waiting: str | None) -> None:
        """Put into the prompt what was not sent: `waiting`, and the queue.

        A session that closes leaves its queue in the journal, for the next opening.
        """
        texts = [] if waiting is None else [waiting]
        if not self._closing:
            texts += self._queue.clear()
        if texts:
            self._record.tell(PromptReturned("\n\n".join(texts)))

    async def _pictures(self, prompt: str) -> tuple[Image, ...]:
        images, problems = await asyncio.to_thread(attached, prompt, self.cwd)
        for problem in problems:
            self._record.warn(problem)
        return images

    async def _fresh_context(self) -> ContextSet:
        tools = [tool.schema for tool in self._calls.tools.values()]
        return await asyncio.to_thread(
            instructions.build, self.cwd, self._user_folder, self.model, tools, self._clock.now()
        )

    async def _command(self, command: str) -> None:
        try:
            await user_command.run(self._record, self.cwd, command)
        except asyncio.CancelledError:
            pass  # what came is in the journal
        except Exception as error:  # the session must outlive our own mistakes
            self._refuse(f"!{command}", str(error))
        if self._interrupted():
            self._give_back(None)
            self._record.enter("idle")
        else:
            await self._run(*self._queue.next())

    async def _play(self, events: Sequence[Event], speed: float) -> None:
        try:
            await playback.play(self._record, events, self._clock, speed)
        except asyncio.CancelledError:
            pass  # what was played stays
        except Exception as error:  # the session must outlive our own mistakes
            self._record.tell(Told(f"The recording stopped: {error}", "error"))
        finally:
            self._give_back(None)
            self._record.enter("idle")

    def _refuse(self, text: str, why: str) -> None:
        self._record.tell(Told(why, "error"))
        self._record.tell(PromptReturned(text))
