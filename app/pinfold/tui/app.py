"""The app: opens sessions, carries out commands, holds the theme. What is seen is in `shell`."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import SuspendNotSupported
from textual.binding import BindingType
from textual.command import Provider
from textual.filter import LineFilter

from pinfold.commands import registry
from pinfold.commands.action import Action
from pinfold.commands.arguments import CommandError
from pinfold.commands.context import Level, Start
from pinfold.numbers import ID_SHOWN
from pinfold.paths import program
from pinfold.rollout import provenance
from pinfold.sanitize import one_line, safe
from pinfold.tui.first_paint import FirstPaintApp
from pinfold.tui.harmless import Harmless
from pinfold.tui.keys import command_bindings, complaints
from pinfold.tui.screen_config import ScreenConfig
from pinfold.tui.shell import Shell
from pinfold.tui.themed import ThemedApp

if TYPE_CHECKING:
    from pinfold.agent.compaction.trigger import CompactionTrigger
    from pinfold.agent.session import Session
    from pinfold.compaction.view import PlanOptions
    from pinfold.host.host import Host

PANELS_AFTER = 1.0
"""Seconds until panels are loaded: what the first prompt needs goes first."""


def _actions() -> type[Provider]:
    from pinfold.tui.panels.palette import Actions

    return Actions


class PinfoldApp(FirstPaintApp, ThemedApp):
    """Also the `Context` of commands. Its result is what to print at the end."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False  # the registry binds the key
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_actions}
    BINDINGS: ClassVar[list[BindingType]] = [*command_bindings()]
    TITLE = "pinfold"

    def __init__(
        self,
        start: Start,
        host: Host,
        config: ScreenConfig,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`start` opens the first session; it is called once the screen has been painted."""
        # Left alone, Textual would only turn colours to grey.
        super().__init__(
            config.errors,
            theme_folder=config.theme_folder,
            ansi_color=True if "NO_COLOR" in os.environ else None,
        )
        self.animation_level = "none"
        self._harmless = Harmless()
        self._start = start
        self._host = host
        self._config = config
        self._session: Session | None = None
        self._begun = asyncio.Event()
        """Set once there is a first session, or its failure is shown."""
        self._shell = Shell(config, monotonic, self._choices)
        self._warnings = [*config.warnings, *self.dress(config.theme)]

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._harmless]

    def get_default_screen(self) -> Shell:
        return self._shell

    def on_mount(self) -> None:
        self.set_keymap(dict(self._config.keys))
        self.call_after_refresh(self._begin)
        # After a hangup there is no terminal to leave tidy, so SIGHUP just ends the process.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._asked_to_end)

    def _asked_to_end(self) -> None:
        self.post_message(Shell.Left())

    @work
    async def _begin(self) -> None:
        try:
            await self._shell.complete()
            if self._config.prompt is not None:
                self._shell.submit(self._config.prompt)
            warnings = await self.load_themes()
            self._warnings += [line for line in warnings if line not in self._warnings]
            self._warnings += await asyncio.to_thread(complaints, self._config.keys)
            session = await self._start(self._shell.approve)
            asks = self._config.offer if not session.items else None
            offer = await asyncio.to_thread(asks) if asks else ""
            await self._enter(session, self._warnings, offer, self._config.note)
            self.set_timer(PANELS_AFTER, self._make_panels_ready)
        except Exception as error:  # the screen stays, whatever it is
            from pinfold.commands.failures import told

            self._shell.fail(told(error))
            self.show_all()
        finally:
            self._begun.set()

    @work
    async def _make_panels_ready(self) -> None:
        """Load what the first panel would else keep all keys waiting for."""
        from pinfold.tui.panels import registry as panels

        await panels.make_ready(self.stylesheet)
        if not self.session.items:
            await self.save_frame(self.draw_frame(self._shell.editor))

    def tell_failure(self, line: str) -> None:
        self._shell.hint("That failed")
        if line:
            self.tell(line, "error")

    def give_up(self) -> None:
        self.post_message(Shell.Left())

    async def _enter(
        self, session: Session, warnings: Sequence[str] = (), offer: str = "", note: str = ""
    ) -> None:
        old, self._session = self._session, session
        session.review_by(self._review)
        session.lend(self)
        await self._shell.attach(session, [*warnings, *session.notices], offer)
        if old is not None:
            await self._host.close(old)
        if note:
            self.tell(note)
        if session.left_at:
            self.tell(one_line(session.left_at))
        self._count_front(session)
        self._tell_meanwhile(session)
        self._tell_cold(session)

    @work(exclusive=True, group="front")
    async def _count_front(self, session: Session) -> None:
        """Have the gauge count instructions and tools before the first request too."""
        await session.count_front()
        if session is self._session:
            self._shell.refresh_status()
            self.call_after_refresh(self.show_all)

    @work(exclusive=True, group="meanwhile")
    async def _tell_meanwhile(self, session: Session) -> None:
        """Say which files changed while the session was closed."""
        told = str(await session.files.meanwhile())
        if told and session is self._session:
            self.tell(one_line(told), "warning")

    @work(exclusive=True, group="cold")
    async def _tell_cold(self, session: Session) -> None:
        """Say what it costs to continue where the prompt cache has expired."""
        told = await session.cold()
        if told and session is self._session and session.phase == "idle":
            self.tell(told, "warning")

    # What commands may do

    @property
    def session(self) -> Session:
        if self._session is None:
            raise CommandError("There is no session yet.")
        return self._session

    @property
    def host(self) -> Host:
        return self._host

    def tell(self, text: str, level: Level = "info") -> None:
        self._shell.tell(text, level)

    @property
    def keys(self) -> Mapping[str, str]:
        return self._config.keys

    def open(self, panel: str, argument: str = "") -> None:
        from pinfold.tui.panels.registry import open_panel

        open_panel(self, panel, argument)

    def show_agent(
        self, number: int, item: int = 0, back: Callable[[], object] | None = None
    ) -> None:
        self._shell.show_agent(number, item, back=back)

    def find(self, text: str) -> None:
        self._shell.find(text)

    def show(self, n: int) -> None:
        self._shell.show(n)

    def preview(self, strategy: str, options: PlanOptions) -> None:
        from pinfold.tui.panels.preview import PreviewPanel

        save = self._host.save_compact
        panel = PreviewPanel(self.session, save, strategy, options)
        self.call_later(self.push_screen, panel)  # keys come first: making it took a while

    async def _review(self, trigger: CompactionTrigger) -> bool:
        """Let the user decide on the next window, in mid-turn; whether it was applied."""
        from pinfold.tui.panels.preview import PreviewPanel
        from pinfold.tui.review import why_now

        if not await self._shell.offer_preview(why_now(self.session, trigger)):
            return False
        panel = PreviewPanel(self.session, self._host.save_compact, trigger=trigger)
        decided: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()

        def decide(applied: bool | None) -> None:
            if not decided.done():  # the turn may have ended
                decided.set_result(applied)

        self.call_later(self.push_screen, panel, decide)
        try:
            return bool(await decided)
        except asyncio.CancelledError:
            panel.close(applied=False)
            raise

    def use_statusline(self, command: str) -> None:
        self._shell.use_statusline(command)

    def copy(self, text: str) -> None:
        self.copy_to_clipboard(safe(text))  # it may be pasted into another terminal

    async def edit_prompt(self) -> None:
        from pinfold.tui.external import edit

        try:
            with self.suspend():
                before = self._shell.editor.value
                text = edit(before)
        except (SuspendNotSupported, OSError) as error:
            raise CommandError(f"The editor did not start: {error}") from error
        self._shell.editor.put(text, provenance.guess_added(before, text))
        self.refresh(layout=True)

    def put(self, text: str, pasted: Sequence[str] = ()) -> None:
        self._shell.editor.put_before(text, pasted)

    def insert(self, text: str) -> None:
        self._shell.editor.insert_word(text)

    async def switch(self, start: Start) -> None:
        session = await start(self._shell.approve)
        await self._enter(session, self._host.warnings)

    async def suspend_job(self) -> None:
        from pinfold.tui.external import stop_job

        await self._shell.save_draft()
        try:
            with self.suspend():
                stop_job()
        except SuspendNotSupported as error:
            raise CommandError("This terminal can't be suspended.") from error
        self.refresh(layout=True)

    def terminal_size(self) -> tuple[int, int]:
        return self.size.height, self.size.width

    def take(self, pty: int, shown: bytes, ended: Callable[[], bool]) -> bytes:
        """Lend the terminal to the command of `pty` until it ends."""
        from pinfold.tui.external import connect

        try:
            with self.suspend():
                printed = connect(pty, shown, ended)
        except SuspendNotSupported as error:
            raise OSError("This terminal can't be handed to another program.") from error
        self.refresh(layout=True)
        return printed

    async def quit(self) -> None:
        await self._shell.save_all()
        said = ""
        if (session := self._session) is not None:
            frame = None
            if session.items:
                frame = self.draw_frame(self._shell.editor)
                again = f"{program()} resume {session.id[:ID_SHOWN]}"
                said = f"Session saved. Resume with: {again}"
            await self._host.close(session)
            await self.save_frame(frame, session.folder)
        self.exit(said)

    async def action_quit(self) -> None:
        await self.quit()

    def action_leave(self) -> None:
        """Ctrl+C in a panel."""
        if not self._shell.stop_turn():
            self.simulate_key("escape")

    # Commands

    def _choices(self, command: str) -> Sequence[str]:
        return registry.BY_SLASH[command].choices(self)

    def action_run_command(self, action_id: str) -> None:
        self.run_command(registry.BY_ID[action_id])

    @on(Shell.Commanded)
    def _commanded(self, event: Shell.Commanded) -> None:
        self.run_command(event.action, event.argument)

    @on(Shell.Left)
    async def _left(self) -> None:
        await self.quit()

    def run_command(self, action: Action, argument: str = "") -> None:
        self.attempt(self._carry_out(action, argument))

    async def _carry_out(self, action: Action, argument: str) -> None:
        if not action.early:
            await self._begun.wait()
        await action.carry_out(self, argument)

    @work
    async def attempt(self, doing: Awaitable[None]) -> None:
        """Wait for `doing`; where it fails, tell why."""
        try:
            await doing
        except Exception as error:  # the screen stays, whatever it is
            from pinfold.commands.failures import level, told

            self.tell(told(error), level(error))
        self._shell.refresh_status()
