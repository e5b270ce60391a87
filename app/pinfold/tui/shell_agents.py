"""Agents on the screen: the transcript of one takes the place of the session's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work

from pinfold.tui.find import FindBar
from pinfold.tui.find_agents import AgentSearch
from pinfold.tui.shell_keys import Keys
from pinfold.tui.transcript.view import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.widget import Widget

    from pinfold.agent.children.status import ChildStatus
    from pinfold.tui.gauge import GaugeBar
    from pinfold.tui.prompt.box import PromptBox
    from pinfold.tui.status_line import StatusLine


class Agents(Keys):
    """What is around the session's transcript goes away meanwhile, but for questions."""

    _prompt: PromptBox
    _gauge: GaugeBar
    _status: StatusLine
    _lines: Widget
    """Plan, queue and retry."""
    _back: Callable[[], object] | None = None
    """Opens the panel that the agent was chosen in."""

    def _show_behind(self) -> None:
        raise NotImplementedError

    @on(Transcript.Opened)
    def _open_agent(self, event: Transcript.Opened) -> None:
        self.show_agent(event.number)

    @work(exclusive=True, group="agent")
    async def show_agent(
        self,
        number: int,
        item: int = 0,
        text: str = "",
        back: Callable[[], object] | None = None,
    ) -> None:
        """Show what an agent of the session does or did, at one of its items, in which `text` was
        found. `back` is called when the user closes it."""
        from pinfold.rollout.journal import JournalError
        from pinfold.tui.agent_view import AgentView

        if self._session is None or (agent := self._session.children.status(number)) is None:
            return
        self._find_bar.leave()
        if self._agent is None:
            self._agent = AgentView()
            await self.mount(self._agent, before=self._lines)
            self.watch(self._agent.transcript, "behind", self._show_behind, init=False)
        try:
            await self._agent.show(self._session, number)
        except JournalError as error:
            self.leave_agent()
            self.tell(str(error), "error")
            return
        self._swap(shown=True)
        self._back = back
        self._show_behind()
        self._status.agent = agent.name
        self._find_bar.look_in(self._agent.transcript)
        self._agent.transcript.focus()
        self.call_after_refresh(self._arrive, item, text)

    def _arrive(self, item: int, text: str) -> None:
        if item and not self.pane.jump(item):
            self._hints.show(f"It has no item #{item}")
        if text:
            self._find_bar.open(text)

    def leave_agent(self) -> bool:
        """Back to the session, where it was left; False where no agent is shown."""
        if self._agent is None or not self._agent.number:
            return False
        self._back = None
        self._find_bar.leave()
        self._agent.hide()
        self._swap(shown=False)
        self._show_behind()
        self._status.agent = ""
        self._look_in_all()
        (self._questions.card or self._home or self.editor).focus()
        return True

    def _close_agent(self) -> bool:
        """Leave it for where it was opened; False where no agent is shown."""
        back = self._back
        left = self.leave_agent()
        if left and back is not None:
            back()
        return left

    def _look_in_all(self) -> None:
        """Find in the session's transcript, and in what its agents did."""
        assert self._session is not None
        self._find_bar.look_in(self._transcript, AgentSearch(self._session.children))

    @on(FindBar.Wanted)
    def _found_in_agent(self, event: FindBar.Wanted) -> None:
        self.show_agent(event.hit.agent, event.hit.item, event.text)

    def _swap(self, *, shown: bool) -> None:
        """Put the agent in the place of the session, or the session back."""
        assert self._agent is not None
        if shown and not self._agent_shown:
            self._home = self.focused if self.focused is self._transcript else self.editor
        self._agent_shown = shown
        self._agent.display = shown
        for widget in (self._transcript, self._prompt, self._gauge, self._lines):
            widget.display = not shown

    def _agents_changed(self, agents: Sequence[ChildStatus]) -> None:
        self._transcript.agents_changed(agents)
        if self._agent is not None and self._agent.number:
            self._agent.agents_changed(agents)

    def show(self, n: int) -> None:
        self.leave_agent()
        super().show(n)

    def action_interrupt(self) -> None:
        if self._find_bar.display or not self._close_agent():
            super().action_interrupt()

    @on(Transcript.Left)
    def _stopped_reading(self) -> None:
        if self._find_bar.display:
            self._find_bar.leave()
        else:
            self._close_agent()
