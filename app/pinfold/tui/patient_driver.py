"""The terminal's driver: no key is lost that was typed before there was a prompt to take it."""

from __future__ import annotations

import termios
from threading import Lock
from typing import TYPE_CHECKING, Any

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste

from pinfold.tui.early_screen import ENTER, make_raw, rest_of_paste

if TYPE_CHECKING:
    from textual.app import App
    from textual.message import Message

    from pinfold.tui.early_screen import EarlyScreen


class PatientDriver(LinuxDriver):
    """Keeps keys back until something has the focus, and goes on from an early screen."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._lock = Lock()
        self._keys: list[Message] | None = []
        """What came before there was something to take it."""
        self._early: EarlyScreen | None = getattr(app, "early", None)
        self._typed = b""
        """What was typed before the terminal was this driver's."""

    def start_application_mode(self) -> None:
        if self._early is not None:
            self._typed, before = self._early.hand_over()
        else:
            before = termios.tcgetattr(self.fileno)
            self._typed = make_raw(self.fileno)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.attrs_before = before

    def write(self, data: str) -> None:
        if self._early is not None and data == ENTER:
            self._early = None  # it has done so: once more might clear what it shows
        else:
            super().write(data)

    def run_input_thread(self) -> None:
        typed, self._typed = self._typed, b""
        typed += rest_of_paste(typed, self.fileno)
        for event in XTermParser(self._debug).feed(typed.decode(errors="replace")):
            self.process_message(event)
        super().run_input_thread()

    def process_message(self, message: Message) -> None:
        with self._lock:
            if self._keys is not None and isinstance(message, Key | Paste):
                self._keys.append(message)
            else:
                super().process_message(message)

    def pass_keys_on(self) -> None:
        """There is something that takes keys: it gets those that came before it."""
        with self._lock:
            for message in self._keys or ():
                super().process_message(message)
            self._keys = None
