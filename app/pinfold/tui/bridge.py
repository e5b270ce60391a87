"""The bridge: updates of the session in, calls on widgets out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from pinfold.agent.updates import (
    Appended,
    ChildChanged,
    CompactionProgress,
    Phase,
    PhaseChanged,
    Prepared,
    PromptReturned,
    QueueChanged,
    Retrying,
    ServerChanged,
    StreamDropped,
    Streamed,
    Told,
    ToolOutput,
    ToolStarted,
    Update,
    WaitingPrompt,
)
from pinfold.commands.compact_step import standing
from pinfold.numbers import duration, tokens
from pinfold.paths import shown
from pinfold.ports.provider import (
    CallDelta,
    Delta,
    Progress,
    ReasoningDelta,
    TextDelta,
)
from pinfold.rollout import events
from pinfold.tui.agent_ticker import AgentTicker
from pinfold.tui.failsafe import safely
from pinfold.tui.feed import Feed
from pinfold.tui.gauge import GaugeBar, shown_auto
from pinfold.tui.lines import QueueLines, RetryLine
from pinfold.tui.plan_line import PlanLine
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.status_line import StatusLine
from pinfold.tui.transcript.view import Transcript

if TYPE_CHECKING:
    from pinfold.agent.children.status import ChildStatus
    from pinfold.agent.session import Session

WHAT_NOW = {
    "auto": "It will be compacted before the next request.",
    "ask": "You will be asked before the next request.",
    "off": "",
}
WITH_PINS = (
    "It will be compacted before the next request, or after it where pins leave too little room "
    "for the newest results."
)
NOT_YET = "It will be compacted with a later request, once it has grown by 10%."
CANT = "It can't be sent as it is."
WELL_BELOW = 0.9
"""The share of the threshold that the window must fall under before it can pass it again."""
LONG = 10
"""Seconds from which a turn without tool calls says how long it took."""


class Bridge:
    """Listens to one session until `close`."""

    def __init__(
        self,
        session: Session,
        *,
        transcript: Transcript,
        queue: QueueLines,
        plan: PlanLine,
        retry: RetryLine,
        editor: Editor,
        gauge: GaugeBar,
        status: StatusLine,
        rested: Callable[[], object],
        source_key: str,
        agents: Callable[[Sequence[ChildStatus]], None],
    ) -> None:
        """`rested` is called when a turn has ended; `source_key` opens what a reply cites; `agents`
        gets those that may look different."""
        self._session = session
        self._transcript = transcript
        self._queue = queue
        self._plan = plan
        self._retry = retry
        self._editor = editor
        self._gauge = gauge
        self._status = status
        self._rested = rested
        self._source_key = source_key
        self._noted_memories = bool(session.window.context.remembered)
        self._feed = Feed(session, transcript, gauge)
        self._passed: int | None = None
        """The threshold that the window has passed, in tokens, as the user was told."""
        self._turn_began: datetime | None = None
        self._calls = 0
        """Tool calls of the turn."""
        self._agents = AgentTicker(session.children, transcript, agents)
        self._unsubscribe = session.subscribe(safely(transcript.app, self.hear))
        transcript.load(session.items, session.window, session.children.status)
        self._show_queue(session.queue)
        plan.show(session.plan)
        self._enter(session.phase)
        self.refresh()
        reading = session.reading()
        if reading.used > reading.limit:  # as where another tool's session was adopted
            self._transcript.note(
                f"This window does not fit the model: {tokens(reading.used)} of "
                f"{tokens(reading.limit)} tokens. {WHAT_NOW[session.auto] or CANT} "
                "/compact --dry-run shows how; /model switches to a larger one.",
                "warning",
            )

    def close(self) -> None:
        self._unsubscribe()
        self._agents.close()

    def hear(self, update: Update) -> None:
        """Show what the session tells."""
        self._feed.hear(update)
        match update:
            case Appended(event=event):
                self._appended(event.data)
                self._tally(event)
            case Streamed(delta=delta):
                self._stream(delta)
            case StreamDropped() | ToolStarted() | ToolOutput():
                pass  # the feed's
            case ChildChanged(child=number):
                self._status.agents = len(self._session.children.running)
                self._agents.changed(number)
            case ServerChanged():
                pass
            case PhaseChanged(phase=phase):
                self._enter(phase)
            case CompactionProgress(done=done) if self._session.phase != "idle":
                self._status.progress = standing(update) if done < 1 else ""
            case CompactionProgress():
                pass  # the preview tells it
            case Prepared(state=state):
                self._gauge.preparation = state
            case Retrying(reason=reason, at=at):
                self._retry.count_down(reason, at)
            case Told(text=text, level=level, hint=hint):
                self._transcript.note(f"{text} · {hint}" if hint else text, level)
                self._gauge.auto = shown_auto(self._session)
            case QueueChanged(prompts=prompts):
                self._show_queue(prompts)
            case PromptReturned(text=text):
                self._editor.put_before(text)
            case _:
                assert_never(update)

    def refresh(self) -> None:
        """Read again what no update tells: model, approvals, threshold."""
        session = self._session
        self._transcript.count_for(session.model.name)
        self._status.model = f"{session.model.name} · {session.model.provider}"
        self._status.approvals = _approvals(session)
        self._status.jobs = len(session.jobs.running)
        self._status.agents = len(session.children.running)
        self._gauge.model = session.model
        self._gauge.preparation = session.preparing.state
        self._read_gauge()

    def _read_gauge(self) -> bool:
        """Show the window's reading; whether it has passed the threshold since the last one."""
        reading = self._gauge.reading = self._session.reading()
        self._gauge.auto = shown_auto(self._session)
        threshold = reading.threshold
        if threshold is not None and reading.used >= threshold:
            before, self._passed = self._passed, threshold
            return before != threshold
        if threshold is None or reading.used < WELL_BELOW * threshold:
            self._passed = None
        return False

    def _watch_threshold(self) -> None:
        if self._read_gauge() and (reading := self._gauge.reading) is not None:
            session = self._session
            if session.auto_paused:
                from pinfold.compaction.guards import RESUMES

                what_now = f"Automatic compaction is paused. {RESUMES}"
            else:
                what_now = WHAT_NOW[session.auto] if session.compacts_next else NOT_YET
                if what_now == WHAT_NOW["auto"] and session.window.pins:
                    what_now = WITH_PINS
            self._transcript.note(
                f"The window has passed its threshold: {tokens(reading.used)} of "
                f"{tokens(reading.limit)} tokens. {what_now} "
                "/compact --dry-run shows how; /threshold changes it.",
            )

    def _appended(self, data: events.Data) -> None:
        match data:
            case events.ItemAdded():
                self._plan.show(self._session.plan)
                self._watch_threshold()
            case events.TurnFinished(state="failed", reason=reason):
                self._transcript.note(reason or "The turn failed.", "error")
            case events.TurnFinished(state="waiting", reason=reason):
                self._transcript.note(reason or "The turn is waiting for you.", "warning")
            case events.TurnFinished(state="interrupted"):
                items = self._session.items
                if not (items and items[-1].state == "interrupted"):  # else it says so itself
                    self._transcript.note("Interrupted.")
            case events.ContextSet(context=context):
                for file in context.agents:
                    lines = len(file.text.splitlines())
                    self._transcript.note(f"Rules from {shown(Path(file.path))}, {lines} lines")
                if context.remembered and not self._noted_memories:
                    self._noted_memories = True
                    self._transcript.note(
                        "Includes memories of earlier sessions: /memories lists them, f on their "
                        "row in /context folds them."
                    )
                self._watch_threshold()
            case events.MemoryUsed(via="citation", sources=sources) if sources:
                count = f"{len(sources)} place{'s' if len(sources) != 1 else ''}"
                self._transcript.note(
                    f"From memory · {self._source_key} opens {count} in earlier sessions"
                )
            case events.JobStarted() | events.JobEnded():
                self._status.jobs = len(self._session.jobs.running)
            case events.ModelChanged():
                self._watch_threshold()
                self.refresh()
            case events.CompactionFinished():
                self._status.progress = ""
            case (
                events.RequestFinished()
                | events.WindowCounted()
                | events.WindowReplaced()
                | events.PinsChanged()
                | events.ItemsMarked()
                | events.GoalSet()
            ):
                self._watch_threshold()

    def _tally(self, event: events.Event) -> None:
        """Say at the end of a turn how long it took and what it did, where that is much."""
        match event.data:
            case events.TurnStarted():
                self._turn_began, self._calls = event.ts, 0
                self._editor.in_turn = True
            case events.ItemAdded(item=item) if item.kind == "tool_call":
                self._calls += 1
            case events.TurnFinished(state="done") if self._turn_began is not None:
                seconds = (event.ts - self._turn_began).total_seconds()
                if self._calls or seconds >= LONG:
                    plural = "s" if self._calls != 1 else ""
                    calls = f", {self._calls} tool call{plural}" if self._calls else ""
                    self._transcript.note(f"Worked for {duration(seconds)}{calls}")

    def _stream(self, delta: Delta) -> None:
        match delta:
            case TextDelta() | ReasoningDelta() | CallDelta():
                self._status.progress = ""
            case Progress(note=note, done=done):
                self._status.progress = note if done is None else f"{note} {done:.0%}"
            case _:
                pass

    def _enter(self, phase: Phase) -> None:
        self._status.phase = phase
        self._status.approvals = _approvals(self._session)
        if phase != "waiting":
            self._retry.hide()
        if phase == "idle":
            self._editor.in_turn = False
            self._feed.count_anew()
            self._rested()

    def _show_queue(self, prompts: Sequence[WaitingPrompt]) -> None:
        self._queue.show([(prompt.text, prompt.steers) for prompt in prompts])
        self._editor.has_queued = bool(prompts)


def _approvals(session: Session) -> str:
    return f"{session.approvals}, edits allowed" if session.edits_allowed else session.approvals
