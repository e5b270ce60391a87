"""The list of completions for the word before the cursor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pinfold.tui.prompt import completion, files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from textual.widgets import TextArea

    from pinfold.tui.prompt.completion import Candidate, Token
    from pinfold.tui.prompt.history import History
    from pinfold.tui.prompt.popup import Popup

SHOWN = 50
"""Files that a completion lists."""


class Completer:
    """Keeps the list in step with what is typed into `area`."""

    def __init__(
        self,
        area: TextArea,
        popup: Popup,
        prompts: History,
        choices: Callable[[str], Sequence[str]],
        folder: Path,
    ) -> None:
        """`choices` are the values that the argument of a command can have."""
        self._area = area
        self._popup = popup
        self._prompts = prompts
        self._choices = choices
        self.folder = folder
        self._files: list[str] | None = None
        self._closed: int | None = None
        """Where the token begins whose list the user closed."""
        self._offered: Token | None = None
        """What the list is for: an earlier token while files are looked for."""
        self.token: Token | None = None
        self.own: Callable[[], Sequence[Candidate]] = tuple
        """Commands beside pinfold's own."""
        self.mentions: Callable[[], Sequence[str]] = tuple
        """What `@` names beside files: `@server:uri`."""

    @property
    def is_open(self) -> bool:
        return self._popup.display

    @property
    def moved(self) -> bool:
        """Whether the user has moved in the list."""
        return self._popup.moved

    @property
    def candidate(self) -> Candidate | None:
        """The highlighted candidate; None while files are looked for."""
        return self._popup.current if self._offered is self.token else None

    @property
    def files(self) -> Collection[str]:
        return self._files or ()

    def move(self, by: int) -> None:
        self._popup.move(by)

    def close(self) -> None:
        """Close the list for this token."""
        self._closed = self.token.start if self.token else None
        self._popup.show(())

    def reset(self) -> None:
        """The prompt is empty again."""
        self.token = self._closed = None
        self._popup.show(())

    def complete(self) -> bool:
        """Put the highlighted candidate in place of the token; whether there is one."""
        candidate, token = self.candidate, self.token
        if candidate is None or token is None:
            return False
        row, column = self._area.cursor_location
        result = self._area.replace(candidate.insert, (row, token.start), (row, column))
        self._area.move_cursor(result.end_location)
        return True

    def look_up(self) -> None:
        """Bring token and list in line with the text and the cursor.

        The event that says that the text has changed may come after the next key.
        """
        row, column = self._area.cursor_location
        before = self._area.document.get_line(row)[:column]
        token = completion.token_at(before, first_line=row == 0)
        if not self._area.selection.is_empty:
            token = None
        if token is None or token.start != self._closed:
            self._closed = None
        if token is not None and token == self.token:
            return
        self.token = token
        if token is None or self._closed is not None:
            self._offer(token, ())
            return
        match token.kind:
            case "command":
                self._offer(token, self._commands(token.query))
            case "argument":
                self._offer(token, completion.choices(token.query, self._choices(token.command)))
            case "file":
                self._area.run_worker(self._find_files(token), group="files", exclusive=True)

    def _commands(self, query: str) -> Sequence[Candidate]:
        return completion.commands(query, self._prompts.commands(), self.own())

    async def _find_files(self, token: Token) -> None:
        if self._files is None or not token.query:
            self._files = await asyncio.to_thread(files.list_files, self.folder)
        found = await asyncio.to_thread(files.best, token.query, self._files, SHOWN)
        if token is self.token:
            others = completion.mentions(token.query, self.mentions())
            self._offer(token, [*others, *completion.files(found)][:SHOWN])

    def _offer(self, token: Token | None, candidates: Sequence[Candidate]) -> None:
        self._offered = token
        frame = 1
        self._popup.show(candidates, self._area.app.size.height - self._area.region.y + frame)
