"""Runs tool calls and journals their results."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from msgspec.structs import replace

from pinfold.agent.calls import plan_mode
from pinfold.agent.calls.approvals import Approvals, Consent, RefusedCall
from pinfold.agent.calls.background import Background
from pinfold.agent.calls.confinement import Confinement
from pinfold.agent.calls.live import LiveOutput, headed
from pinfold.agent.calls.outputs import Outputs
from pinfold.agent.calls.places import CallPlace
from pinfold.agent.calls.results import interrupted, observed, statement
from pinfold.agent.calls.second_try import SecondTry
from pinfold.agent.calls.seen import Seen
from pinfold.agent.calls.toolbox import Toolbox
from pinfold.agent.context.remembering import Remembering
from pinfold.agent.hooks import Hooks
from pinfold.agent.record import Record
from pinfold.agent.updates import ToolStarted
from pinfold.ports.approver import Question
from pinfold.ports.tool import Review, ToolContext, ToolError, ToolOutcome, UserReply
from pinfold.rollout.events import Data
from pinfold.rollout.items import Item, State
from pinfold.rollout.journal import JournalError
from pinfold.tools import guard
from pinfold.tools.sandbox.denied import Way
from pinfold.tools.workspace import observe_output

MAX_PARALLEL = 8
WRITES = ("write", "foreign")
"""Kinds of access that may change the files a review names."""
UNWRITTEN = "Ran; its result could not be written. Check what it did before you run it again."
INTERRUPTED = "The user interrupted this call."
STOPPED = "Stopped, because the session could not be written."


@dataclass(slots=True)
class _RunningCall:
    """A call under way."""

    call: Item
    context: ToolContext
    place: CallPlace
    proposed: Review | None = None
    """What it would do, where that is known."""
    review: Review | None = None
    """What it does, once it does it."""
    edited: str = ""
    """The arguments that the user gave it in place of the model's."""
    outcome: ToolOutcome | None = None
    """Its result, also if it was interrupted."""
    aside: bool = False
    """Whether pinfold made it, not a model: it has no card."""


