"""Feeds a session's updates to a transcript and a gauge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold.agent.updates import (
    Appended,
    StreamDropped,
    Streamed,
    ToolOutput,
    ToolStarted,
    Update,
)
from pinfold.ports.provider import CallDelta, ReasoningDelta, TextDelta
from pinfold.rollout import events

if TYPE_CHECKING:
    from pinfold.agent.session import Session
    from pinfold.ports.provider import Delta
    from pinfold.tui.gauge import GaugeBar
    from pinfold.tui.transcript.view import Transcript

STEP = 32
"""Tokens by which the gauge moves while a reply streams in."""


class Feed:
    """Keeps a transcript and the gauge's reply under way in step with a session."""

    def __init__(self, session: Session, transcript: Transcript, gauge: GaugeBar) -> None:
        self._session = session
        self._transcript = transcript
        self._gauge = gauge
        self._live = session.stream_count()

    def hear(self, update: Update) -> None:
        match update:
            case Appended(event=event):
                self._appended(event.data)
            case Streamed(delta=delta):
                self._stream(delta)
            case StreamDropped():
                self._transcript.drop_stream()
                self.count_anew()
            case ToolStarted(call_id=call_id, name=name, title=title):
                self._transcript.tool_started(call_id, name, title)
            case ToolOutput(call_id=call_id, text=text):
                self._transcript.tool_output(call_id, text)
            case _:
                pass

    def count_anew(self) -> None:
        """The streaming reply has ended."""
        self._live = self._session.stream_count()
        self._gauge.live = 0

    def _appended(self, data: events.Data) -> None:
        match data:
            case events.WindowReplaced(inserted=inserted):
                self._transcript.replace_window(self._session.window.boundaries[-1], inserted)
            case events.PinsChanged() | events.ItemsMarked() | events.ArtifactObserved():
                self._transcript.refresh_marks()
            case events.ItemAdded(item=item):
                self._transcript.append(item)
                self.count_anew()
            case _:
                pass

    def _stream(self, delta: Delta) -> None:
        self._transcript.stream(delta)
        match delta:
            case TextDelta(text=text) | ReasoningDelta(text=text) | CallDelta(arguments=text):
                # In steps: the gauge need not be painted for each delta.
                self._gauge.live = self._live.push(text) // STEP * STEP
            case _:
                pass
