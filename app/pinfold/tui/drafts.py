"""Keeps what is being typed, so that a crash does not lose it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.timer import Timer

from pinfold.tui.prompt.editor import Editor

if TYPE_CHECKING:
    from pinfold.agent.session import Session

PAUSE = 0.5
"""Seconds without a change after which the draft is saved."""


class Drafts:
    """Saves the editor's text into the session whenever the user pauses."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._session: Session | None = None
        self._saved = ""
        self._timer: Timer | None = None
        self._writing = asyncio.Lock()

    def attach(self, session: Session) -> None:
        """Bring back the draft of `session`, and save into it from now on."""
        self._session = session
        draft = session.draft()
        self._saved = draft.text
        if draft.text:
            self._editor.put_before(draft.text, draft.pasted)

    def changed(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._editor.set_timer(PAUSE, self.save)

    async def save(self) -> None:
        """Save now, if there is anything new."""
        async with self._writing:
            text = self._editor.value
            if self._session is None or text == self._saved:
                return
            try:
                await asyncio.to_thread(self._session.save_draft, text, self._editor.pastes)
            except OSError as error:
                self._editor.log.warning(f"draft: {error}")
            else:
                self._saved = text