class Calls:
    """Runs the calls of a response and journals every result."""

    def __init__(
        self,
        record: Record,
        tools: Toolbox,
        approvals: Approvals,
        consent: Consent,
        confinement: Confinement,
        workspace: Path,
        hooks: Hooks,
        remembering: Remembering,
        outputs: Outputs,
        background: Background,
        tell_of_agents: Callable[[], Awaitable[None]],
    ) -> None:
        self._record = record
        self._tools = tools
        self._approvals = approvals
        self._consent = consent
        self._confinement = confinement
        self._second = SecondTry(record, approvals.ask)
        self._workspace = workspace
        self._hooks = hooks
        self._remembering = remembering
        self._outputs = outputs
        self._background = background
        self._tell_of_agents = tell_of_agents
        self._seen = Seen(record)
        self._parallel = asyncio.Semaphore(MAX_PARALLEL)
        self._begun: dict[int, _RunningCall] = {}
        """Calls that began to run and whose result is not in the journal yet."""
        self._failed = False
        """A result could not be written, which ends the calls beside it."""

    async def run(self, calls: Sequence[Item]) -> None:
        """Run calls in order; neighbouring calls of tools that allow it run in parallel."""
        self._record.enter("tools")
        self._failed = False
        for batch in self._batches(calls):
            try:
                async with asyncio.TaskGroup() as group:
                    place = None
                    for call in batch:
                        place = CallPlace(place)
                        group.create_task(self._run_in_place(call, place))
            except* JournalError as failures:
                raise JournalError(str(failures.exceptions[0])) from failures

    async def aside(self, call: Item) -> ToolOutcome:
        """Run a call of pinfold's own, with the same approvals and sandbox; its result is not
        journalled. Raises `RefusedCall`, `ToolError`, `JournalError`."""
        self._record.enter("tools")
        run = _RunningCall(call, self._context(call, lambda _: None), CallPlace(), aside=True)
        try:
            return await self._run_tool(run)
        finally:
            run.place.leave()
            self._begun.pop(call.n, None)

    def _batches(self, calls: Iterable[Item]) -> Iterator[list[Item]]:
        def parallel(call: Item) -> bool:
            tool = self._tools.get(call)
            return tool is not None and tool.parallel

        for together, group in groupby(calls, parallel):
            if together:
                yield list(group)
            else:
                yield from ([call] for call in group)

    async def tell_limits(self) -> None:
        """Tell the model what changed: approvals, the sandbox, what runs in the background. Raises
        `JournalError`."""
        await self._confinement.tell(self._record, self._consent.mode)
        await plan_mode.tell(self._record, self._consent)
        await self._background.tell()
        await self._tell_of_agents()

    async def close_open(
        self, reason: str, agents: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Give every call without a result one that says why: `reason`, or, where it waited for an
        agent, what `agents` has for its id."""
        for call in self._record.window.open_calls:
            why = agents.get(call.call_id or "", reason)
            outcome = ToolOutcome(why, ok=False)
            if run := self._begun.get(call.n):
                seen = run.outcome.observations if run.outcome else ()
                outcome = ToolOutcome(UNWRITTEN, ok=False, observations=seen)
            await self._journal_result(call, outcome, "unknown", run)

    async def _run_in_place(self, call: Item, place: CallPlace) -> None:
        try:
            await self._run_to_result(call, place)
        finally:
            place.leave()

    async def _run_to_result(self, call: Item, place: CallPlace) -> None:
        live = LiveOutput(self._record, call.call_id or "")
        run = _RunningCall(call, self._context(call, live.on_output), place)
        async with self._parallel:
            try:
                outcome = await self._run_tool(run)
            except RefusedCall as refusal:
                detail = {"refused": True, "act": "refused"}
                detail |= {"words": refusal.words} if refusal.words else {}
                outcome = ToolOutcome(str(refusal), ok=False, detail=detail)
            except ToolError as error:
                outcome = ToolOutcome(str(error), ok=False)
            except asyncio.CancelledError:
                why = STOPPED if self._failed else INTERRUPTED
                state: State = "complete" if run.outcome else "interrupted"
                run.outcome = run.outcome or interrupted(why, run.review, live.text)
                await place.write(self._journal_result(call, run.outcome, state, run))
                raise
            except Exception as error:  # a tool must not take the shell down
                outcome = ToolOutcome(f"The tool failed: {type(error).__name__}: {error}", ok=False)
            await place.write(self._journal_result(call, outcome, "complete", run))

    def _context(self, call: Item, on_output: Callable[[str], None]) -> ToolContext:
        return self._outputs.bounded(
            ToolContext(
                workspace=self._workspace,
                folder=self._record.journal.folder,
                call_id=call.call_id or "",
                on_output=on_output,
                sandbox=self._confinement.of(self._consent.mode),
                jobs=self._background.jobs,
                ask=partial(self._ask, call),
            )
        )

    async def _run_tool(self, run: "_RunningCall") -> ToolOutcome:
        call, context = run.call, run.context
        tool = self._tools.get(call)
        if tool is None:
            known = ", ".join(sorted(self._tools.names)) or "none"
            raise ToolError(f"There is no tool named {call.name!r}. Tools: {known}.")
        if (refusal := await self._seen.refusal(tool, call, context)) is not None:
            return await self._outputs.fitted(refusal, context)
        review = await asyncio.to_thread(tool.review, call.content, context)
        run.proposed, again = review, ""
        await self._permit(call, call.content)
        while True:
            arguments, asked, way = await self._approvals.settle(
                call, tool, review, again, context.sandbox, run.place.to_ask
            )
            if arguments != call.content:
                await self._permit(call, arguments)
            if not asked:
                break
            # Files may have changed while the user was asked.
            before, review = review, await asyncio.to_thread(tool.review, arguments, context)
            if review == before or arguments != call.content:
                break
            again = "the files have changed since you were asked"
        if tool.in_order:
            await run.place.to_ask()
        run.place.answered()
        if not run.aside:
            self._record.tell(ToolStarted(context.call_id, call.name or "", review.title))
        run.review = review
        run.edited = arguments if arguments != call.content else ""
        self._begun[call.n] = run

        async def carry_out(way: Way | None, changed: str | None = None) -> ToolOutcome:
            nonlocal arguments, review
            if changed is not None:
                arguments = changed
                await self._permit(call, arguments)
                review = await asyncio.to_thread(tool.review, arguments, context)
                run.review, run.edited = review, arguments if arguments != call.content else ""
            if way is not None:
                sandbox = self._confinement.of(self._consent.mode, way)
                run.context = replace(context, sandbox=sandbox)
            async with self._apart(review, run.context):
                work = asyncio.ensure_future(tool.run(arguments, run.context))
                return await self._finish(run, work)

        outcome = run.outcome = await carry_out(way)
        mode = self._consent.mode
        outcome = await self._second.offer(call, tool, review, mode, outcome, carry_out)
        if arguments != call.content:
            outcome = headed(outcome, f"[The user changed the arguments to {arguments}]\n")
        if not tool.pages:
            outcome = await self._outputs.fitted(outcome, run.context)
        if not tool.searches:
            await self._seen.take(outcome.observations, context)
        output = outcome.output
        run.outcome = outcome  # valid whatever the hooks do
        said = await self._output_with_hooks(call, arguments, output, ok=outcome.ok)
        return replace(outcome, output=said)

    def _apart(self, review: Review, context: ToolContext) -> AbstractAsyncContextManager[None]:
        """Changes of this call to guarded places are not blamed on background commands."""
        guarded = any(guard.reason(path, self._workspace) for path in review.paths)
        if (review.command and context.sandbox is None) or (review.access in WRITES and guarded):
            return self._background.jobs.apart()
        return nullcontext()

    async def _ask(self, call: Item, text: str, choices: Sequence[str]) -> UserReply | None:
        """The user's answer to a question of the model's; None where nobody can be asked."""
        tool = self._tools.get(call)
        question = Question(
            call_id=call.call_id or "",
            tool=call.name or "",
            arguments=call.content,
            review=Review("read", text),
            reason="or type an answer of your own",
            choices=tuple(choices),
            by_agent=tool is not None and tool.kind == "question",
        )
        decision = await self._approvals.ask(question)
        return UserReply(decision.note, decision.pasted) if decision.verdict == "yes" else None

    async def _permit(self, call: Item, arguments: str) -> None:
        """Raises `RefusedCall` where a hook says no."""
        outcome = await self._hooks.run(
            "pre_tool", tool=call.name, call_id=call.call_id, arguments=arguments
        )
        if outcome.stop:
            raise RefusedCall(f"Stopped by a hook: {outcome.stop}")

    async def _output_with_hooks(self, call: Item, arguments: str, output: str, *, ok: bool) -> str:
        """The output, with what hooks add to it."""
        outcome = await self._hooks.run(
            "post_tool",
            tool=call.name,
            call_id=call.call_id,
            arguments=arguments,
            output=output,
            ok=ok,
        )
        said = outcome.context or outcome.stop
        return f"{output}\n[A hook says: {said}]" if said else output

    async def _finish(
        self, run: "_RunningCall", work: "asyncio.Future[ToolOutcome]"
    ) -> ToolOutcome:
        """Wait for a tool. An interruption ends it, unless it writes."""
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if run.review is None or run.review.access != "write":
                work.cancel()
            # Half of an edit helps nobody, and what was written must be written down.
            with suppress(Exception, asyncio.CancelledError):
                run.outcome = await work
            raise

    async def _journal_result(
        self, call: Item, outcome: ToolOutcome, state: State, run: _RunningCall | None
    ) -> None:
        review = (run.review or run.proposed) if run else None
        edited = run.edited if run else ""
        stated = statement(self._tools.get(call), call, review, self._workspace, edited)
        seen = (*outcome.observations, observe_output(call.call_id or "", outcome.output))
        used = self._remembering.read(outcome.observations, self._workspace)
        item = Item(
            n=0,
            kind="tool_result",
            content=outcome.output,
            turn=call.turn,
            response=call.response,
            call_id=call.call_id,
            name=call.name,
            images=outcome.images,
            state=state,
            detail={"ok": outcome.ok, **stated, **outcome.detail},
        )

        def following(n: int) -> Iterator[Data]:
            yield from outcome.events
            if used:
                yield replace(used, item=n)
            yield from (observed(observation, n) for observation in seen)

        try:
            await self._record.put(item, following)
        except JournalError:
            self._failed = True
            raise
        self._begun.pop(call.n, None)
