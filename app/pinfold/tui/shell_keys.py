"""What the keys of the screen do, wherever the focus is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.screen import Screen

from pinfold.commands.model import CYCLE, next_mode
from pinfold.tui.keys import bindings

if TYPE_CHECKING:
    from textual.widget import Widget

    from pinfold.agent.session import Session
    from pinfold.commands.context import Level
    from pinfold.tui.agent_view import AgentView
    from pinfold.tui.find import FindBar
    from pinfold.tui.hints import Hints
    from pinfold.tui.plan_line import PlanLine
    from pinfold.tui.prompt.editor import Editor
    from pinfold.tui.prompt.shortcuts import Shortcuts
    from pinfold.tui.questions import Questions
    from pinfold.tui.stopping import Stopping
    from pinfold.tui.transcript.view import Transcript


class Keys(Screen[None]):
    """The base of the shell, which makes the parts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(key for key in bindings("prompt") if key.id in {"interrupt", "leave"}),
        *bindings("transcript"),
    ]

    editor: Editor
    _session: Session | None
    _plan: PlanLine
    _transcript: Transcript
    _find_bar: FindBar
    _shortcuts: Shortcuts
    _hints: Hints
    _questions: Questions
    _stopping: Stopping

    _agent: AgentView | None = None
    """Shows an agent's transcript; made when one is first looked at."""
    _agent_shown = False
    _home: Widget | None = None
    """What had the keys before that."""

    @property
    def pane(self) -> Transcript:
        """The transcript that is shown."""
        shown = self._agent if self._agent_shown else None
        return self._transcript if shown is None else shown.transcript

    def refresh_status(self) -> None:
        raise NotImplementedError

    def tell(self, text: str, level: Level = "info") -> None:
        raise NotImplementedError

    def _command(self, action: str, argument: str = "") -> None:
        raise NotImplementedError

    def on_key(self, event: events.Key) -> None:
        if self.focused is not None or event.key in self.active_bindings:
            return
        if event.is_printable and event.character:
            self.editor.focus()
            self.editor.insert(event.character)

    def action_leave(self) -> None:
        if self.get_selected_text():
            self.action_copy_text()
            self.clear_selection()  # the next one clears the prompt
        else:
            self._stopping.leave()

    def action_interrupt(self) -> None:
        if self._shortcuts.display:
            self._shortcuts.display = False
        elif self._find_bar.display:
            self._find_bar.leave()
        else:
            self._stopping.interrupt()

    def action_switch_focus(self) -> None:
        """From the prompt to the card, if there is one, then to the transcript, and back.

        A compaction that waits is shown first.
        """
        if self._questions.review(wanted=True):
            return
        prompt = None if self._agent_shown else self.editor
        places = [prompt, self._questions.card, self.pane]
        found = [place for place in places if place is not None]
        at = next((i for i, place in enumerate(found) if place.has_focus_within), 0)
        found[(at + 1) % len(found)].focus()

    def action_cycle_approvals(self) -> None:
        if self._session is None:
            return
        mode = next_mode(self._session.approvals)
        self._session.set_approvals(mode)
        self.refresh_status()
        self._hints.show(f"Approvals: {mode} · {CYCLE[mode]}")

    def action_plan(self) -> None:
        if not self._plan.toggle():
            self._hints.show("There is no plan")

    def action_page_up(self) -> None:
        self.pane.scroll_page_up()

    def action_page_down(self) -> None:
        self.pane.scroll_page_down()

    def action_top(self) -> None:
        self.pane.scroll_home()

    def action_bottom(self) -> None:
        self.pane.scroll_end()

    def find(self, text: str) -> None:
        """Look for `text` in the transcript; without one, ask for it."""
        if self._find_bar.is_attached:
            self._find_bar.open(text)
        else:  # the key came with the first paint
            self.call_later(self.find, text)

    def action_find(self) -> None:
        self.find("")

    def action_find_next(self, step: int) -> None:
        self._find_bar.step(step)

    def on_find_bar_widened(self, event: FindBar.Widened) -> None:
        self._command("find", f"--all {event.text}")

    def show(self, n: int) -> None:
        """Go to item `n` of the session."""
        self._transcript.focus()
        self.call_after_refresh(self._transcript.jump, n)
