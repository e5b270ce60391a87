"""The screen: the transcript, the prompt, the lines around them, and what the user's keys mean."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message

from pinfold import paths
from pinfold.commands import registry
from pinfold.commands.action import Action
from pinfold.commands.arguments import CommandError
from pinfold.rollout.provenance import Prompt
from pinfold.tui import branch, welcome
from pinfold.tui.attention import Attention
from pinfold.tui.drafts import Drafts
from pinfold.tui.find import FindBar
from pinfold.tui.gauge import GaugeBar
from pinfold.tui.hints import Hints
from pinfold.tui.keys import key_of
from pinfold.tui.lines import Lines, QueueLines, RetryLine
from pinfold.tui.outbox import Outbox
from pinfold.tui.own_commands import mentions, offered, prompt_of
from pinfold.tui.plan_line import PlanLine
from pinfold.tui.prompt.box import PromptBox
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.prompt.history import History
from pinfold.tui.prompt.popup import Popup
from pinfold.tui.prompt.shortcuts import Shortcuts
from pinfold.tui.questions import Questions
from pinfold.tui.screen_config import ScreenConfig
from pinfold.tui.shell_agents import Agents
from pinfold.tui.status_line import StatusLine
from pinfold.tui.stopping import Stopping
from pinfold.tui.transcript.view import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pinfold.agent.session import Session
    from pinfold.commands.context import Level
    from pinfold.ports.approver import Decision, Question
    from pinfold.tui.bridge import Bridge


class Shell(Agents):
    """Shows one session at a time; before the first, it keeps what is sent."""

    AUTO_FOCUS = "Editor"

    class Commanded(Message):
        """The user gave a command."""

        def __init__(self, action: Action, argument: str = "") -> None:
            super().__init__()
            self.action = action
            self.argument = argument

    class Left(Message):
        """The user wants to quit."""

    def __init__(
        self,
        config: ScreenConfig,
        monotonic: Callable[[], float],
        choices: Callable[[str], Sequence[str]],
    ) -> None:
        super().__init__()
        self._cwd = config.cwd
        self._session: Session | None = None
        self._bridge: Bridge | None = None
        self._history = History(config.history)
        self._popup = Popup()
        self.editor = Editor(self._popup, self._history, config.cwd, choices, vim=config.vim)
        self.editor.completer.own = lambda: offered(self._session)
        self.editor.completer.mentions = lambda: mentions(self._session)
        self._drafts = Drafts(self.editor)
        self._transcript = Transcript()
        self._transcript.writer = self.editor
        self._key = partial(key_of, config.keys)
        self._queue = QueueLines(self._key)
        self._plan = PlanLine(self._key)
        self._retry = RetryLine(monotonic, self._key)
        self._lines = Lines(self._plan, self._queue, self._retry)
        self._outbox = Outbox(self.editor, self._queue, self.tell, partial(self._command, "editor"))
        self._shortcuts = Shortcuts(self._key)
        self._find_bar = FindBar(self._transcript)
        self._prompt = PromptBox(self.editor, self._key)
        self._gauge = GaugeBar()
        self._status = StatusLine(monotonic, self._key)
        self._hints = Hints(self._status, monotonic)
        self._statusline = config.statusline
        self._status_failure = ""
        self._attention = Attention(
            self._write,
            config.notify,
            os.environ,
            has_title=config.title,
            notified=self._notified,
        )
        self._questions = Questions(
            self._prompt,
            monotonic,
            self._key,
            seen=config.card_delay,
            pause=config.letter_pause,
            back=lambda: self.pane if self._agent_shown else self.editor,
        )
        self._stopping = Stopping(
            self.editor,
            self._hints,
            self._questions,
            self._key,
            leave=self._end,
            rewind=partial(self._command, "rewind"),
        )

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._prompt
        yield self._gauge
        yield self._status

    def on_mount(self) -> None:
        self._status.folder = paths.shown(self._cwd)
        self._attention.show(self._cwd.name, self._status.phase)
        self._transcript.set_welcome(welcome.waiting())
        self.watch(self._transcript, "behind", self._show_behind)
        self.watch(self._status, "phase", self._attention.changed, init=False)
        self.watch(self.app, "app_focus", self._attention.focus)

    async def complete(self) -> None:
        """Add what the first paint does not need."""
        await self.mount(self._lines, self._find_bar, before=self._prompt)
        await self.mount(self._popup, self._shortcuts)
        self._read_history()
        self._read_branch()

    def _look_at(self, folder: Path) -> None:
        self._cwd = self.editor.completer.folder = folder
        self._status.folder = paths.shown(folder)
        self._attention.show(folder.name, self._status.phase)
        self._read_branch()

    def on_descendant_focus(self) -> None:
        self._status.reading = isinstance(self.focused, Transcript)
        if self._status.reading:
            self._hints.clear()

    @on(Transcript.Selected)
    def _selected(self, event: Transcript.Selected) -> None:
        self._status.on_item = event.item is not None

    def _show_behind(self) -> None:
        self._status.behind = self.pane.behind

    @work(thread=True)
    def _read_history(self) -> None:
        self._history.load()

    @work(exclusive=True, group="branch")
    async def _read_branch(self) -> None:
        self._status.branch = await asyncio.to_thread(branch.current, self._cwd)
        await self._run_statusline()

    def use_statusline(self, command: str) -> None:
        """Have `command` write the status line from now on; without one, it is ours."""
        self._statusline, self._status_failure, self._status.own = command, "", None
        self._read_branch()

    async def _run_statusline(self) -> None:
        """Have the user's own command write the status line, if there is one."""
        session = self._session
        if not self._statusline or session is None:
            return
        from pinfold.tui import status_command

        try:
            told = status_command.facts(session, self._status.branch)
            self._status.own = await status_command.line(self._statusline, self._cwd, told)
            self._status_failure = ""
        except status_command.StatusFailed as error:
            self._status.own = None
            if str(error) != self._status_failure:
                self._status_failure = str(error)
                self.tell(self._status_failure, "warning")

    # The session

    async def attach(self, session: Session, warnings: Sequence[str], offer: str = "") -> None:
        """Show `session` from now on, and send it what waits."""
        # Like all that knows of sessions, it is imported after the first paint.
        from pinfold.tui.bridge import Bridge

        await self._drafts.save()
        self.leave_agent()
        if self._bridge is not None:
            self._bridge.close()
        self._session = self._stopping.session = session
        self._find_bar.leave()
        self._look_in_all()
        self._look_at(session.cwd)
        await self._transcript.warm()
        self._transcript.set_welcome(welcome.welcome(session, warnings, offer))
        self._bridge = Bridge(
            session,
            transcript=self._transcript,
            queue=self._queue,
            plan=self._plan,
            retry=self._retry,
            editor=self.editor,
            gauge=self._gauge,
            status=self._status,
            rested=self._read_branch,
            source_key=self._key("memory_source"),
            agents=self._agents_changed,
        )
        for warning in warnings if session.items else ():
            self.tell(warning, "warning")
        self._drafts.attach(session)
        self._questions.attach(session)
        self._outbox.open(session)

    def _write(self, sequence: str) -> None:
        """Write an escape sequence to the terminal, as Textual's own `bell` does."""
        if not self.app.is_headless and self.app._driver is not None:
            self.app._driver.write(sequence)

    def _notified(self, what: str) -> None:
        if self._session is not None:
            self._session.notified(what)

    def fail(self, reason: str) -> None:
        """Show why there is no session; what was to be sent goes back into the prompt."""
        self._transcript.set_welcome(welcome.failed(reason))
        self._outbox.fail()

    def tell(self, text: str, level: Level = "info") -> None:
        self._transcript.note(text, level)
        if not self._status.reading:
            self._transcript.scroll_end()
        elif self._transcript.behind or self._agent_shown:
            # The note is out of view, but one acts on an item here.
            self._hints.show(text.partition("\n")[0])

    def refresh_status(self) -> None:
        """Read the model, the approvals and the gauge again."""
        if self._bridge is not None:
            self._bridge.refresh()
            self._read_branch()

    async def save_draft(self) -> None:
        await self._drafts.save()

    async def save_all(self) -> None:
        """Save the draft and the prompts that were not sent yet, as the user leaves."""
        self._attention.close()
        self._hints.clear()  # the next start may show this screen first
        self._outbox.drop_questions()
        await self._drafts.save()

    async def approve(self, question: Question) -> Decision:
        """Ask the user about a call."""
        return await self._questions.approve(question)

    async def offer_preview(self, why: str) -> bool:
        """Whether the user wants to see a compaction that is due; `why` says why it is."""
        idle = self._session is None or self._session.phase == "idle"
        return await self._questions.offer_preview(why, "closes it" if idle else "interrupts")

    # The transcript

    @on(Transcript.Acted)
    def _acted(self, event: Transcript.Acted) -> None:
        from pinfold.tui.steering import command_of

        if self._agent_shown:
            self.hint("This is an agent's transcript: it is read-only")
        elif self._session is not None:
            self._command(*command_of(event.key, event.item.n, self._session.window))

    # Prompts

    @on(Editor.Sent)
    def _sent(self, event: Editor.Sent) -> None:
        prompt = prompt_of(event.text, event.pasted, self._session)
        try:
            command = None if prompt.expands else registry.parse(event.text)
        except CommandError as error:
            self.tell(str(error), "error")
            return
        if command is not None:
            self.post_message(self.Commanded(*command))
        else:
            self._transcript.scroll_end()
            self._outbox.send(self._session, prompt, steers=event.steers)

    def submit(self, prompt: Prompt) -> None:
        """Send a prompt of the command line: never a command, as it may come from a file."""
        self.editor.remember(prompt.text, prompt.pasted)
        if prompt.text.startswith("!"):
            pasted = tuple((start + 1, end + 1) for start, end in prompt.pasted)
            prompt = Prompt(f" {prompt.text}", pasted)
        self._outbox.send(self._session, prompt)

    @on(Editor.Recalled)
    def _recalled(self, event: Editor.Recalled) -> None:
        text = self._outbox.unqueue_newest(self._session)
        if event.drop:
            self.editor.remember(text)
        elif text:
            self.editor.put_before(text)

    @on(Editor.Changed)
    def _typed(self) -> None:
        self._shortcuts.display = False
        self._questions.typed()
        self._drafts.changed()
        if self._session is not None:
            self._session.typed()

    def _command(self, action: str, argument: str = "") -> None:
        self.post_message(self.Commanded(registry.BY_ID[action], argument))

    @on(Editor.Asked)
    def _show_shortcuts(self) -> None:
        self._shortcuts.toggle(self.size.height - self._prompt.region.y)

    @on(Popup.Picked)
    def _picked(self) -> None:
        self.editor.action_complete()

    @on(Editor.Ended)
    def _end(self) -> None:
        self.post_message(self.Left())

    def stop_turn(self) -> bool:
        """Interrupt what runs, or quit where that was just done; False where nothing runs."""
        return self._stopping.stop_turn()

    def hint(self, hint: str) -> None:
        """Show `hint` in the status line for a while."""
        self._hints.show(hint)
