"""What Esc and Ctrl+C do, pressed once and twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pinfold.agent.session import Session
    from pinfold.tui.hints import Hints
    from pinfold.tui.prompt.editor import Editor
    from pinfold.tui.questions import Questions


class Stopping:
    def __init__(
        self,
        editor: Editor,
        hints: Hints,
        questions: Questions,
        key: Callable[[str], str],
        *,
        leave: Callable[[], None],
        rewind: Callable[[], None],
    ) -> None:
        """`key` names the key of an action."""
        self._editor = editor
        self._hints = hints
        self._questions = questions
        self._quits = f"{key('leave')} again quits"
        self._clears = f"{key('interrupt')} again clears the prompt"
        self._rewinds = f"{key('interrupt')} again opens /rewind"
        self._older = key("older")
        self._leave = leave
        self._rewind = rewind
        self.session: Session | None = None

    def stop(self) -> bool:
        """Interrupt the turn, or decline the preview; False where there is neither."""
        if self.session is not None and self.session.phase != "idle":
            self.session.interrupt()
            return True
        return self._questions.review(wanted=False)

    def stop_turn(self) -> bool:
        """Interrupt what runs, or quit where that was just done; False where nothing runs."""
        if self._hints.is_shown(self._quits):
            self._leave()
            return True
        stopped = self.stop()
        if stopped:
            self._hints.show(self._quits)
        return stopped

    def leave(self) -> None:
        """Interrupt what runs, else clear the prompt, else quit when it comes again."""
        if self.stop_turn():
            return
        if self._editor.text:
            self._editor.set_aside()
            self._hints.show(f"Cleared: {self._older} brings it back")
        elif self._hints.twice(self._quits):
            self._leave()

    def interrupt(self) -> None:
        """Interrupt what runs, else clear the prompt or rewind when it comes again."""
        if self.stop():
            return
        if self._editor.text:
            if self._hints.twice(self._clears):
                self._editor.set_aside()
        elif self.session is not None and self.session.items and self._hints.twice(self._rewinds):
            self._rewind()
