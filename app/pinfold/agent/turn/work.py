"""Runs one task of a session at a time, then the prompts that wait."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pinfold.agent.calls.outputs import Outputs
from pinfold.agent.hooks import Stopped
from pinfold.agent.playback import rounds
from pinfold.agent.playback.playback import Playback
from pinfold.agent.playback.rounds import Round
from pinfold.agent.record import Record
from pinfold.agent.turn import user_command
from pinfold.agent.turn.before_turn import BeforeTurn
from pinfold.agent.turn.ending import UNSENT, Ending, Sending
from pinfold.agent.turn.planning import Planning
from pinfold.agent.turn.queue import PromptQueue
from pinfold.agent.turn.turn import Turn
from pinfold.agent.updates import Phase, PromptReturned, Told
from pinfold.ports.tool import Terminal
from pinfold.rollout.events import Data
from pinfold.rollout.journal import JournalError
from pinfold.rollout.provenance import Prompt
from pinfold.tools.jobs import BackgroundJobs

Answer = TypeVar("Answer")


@dataclass(eq=False)
class Work:
    """Turns, the user's commands, compactions by hand, recordings."""

    _record: Record
    _cwd: Path
    _turn: Turn
    _before: BeforeTurn
    _outputs: Outputs
    _jobs: BackgroundJobs
    queue: PromptQueue
    _planning: Planning
    rounds: Sequence[Round] = field(default=(), init=False)
    """The compactions of the recording that was played."""
    terminal: Terminal | None = field(default=None, init=False)
    """Lent to the user's own commands that ask for keys."""
    closing: bool = field(default=False, init=False)
    """Whether the queue stays in the journal, for the next opening."""
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def send(self, prompt: Prompt, *, steers: bool) -> asyncio.Future[Ending]:
        """Start a turn, or queue its prompt, which may join the turn that runs; how it ends."""
        if self.busy:
            return self.queue.add(prompt, steers=steers)
        sending = Sending(prompt)
        self._task = asyncio.create_task(self._run(sending))
        return sending.ending

    def command(self, command: str) -> None:
        """Start the user's own shell command, or queue it until the turn that runs has ended."""
        prompt = Prompt(f"!{command}")
        if self.busy:
            self.queue.add(prompt, is_command=True)
        else:
            self._task = asyncio.create_task(self._run(Sending(prompt, is_command=True)))

    def play(self, playing: Playback, speed: float, *, told: bool) -> None:
        """Start a recording; `told` tells of its compactions though there were none."""
        self._task = asyncio.create_task(self._play(playing, speed, told=told))

    async def wait_for(
        self, work: Callable[[], Awaitable[Answer]], phase: Phase | None = None
    ) -> Answer | None:
        """The answer of work that prompts wait for, or None where `interrupt` ended it.

        Not while it is busy. Raises what `work` raises.
        """
        answer: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._wait_for(work, phase, answer))
        return await asyncio.shield(answer)

    def interrupt(self) -> None:
        """Stop what runs. What arrived is kept."""
        if self.busy:
            # Not at once: a task that is cancelled before its first step never sees its prompt.
            asyncio.get_running_loop().call_soon(self._cancel)

    def _cancel(self) -> None:
        # Once is enough: a second cancel would cut off the writing down of what came.
        if self._task is not None and not self._task.done() and not self._task.cancelling():
            self._task.cancel()

    async def idle(self) -> None:
        """Wait until nothing runs and nothing is left to write."""
        while self.busy or self.queue.writing:
            running = {*self.queue.writing, *((self._task,) if self._task else ())}
            await asyncio.wait(running)
            await asyncio.sleep(0)

    def refuse(self, text: str, why: str) -> None:
        """Give back what was typed."""
        self._record.tell(Told(why, "error"))
        self._record.tell(PromptReturned(text))

    # The tasks

    async def _run(self, waiting: Sending | None, taken: Sequence[Data] = ()) -> None:
        """Run turns and commands until the queue is empty; `taken` took the first out of it."""
        record = self._record
        sent: Sending | None = None
        failed = UNSENT
        try:
            while waiting is not None:
                if waiting.is_command:
                    command, waiting = waiting, None
                    await self._command(command, taken)
                    if not _interrupted():
                        waiting, taken = self.queue.next()
                    continue
                context, images = await self._before.ready(waiting.prompt)
                sent, waiting = waiting, None
                ending = await self._turn.run(sent.prompt, context, *taken, images=images)
                sent.end(ending)
                self.queue.end_joined(ending)
                if not ending.sent:
                    waiting = sent
                    break
                if ending.state != "done" or _interrupted():
                    break
                waiting, taken = self.queue.next()
                if waiting is None and (prompt := await self._planning.offer(ending)):
                    waiting = Sending(prompt)
        except asyncio.CancelledError:
            pass  # before the turn had begun
        except Exception as error:  # the session must outlive our own mistakes
            own = not isinstance(error, JournalError | Stopped)
            why = f"pinfold failed: {type(error).__name__}: {error}" if own else str(error)
            record.tell(Told(why, "error"))
            failed = Ending("failed", why, sent=False)
        finally:
            for sending in (sent, waiting):
                if sending is not None:
                    sending.end(failed)
            self.queue.end_joined(failed)
            self._settle(waiting)

    async def _command(self, sending: Sending, taken: Sequence[Data]) -> None:
        command = sending.prompt.text.removeprefix("!")
        try:
            if taken:
                await self._record.append(*taken)
            async with self._jobs.apart():
                await user_command.run(
                    self._record, self._cwd, self._outputs, command, self.terminal
                )
        except asyncio.CancelledError:
            pass  # what came is in the journal
        except Exception as error:  # the session must outlive our own mistakes
            self.refuse(sending.prompt.text, str(error))
        sending.end(Ending("done"))

    async def _wait_for(
        self,
        work: Callable[[], Awaitable[Answer]],
        phase: Phase | None,
        answer: "asyncio.Future[Answer | None]",
    ) -> None:
        if phase is not None:
            self._record.enter(phase)
        try:
            answer.set_result(await work())
        except asyncio.CancelledError:
            answer.set_result(None)
        except Exception as error:  # whoever asked is told
            answer.set_exception(error)
        await self._go_on()

    async def _play(self, playing: Playback, speed: float, *, told: bool) -> None:
        try:
            await playing.play(speed)
        except asyncio.CancelledError:
            pass  # what was played stays
        except Exception as error:  # the session must outlive our own mistakes
            self._record.tell(Told(f"The recording stopped: {error}", "error"))
        finally:
            self.rounds = tuple(playing.rounds)
            if self.rounds or told:
                table = ("Compactions:", *rounds.lines(self.rounds))
                self._record.tell(Told("\n".join(table)))
            self._settle(None)

    async def _go_on(self) -> None:
        """Run the prompts that waited, unless the user interrupted."""
        if _interrupted():
            self._settle(None)
        else:
            await self._run(*self.queue.next())

    def _settle(self, waiting: Sending | None) -> None:
        """Return what was not sent to the prompt: `waiting`, and the queue."""
        texts = [] if waiting is None else [waiting.prompt.text]
        if self.closing:
            self.queue.leave()
        else:
            texts += self.queue.clear()
        if texts:
            self._record.tell(PromptReturned("\n\n".join(texts)))
        self._record.enter("idle")


def _interrupted() -> bool:
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())
