"""The app: the one screen, the session on it, and what the user's keys set off."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence

from textual import events, on, work
from textual.app import App, ComposeResult
from textual.command import Provider
from textual.widgets import TextArea

from pinfold import paths
from pinfold.commands import registry
from pinfold.commands.action import Action, CommandError
from pinfold.commands.context import Host, Level, Panel, SessionPort, Start
from pinfold.ports import Decision, ProviderError, Question
from pinfold.rollout.journal import JournalError
from pinfold.tui import branch, themes, welcome
from pinfold.tui.bridge import Bridge
from pinfold.tui.drafts import Drafts
from pinfold.tui.gauge import GaugeBar
from pinfold.tui.keys import bindings, command_bindings
from pinfold.tui.lines import QueueLines, RetryLine
from pinfold.tui.look import Look
from pinfold.tui.prompt.box import PromptBox
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.prompt.history import History
from pinfold.tui.prompt.popup import Popup
from pinfold.tui.status import StatusLine
from pinfold.tui.transcript.view import Transcript

HINT_SECONDS = 2.0
"""How long a hint stands, and how soon its key must come again."""
ID_SHOWN = 13
"""Digits of a session's id that tell it from others: its time in milliseconds."""


def _actions() -> type[Provider]:
    from pinfold.tui.panels.palette import Actions

    return Actions


