"""The screen: the transcript, the prompt, the lines around them, and what the user's keys mean."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from pinfold import paths
from pinfold.commands import registry
from pinfold.commands.action import Action, CommandError
from pinfold.rollout.provenance import Prompt, slices
from pinfold.tui import branch, welcome
from pinfold.tui.drafts import Drafts
from pinfold.tui.find import FindBar
from pinfold.tui.gauge import GaugeBar
from pinfold.tui.keys import bindings
from pinfold.tui.lines import QueueLines, RetryLine
from pinfold.tui.look import Look
from pinfold.tui.prompt.box import PromptBox
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.prompt.history import History
from pinfold.tui.prompt.popup import Popup
from pinfold.tui.status import StatusLine
from pinfold.tui.transcript.view import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pinfold.commands.context import Level, SessionPort
    from pinfold.ports import Decision, Question
    from pinfold.tui.bridge import Bridge

HINT_SECONDS = 2.0
"""How long a hint stands, and how soon its key must come again."""
QUITS = "Ctrl+C again quits"
QUIET = 0.6
"""Seconds without typing after which a question takes the keys."""


class Shell(Screen[None]):
    """Shows one session at a time; before the first, it keeps what is sent."""

    AUTO_FOCUS = "Editor"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(each for each in bindings("prompt") if each.id in {"interrupt", "leave"}),
        *bindings("transcript"),
    ]

    class Commanded(Message):
        """The user gave a command; `text` is how."""

        def __init__(self, action: Action, argument: str, text: str) -> None:
            super().__init__()
            self.action = action
            self.argument = argument
            self.text = text

    class Left(Message):
        """The user wants to quit."""

    def __init__(
        self,
        look: Look,
        monotonic: Callable[[], float],
        choices: Callable[[str], Sequence[str]],
    ) -> None:
        super().__init__()
        self._monotonic = monotonic
        self._last_typed = -QUIET
        self._hinted_at = 0.0
        self._cwd = look.cwd
        self._session: SessionPort | None = None
        self._bridge: Bridge | None = None
        self._unsent: list[Prompt] = []
        """Prompts that wait for the first session."""
        self._hiding: Timer | None = None
        self._history = History(look.history)
        self._popup = Popup()
        self.editor = Editor(self._popup, self._history, look.cwd, choices)
        self._drafts = Drafts(self.editor)
        self._transcript = Transcript()
        self._transcript.writer = self.editor
        self._queue = QueueLines()
        self._retry = RetryLine(monotonic)
        self._find_bar = FindBar(self._transcript)
        self._prompt = PromptBox(self.editor)
        self._gauge = GaugeBar()
        self._status = StatusLine(monotonic)

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._prompt
        yield self._gauge
        yield self._status

    def on_mount(self) -> None:
        self._status.folder = paths.shown(self._cwd)
        self._transcript.set_welcome(welcome.waiting())
        self.watch(self._transcript, "behind", self._show_behind)

    async def complete(self) -> None:
        """See to what the first paint had no need of."""
        await self.mount(self._queue, self._retry, self._find_bar, before=self._prompt)
        await self.mount(self._popup)
        self._read_history()
        self._read_branch()

    def _look_at(self, folder: Path) -> None:
        self._cwd = self.editor.folder = folder
        self._status.folder = paths.shown(folder)
        self._read_branch()

    def on_descendant_focus(self) -> None:
        self._status.reading = self.focused is self._transcript
        if self._status.reading:
            self._hint("")

    @on(Transcript.Selected)
    def _selected(self, event: Transcript.Selected) -> None:
        self._status.on_item = event.item is not None

    @on(Transcript.Left)
    def _stopped_reading(self) -> None:
        if self._find_bar.display:
            self._find_bar.leave()

    def _show_behind(self, rows: int) -> None:
        self._status.behind = rows

    @work(thread=True)
    def _read_history(self) -> None:
        self._history.load()

    @work(exclusive=True, group="branch")
    async def _read_branch(self) -> None:
        self._status.branch = await asyncio.to_thread(branch.current, self._cwd)

    # The session

    async def attach(self, session: SessionPort, warnings: Sequence[str]) -> None:
        """Show `session` from now on, and send it what waits."""
        # Like all that knows of sessions, it is imported after the first paint.
        from pinfold.tui.bridge import Bridge

        await self._drafts.save()
        if self._bridge is not None:
            self._bridge.close()
        self._session = session
        self._find_bar.leave()
        self._look_at(session.cwd)
        await self._transcript.warm()
        self._transcript.set_welcome(welcome.welcome(session, warnings))
        self._bridge = Bridge(
            session,
            transcript=self._transcript,
            queue=self._queue,
            retry=self._retry,
            editor=self.editor,
            gauge=self._gauge,
            status=self._status,
            rested=self._read_branch,
        )
        for warning in warnings if session.items else ():
            self.tell(warning, "warning")
        self._drafts.attach(session)
        unsent, self._unsent = self._unsent, []
        for prompt in unsent:
            self._send(session, prompt)

    def fail(self, reason: str) -> None:
        """There is no session, and why; what was to be sent goes back into the prompt."""
        self._transcript.set_welcome(welcome.failed(reason))
        if self._unsent:
            self.editor.put_before("\n\n".join(each.text for each in self._unsent))
            self._unsent.clear()
            self._queue.show(())

    def tell(self, text: str, level: Level = "info") -> None:
        self._transcript.note(text, level)
        if not self._status.reading:
            self._transcript.scroll_end()
        elif self._transcript.behind:  # the note is out of view, but one acts on an item here
            self.hint_for_a_while(text.partition("\n")[0])

    def refresh_status(self) -> None:
        """Read the model, the approvals and the gauge anew."""
        if self._bridge is not None:
            self._bridge.refresh()

    async def save_draft(self) -> None:
        await self._drafts.save()

    async def approve(self, question: Question) -> Decision:
        """Ask the user, in a card above the prompt."""
        from pinfold.tui.approval.card import ApprovalCard

        card = ApprovalCard(question)
        await self.mount(card, before=self._prompt)
        self._offer_focus(card)
        waiting = self.set_interval(QUIET / 4, lambda: self._offer_focus(card))
        try:
            return await card.decided
        finally:
            waiting.stop()
            await card.remove()
            self.editor.focus()

    def _offer_focus(self, card: Widget) -> None:
        """Let keys answer, but never those that were meant for the prompt."""
        quiet = self._monotonic() - self._last_typed >= QUIET
        if self.focused is self.editor and not self.editor.text and quiet:
            card.focus()

    # The transcript

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

    @on(Transcript.Acted)
    def _acted(self, event: Transcript.Acted) -> None:
        from pinfold.tui.steering import command_of

        if self._session is None:
            return
        command, argument = command_of(event.key, event.item.n, self._session.window)
        self.post_message(self.Commanded(registry.BY_ID[command], argument, ""))

    # Prompts

    @on(Editor.Sent)
    def _sent(self, event: Editor.Sent) -> None:
        text = event.text
        try:
            command = registry.parse(text)
        except CommandError as error:
            self.tell(str(error), "error")
            self.editor.put_before(text)
            return
        if command is not None:
            self.post_message(self.Commanded(*command, text))
        elif self._session is None:
            self._unsent.append(Prompt(text, tuple(event.pasted)))
            self._show_unsent()
        else:
            self._send(self._session, Prompt(text, tuple(event.pasted)))

    def _send(self, session: SessionPort, prompt: Prompt) -> None:
        self._transcript.scroll_end()
        try:
            if prompt.text.startswith("!"):
                session.run_command(prompt.text[1:].strip())
            else:
                session.send(prompt.text, prompt.pasted)
        except Exception:
            self.editor.put_before(prompt.text, slices(prompt.text, prompt.pasted))
            raise

    def _show_unsent(self) -> None:
        self._queue.show([each.text for each in self._unsent])
        self.editor.has_queued = bool(self._unsent)

    @on(Editor.Recalled)
    def _recalled(self, event: Editor.Recalled) -> None:
        text = ""
        if self._unsent:
            text = self._unsent.pop().text
            self._show_unsent()
        elif self._session is not None and self._session.queue:
            text = self._session.unqueue(self._session.queue[-1][0])
        if event.drop:
            self.editor.remember(text)
        else:
            self.editor.put(text)

    @on(Editor.Changed)
    def _typed(self) -> None:
        self._last_typed = self._monotonic()
        self._drafts.changed()
        if self._session is not None:
            self._session.typed()

    @on(Popup.Picked)
    def _picked(self) -> None:
        self.editor.action_complete()

    # Keys

    def on_key(self, event: events.Key) -> None:
        if self.focused is not None or event.key in self.active_bindings:
            return
        if event.is_printable and event.character:
            self.editor.focus()
            self.editor.insert(event.character)

    @on(Editor.Ended)
    def _end(self) -> None:
        self.post_message(self.Left())

    def action_leave(self) -> None:
        if self.get_selected_text():
            self.action_copy_text()
            self.clear_selection()  # the next one clears the prompt
        elif self.stop_turn():
            pass
        elif self.editor.text:
            self.editor.set_aside()
            self.hint_for_a_while("Cleared: ↑ brings it back")
        elif self._twice(QUITS):
            self.post_message(self.Left())

    def stop_turn(self) -> bool:
        """Interrupt what runs, or quit where that was just done; False where nothing runs."""
        running = self._session is not None and self._session.phase != "idle"
        if not running and not self._is_second(QUITS):
            return False
        if self._twice(QUITS):
            self.post_message(self.Left())
        elif self._session is not None:
            self._session.interrupt()
        return True

    def action_interrupt(self) -> None:
        if self._find_bar.display:
            self._find_bar.leave()
        elif self._session is not None and self._session.phase != "idle":
            self._session.interrupt()
        elif self.editor.text:
            if self._twice("Esc again clears the prompt"):
                self.editor.set_aside()
        elif self._session is not None and self._session.items and self._twice("Esc again rewinds"):
            self.post_message(self.Commanded(registry.BY_ID["rewind"], "", ""))

    def _twice(self, hint: str) -> bool:
        """Whether this is the second time within `HINT_SECONDS`."""
        again = self._is_second(hint)
        self.hint_for_a_while("" if again else hint)
        return again

    def _is_second(self, hint: str) -> bool:
        soon = self._monotonic() - self._hinted_at <= HINT_SECONDS
        return soon and self._status.hint == hint

    def hint_for_a_while(self, hint: str) -> None:
        """Show `hint` in the status line."""
        self._hint(hint)
        self._hinted_at = self._monotonic()
        if self._hiding is not None:
            self._hiding.stop()
        self._hiding = self.set_timer(HINT_SECONDS, lambda: self._hint(""))

    def _hint(self, hint: str) -> None:
        self._status.hint = hint

    def action_switch_focus(self) -> None:
        """From the prompt to the card, if there is one, else to the transcript; and back."""
        card = next(iter(self.query("ApprovalCard")), None)
        (self.editor if self.focused is not self.editor else card or self._transcript).focus()

    def action_page_up(self) -> None:
        self._transcript.scroll_page_up()

    def action_page_down(self) -> None:
        self._transcript.scroll_page_down()

    def action_top(self) -> None:
        self._transcript.scroll_home()

    def action_bottom(self) -> None:
        self._transcript.scroll_end()
