"""The editor of the prompt: a text area with chips, history, completion and a few keys more."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events, work
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.message import Message
from textual.reactive import reactive

from pinfold.rollout import provenance
from pinfold.sanitize import one_line
from pinfold.tui.in_order import act_at_once
from pinfold.tui.keys import bindings
from pinfold.tui.prompt import completion
from pinfold.tui.prompt.chips import Chips
from pinfold.tui.prompt.completer import Completer
from pinfold.tui.prompt.history import History
from pinfold.tui.prompt.popup import Popup
from pinfold.tui.prompt.vim import Mode
from pinfold.tui.prompt.vim_keys import VimKeys
from pinfold.tui.writing import Writing

PLACEHOLDER = "Describe a task or ask a question"
LONG = 1_000
"""Characters of an earlier prompt that are searched."""


class Editor(Writing):
    """Keeps what is typed until it is accepted."""

    DEFAULT_CSS = """
    Editor {
        height: auto;
        min-height: 1;
        max-height: 8;
        border: none;
        padding: 0;
        background: $background;

        &:focus { border: none; }
        & > .editor--chip { color: $accent; text-style: italic; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("prompt"),
        *bindings("transcript", prefix="screen."),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"editor--chip"}

    in_turn: reactive[bool] = reactive(False)
    """Whether a turn runs, which a prompt can join or wait for."""

    class Sent(Message):
        """The user wants `text` sent; the prompt is empty by now."""

        def __init__(
            self, text: str, pasted: Sequence[provenance.Span], *, steers: bool = True
        ) -> None:
            super().__init__()
            self.text = text
            self.pasted = pasted
            """The spans that were not typed."""
            self.steers = steers
            """Whether it may join the turn that runs."""

    class Recalled(Message):
        """The user wants the newest queued prompt back: to edit it, or to drop it."""

        def __init__(self, drop: bool) -> None:
            super().__init__()
            self.drop = drop

    class ModeChanged(Message):
        """Vim's mode has changed."""

        def __init__(self, mode: Mode) -> None:
            super().__init__()
            self.mode = mode

    class Ended(Message):
        """Ctrl+D at an empty prompt."""

    class Asked(Message):
        """`?` at an empty prompt."""

    def __init__(
        self,
        popup: Popup,
        history: History,
        folder: Path,
        choices: Callable[[str], Sequence[str]],
        *,
        vim: bool = False,
    ) -> None:
        """`choices` are the values that the argument of a command can have."""
        super().__init__(
            soft_wrap=True,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder=PLACEHOLDER,
        )
        self.match_cursor_bracket = False
        self._prompts = history
        self.completer = Completer(self, popup, history, choices, folder)
        self._chips = Chips()
        self._pastes: list[str] = []
        """Texts that were pasted into this prompt, chips among them."""
        self._vim = VimKeys(self, self.action_older, self.action_newer) if vim else None
        self.has_queued = False
        """Whether a prompt waits."""

    # Text

    @property
    def value(self) -> str:
        """What is typed, with chips expanded."""
        return self._chips.expand(self.text)

    @property
    def pastes(self) -> list[str]:
        """The pasted texts that are in the prompt."""
        text = self.value
        own = [paste for paste in self._pastes if provenance.find(text, [paste])]
        return list(dict.fromkeys([*own, *self._prompts.pastes_in(text)]))

    def put(self, text: str, pasted: Iterable[str] = ()) -> None:
        """Replace everything with `text`; the cursor is at its end. Can be undone.

        `pasted` are the texts in it that were not typed.
        """
        self._pastes += pasted
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def insert_word(self, word: str) -> None:
        """Insert `word` at the cursor, with spaces around it."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        before = " " if line[:column].rstrip(" ") == line[:column] and column else ""
        if result := self._replace_via_keyboard(f"{before}{word} ", *self.selection):
            self.move_cursor(result.end_location)

    def put_before(self, text: str, pasted: Iterable[str] = ()) -> None:
        """Bring back text that was not sent, before what is here; large pastes as chips."""
        pasted = [*pasted, *self._prompts.pastes_in(text)]
        for paste in sorted(pasted, key=len, reverse=True):
            if paste in text:
                text = text.replace(paste, self._chips.take(paste))
        self.put(f"{text}\n\n{self.text}" if self.text.strip() else text, pasted)

    def _accept(self) -> None:
        self.remember(self.value, self._pasted(self.value))
        self.load_text("")
        self._chips = Chips()
        self._pastes = []
        self.completer.reset()
        if self._vim is not None:
            self._vim.insert()
            self.post_message(self.ModeChanged("insert"))

    def _pasted(self, text: str) -> Sequence[provenance.Span]:
        """The spans of `text`, which is or was in the prompt, that were not typed."""
        return provenance.find(text, [*self._pastes, *self._prompts.pastes_in(text)])

    def set_aside(self) -> None:
        """Clear the prompt; its text is the newest in the history."""
        self.remember(self.value, self._pasted(self.value))
        self.put("")

    @work(thread=True, group="history")
    def _write_history(self, text: str, pasted: Sequence[provenance.Span]) -> None:
        try:
            self._prompts.write(text, pasted)
        except OSError as error:
            self.log.warning(f"history: {error}")

    def remember(self, text: str, pasted: Sequence[provenance.Span] = ()) -> None:
        if text.strip() and self._prompts.add(text, pasted):
            self._write_history(text, pasted)

    def edit(self, edit: Edit) -> EditResult:
        """Edits take a chip as a whole or leave it alone."""
        start, end = sorted((edit.from_location, edit.to_location))
        for at, stop in self._chips.spans(self.document.get_line(start[0])):
            if at < start[1] < stop:
                start = (start[0], stop if start == end else at)
                end = max(start, end)
        if end[0] < self.document.line_count:  # a cut of the last line goes beyond it
            for at, stop in self._chips.spans(self.document.get_line(end[0])):
                if at < end[1] < stop:
                    end = (end[0], stop)
        edit.from_location, edit.to_location = start, end
        return super().edit(edit)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for start, end in self._chips.spans(line.plain):
            line.stylize(self.get_component_rich_style("editor--chip"), start, end)
        return line

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        from pinfold.tui.prompt.pictures import mentions

        if not text:  # a terminal that has a picture to paste, and no text
            await self.run_action("app.run_command('paste_picture')")
            return
        text = mentions(text, self.completer.folder) or text
        if provenance.is_paste(text):
            self._pastes.append(text)
        if result := self._replace_via_keyboard(self._chips.take(text), *self.selection):
            self.move_cursor(result.end_location)

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        if event.character == "?" and not self.text:
            event.stop()
            event.prevent_default()
            self.post_message(self.Asked())
            return
        if self._vim is not None and not self.completer.is_open and self._vim.press(event):
            event.stop()
            event.prevent_default()
            self.post_message(self.ModeChanged(self._vim.mode))
            return
        if not event.is_printable:
            await act_at_once(self, event)

    def action_send(self) -> None:
        completer = self.completer
        completer.look_up()
        if (token := completer.token) is not None and completer.candidate is not None:
            if completer.moved or self._completes(token):
                completer.complete()
                if token.kind == "file":
                    return
            elif self.text == "/":
                return
        if not self._continues():
            self._send(steers=True)

    def _send(self, *, steers: bool) -> None:
        if text := self.value.rstrip():
            pasted = self._pasted(text)
            self._accept()
            self.post_message(self.Sent(text, pasted, steers=steers))

    def _continues(self) -> bool:
        """Whether a backslash before the cursor has made this Enter a new line.

        In a command of the user's own it stays: the shell reads it the same way.
        """
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if not column or line[column - 1 :] != "\\" or not self.selection.is_empty:
            return False
        start = column if self.text.startswith("!") else column - 1
        self._replace_via_keyboard("\n", (row, start), (row, column))
        return True

    def _completes(self, token: completion.Token) -> bool:
        """Whether Enter completes `token` without asking: never what could be meant as it is."""
        row, column = self.cursor_location
        if self.document.get_line(row)[column : column + 1].strip():
            return False
        match token.kind:
            case "command":
                return completion.is_short_for_one(token.query, self.completer.own())
            case "argument":
                return False
            case "file":
                return token.query not in self.completer.files

    def action_newline(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)

    def action_interrupt(self) -> None:
        self.completer.look_up()
        if not self.completer.is_open:
            raise SkipAction
        self.completer.close()

    def action_older(self) -> None:
        self.completer.look_up()
        if self.completer.is_open:
            self.completer.move(-1)
        elif not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif self.has_queued:
            self.post_message(self.Recalled(drop=False))
        elif (text := self._prompts.older(self.value)) is not None:
            self.put(text)

    def action_newer(self) -> None:
        self.completer.look_up()
        if self.completer.is_open:
            self.completer.move(1)
        elif not self.navigator.is_last_wrapped_line(self.cursor_location):
            self.action_cursor_down()
        elif (text := self._prompts.newer()) is not None:
            self.put(text)

    @work
    async def action_search_prompts(self) -> None:
        from pinfold.tui.panels.picker import Choice, Picker

        earlier = self._prompts.newest_first()
        choices = [Choice(str(at), one_line(text[:LONG])) for at, text in enumerate(earlier)]
        picker = Picker("Earlier prompts", choices, empty="You have not sent any yet.")
        chosen = await self.app.push_screen_wait(picker)
        if chosen is not None:
            self.remember(self.value, self._pasted(self.value))
            self.put(earlier[int(chosen)])

    def action_complete(self) -> None:  # Tab never leaves the prompt
        self.completer.look_up()
        if not self.completer.complete() and self.in_turn:
            self._send(steers=False)

    def action_cut(self) -> None:
        if self.text:
            super().action_cut()
        else:
            self.post_message(self.Recalled(drop=True))

    def action_leave(self) -> None:
        self.action_copy()
        self.move_cursor(self.cursor_location)  # the next one clears

    def action_end(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.Ended())

    def on_text_area_changed(self) -> None:
        self.completer.look_up()