class PinfoldApp(App[str]):
    """Also the `Context` of commands. Its result is what to print at the end."""

    CSS_PATH = ["app.tcss", "prompt/prompt.tcss", "approval/approval.tcss"]
    ENABLE_COMMAND_PALETTE = False  # the registry binds the key
    COMMANDS = {_actions}
    BINDINGS = [
        *command_bindings(),
        *(each for each in bindings("prompt") if each.id in {"interrupt", "leave"}),
        *bindings("transcript"),
    ]

    def __init__(
        self,
        start: Start,
        host: Host,
        look: Look,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`start` opens the first session; it is called once the screen has been painted."""
        # Left alone, Textual would only turn colours to grey.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.animation_level = "none"
        self.host = host
        self._start = start
        self._look = look
        self._session: SessionPort | None = None
        self._bridge: Bridge | None = None
        self._unsent: list[str] = []
        """Prompts that wait for the session."""
        self._history = History(look.history)
        self._popup = Popup()
        self._transcript = Transcript()
        self._queue = QueueLines()
        self._retry = RetryLine(monotonic)
        self._editor = Editor(self._popup, self._history, look.cwd, self._choices)
        self._prompt = PromptBox(self._editor)
        self._drafts = Drafts(self._editor)
        self._gauge = GaugeBar()
        self._status = StatusLine(monotonic)

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._queue
        yield self._retry
        yield self._prompt
        yield self._gauge
        yield self._status
        yield self._popup
        yield self._drafts

    def on_mount(self) -> None:
        self.set_keymap(dict(self._look.keys))
        self._status.folder = paths.shown(self._look.cwd)
        self._transcript.set_welcome(welcome.waiting())
        self._editor.focus()
        self.call_after_refresh(self._begin)

    @work(group="session")
    async def _begin(self) -> None:
        for warning in self._look.warnings:
            self.tell(warning, "warning")
        self._look_around()
        try:
            session = await self._start(self._approve)
        except FAILURES as error:
            self._transcript.set_welcome(welcome.failed(str(error)))
            for text in reversed(self._unsent):
                self._editor.put_before(text)
            self._unsent.clear()
        else:
            self._enter(session)

    @work(group="look", exclusive=True)
    async def _look_around(self) -> None:
        self._status.branch = await asyncio.to_thread(branch.current, self._look.cwd)

    def _enter(self, session: SessionPort) -> None:
        if self._bridge is not None:
            self._bridge.close()
        self._session = session
        self._transcript.set_welcome(welcome.welcome(session))
        self._bridge = Bridge(
            session,
            transcript=self._transcript,
            queue=self._queue,
            retry=self._retry,
            editor=self._editor,
            gauge=self._gauge,
            status=self._status,
            rested=self._look_around,
        )
        self._drafts.attach(session)
        unsent, self._unsent = self._unsent, []
        for text in unsent:
            self._send(text)

    # Themes

    def _register_themes(self) -> list[str]:
        folders = [themes.shipped(), *([self._look.themes] if self._look.themes else ())]
        loaded, failed = themes.load(folders)
        for theme in loaded:
            self.register_theme(theme)
        return [f"Theme {path}: {why}" for path, why in failed.items()]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.fallbacks(self.current_theme)

    # What commands may do

    @property
    def session(self) -> SessionPort:
        if self._session is None:
            raise CommandError("There is no session yet.")
        return self._session

    @property
    def themes(self) -> Sequence[str]:
        return sorted(self.available_themes)

    def tell(self, text: str, level: Level = "info") -> None:
        self._transcript.note(text, level)

    def open(self, panel: Panel) -> None:
        from pinfold.tui.panels.opening import open_panel

        open_panel(self, panel)

    def set_theme(self, name: str) -> None:
        self.theme = name

    def copy(self, text: str) -> None:
        self.copy_to_clipboard(text)

    async def edit_prompt(self) -> None:
        from pinfold.tui.external import edit

        try:
            with self.suspend():
                text = edit(self._editor.value)
        except (SuspendNotSupported, OSError) as error:
            raise CommandError(f"The editor could not be started: {error}") from error
        self.refresh(layout=True)
        self._editor.put(text)

    async def switch(self, start: Start) -> None:
        try:
            session = await start(self._approve)
        except FAILURES as error:
            raise CommandError(str(error)) from error
        old = self._session
        await self._drafts.save()
        self._enter(session)
        if old is not None:
            await old.close()

    async def quit(self) -> None:
        await self._drafts.save()
        said = ""
        if (session := self._session) is not None:
            if session.items:
                said = f"The session is kept. Go on with: pinfold resume {session.id[:ID_SHOWN]}"
            await session.close()
        self.exit(said)

    async def action_quit(self) -> None:
        await self.quit()

    # What the user wants

    def _choices(self, command: str) -> Sequence[str]:
        choices = registry.BY_SLASH[command].choices
        return choices(self) if choices else ()

    @on(Editor.Sent)
    def _sent(self, event: Editor.Sent) -> None:
        try:
            command = registry.parse(event.text)
        except CommandError as error:
            self.tell(str(error), "error")
            return
        self._editor.accept()
        if command is not None:
            self._run(*command, event.text)
        elif self._session is None:
            self._unsent.append(event.text)
            self._queue.show(self._unsent)
        else:
            self._send(event.text)

    def _send(self, text: str) -> None:
        self._transcript.scroll_end()
        if text.startswith("!"):
            self.session.run_command(text[1:].strip())
        else:
            self.session.send(text)

    def action_run_command(self, action_id: str) -> None:
        self._run(registry.BY_ID[action_id])

    @work(group="command")
    async def _run(self, action: Action, argument: str = "", text: str = "") -> None:
        assert action.run is not None
        try:
            await action.run(self, argument)
        except CommandError as error:
            self.tell(str(error), "error")
            if text:
                self._editor.put_before(text)
        if self._bridge is not None:
            self._bridge.refresh()

    async def _approve(self, question: Question) -> Decision:
        from pinfold.tui.approval.card import ApprovalCard

        card = ApprovalCard(question)
        await self.mount(card, before=self._prompt)
        if not self._editor.text:  # what is being typed must not answer
            card.focus()
        try:
            return await card.decided
        finally:
            await card.remove()
            self._editor.focus()

    @on(Editor.Recalled)
    def _recalled(self, event: Editor.Recalled) -> None:
        text = ""
        if self._unsent:
            text = self._unsent.pop()
            self._queue.show(self._unsent)
        elif self._session is not None and self._session.queue:
            text = self._session.unqueue(self._session.queue[-1][0])
        if event.drop:
            self._editor.remember(text)
        else:
            self._editor.put(text)

    @on(Editor.Ended)
    async def _ended(self) -> None:
        await self.quit()

    @on(Editor.Changed)
    def _typed(self) -> None:
        self._drafts.changed()

    @on(Popup.Picked)
    def _picked(self) -> None:
        self._editor.action_complete()

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character and self.focused is self._transcript:
            self._editor.focus()
            self._editor.insert(event.character)

    async def action_leave(self) -> None:
        if self._twice("Ctrl+C again quits"):
            await self.quit()

    def action_interrupt(self) -> None:
        if self._session is not None and self._session.phase != "idle":
            self._session.interrupt()
        elif self._editor.text and self._twice("Esc again clears the prompt"):
            self._editor.set_aside()

    def _twice(self, hint: str) -> bool:
        """Whether this is the second time within `HINT_SECONDS`."""
        again = self._status.hint == hint
        self._status.hint = "" if again else hint
        if self._hiding is not None:
            self._hiding.stop()
        self._hiding = self.set_timer(HINT_SECONDS, lambda: self._status.set_hint(""))
        return again

    def action_focus_next(self) -> None:
        cards = self.screen.query("ApprovalCard")
        if cards and self.focused is self._editor:
            cards.first().focus()
        elif self.focused is self._editor:
            self._transcript.focus()
        else:
            self._editor.focus()

    def action_page_up(self) -> None:
        self._transcript.scroll_page_up()

    def action_page_down(self) -> None:
        self._transcript.scroll_page_down()

    def action_top(self) -> None:
        self._transcript.scroll_home()

    def action_bottom(self) -> None:
        self._transcript.scroll_end()
