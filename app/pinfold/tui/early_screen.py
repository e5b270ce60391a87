"""Shows the first frame, and echoes what is typed, while the screen itself is being loaded.

It takes a third of a second to import what draws the screen; nobody should wait for that to type.
"""

import os
import select
import termios
from codecs import getincrementaldecoder
from threading import Thread
from unicodedata import combining, east_asian_width

from pinfold.host.first_frame import Frame, Place

ENTER = "\x1b[?1049h"
LEAVE = "\x1b[?2004l\x1b[?1049l\x1b[?25h"
HIDE_CURSOR = "\x1b[?25l"
MARK_PASTES = "\x1b[?2004h"
PASTE, PASTE_END = b"\x1b[200~", b"\x1b[201~"
RESET = "\x1b[0m"
PASTES_WITHIN = 1.0
"""Seconds without more of it after which a paste has no end."""


class EarlyScreen:
    """The terminal, from the first frame until the screen takes it over or all is called off."""

    def __init__(self, frame: Frame, source: int, target: int) -> None:
        """`source` and `target` are the terminal's descriptors for reading and writing."""
        self.frame = frame
        self._source = source
        self._target = target
        self._before = termios.tcgetattr(source)
        self._typed = b""
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._line = EchoedLine(frame.prompt)
        self._stop, self._stopping = os.pipe()
        self._echo = Thread(target=self._collect, daemon=True)
        self.is_shown = False
        """Whether the terminal is this screen's."""

    def show(self) -> None:
        self.is_shown = True
        typed = make_raw(self._source)
        self._write(HIDE_CURSOR + MARK_PASTES + ENTER + _painted(self.frame))
        self._take(typed)
        self._echo.start()

    def hand_over(self) -> tuple[bytes, list[object]]:
        """Stop echoing. What was typed, and the attributes that the terminal had before."""
        self.is_shown = False
        os.write(self._stopping, b".")
        if self._echo.is_alive():
            self._echo.join()
        os.close(self._stop)
        os.close(self._stopping)
        return self._typed, self._before

    def leave(self) -> None:
        """Give the terminal back, unless the screen has taken it over."""
        if self.is_shown:
            self.hand_over()
            self._write(RESET + LEAVE)
            termios.tcsetattr(self._source, termios.TCSANOW, self._before)

    def _collect(self) -> None:
        while self._stop not in select.select([self._source, self._stop], [], [])[0]:
            typed = os.read(self._source, 4096)
            if not typed:
                return
            self._take(typed)

    def _take(self, typed: bytes) -> None:
        self._typed += typed
        if shown := self._line.type(self._decode(typed)):
            self._write(shown)

    def _write(self, text: str) -> None:
        data = text.encode(errors="replace")
        while data:
            data = data[os.write(self._target, data) :]


class EchoedLine:
    """What the prompt shows of the keys: one line of plain letters, up to the first other key."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._text = ""
        self._ended = False

    def type(self, keys: str) -> str:
        """What to write for more keys; "" where they change nothing."""
        before = self._text
        for key in "" if self._ended else keys:
            if key in "\x7f\x08":
                self._text = self._text[:-1]
            elif (
                not key.isprintable()
                or not _takes_one_cell(key)
                or len(self._text) == self._place.width - 1
                or (key == "?" and not self._text)
            ):  # it has to be laid out, or is a command: the screen will do it
                self._ended = True
                break
            else:
                self._text += key
        if self._text == before:
            return ""
        x, y, width = self._place.x, self._place.y, self._place.width
        return (
            f"\x1b[{y + 1};{x + 1}H{self._place.look}{self._text}"
            f"{self._place.cursor} {self._place.look}{' ' * (width - len(self._text) - 1)}{RESET}"
        )


def _takes_one_cell(key: str) -> bool:
    return not combining(key) and east_asian_width(key) not in "WF"


def make_raw(terminal: int) -> bytes:
    """Have `terminal` pass each key on as it comes. What was typed before, as it would have come.

    Ctrl+C still interrupts.
    """
    attributes = termios.tcgetattr(terminal)
    attributes[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON)
    attributes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    attributes[6][termios.VSUSP] = b"\0"  # to stop now would leave the terminal like this
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    if not select.select([terminal], [], [], 0)[0]:
        return b""
    typed = os.read(terminal, 4096)
    if b"\n" in typed[:-1]:  # nobody types lines that fast
        return PASTE + typed + PASTE_END
    return typed.replace(b"\n", b"\r")  # so far Enter became a line feed


def rest_of_paste(typed: bytes, terminal: int) -> bytes:
    """What `terminal` still has to say of a paste that begins in `typed`."""
    rest = b""
    while (typed + rest).count(PASTE) > (typed + rest).count(PASTE_END):
        if not select.select([terminal], [], [], PASTES_WITHIN)[0]:
            break
        rest += os.read(terminal, 4096)
    return rest


def terminal() -> tuple[int, int] | None:
    """The descriptors to read from and to write to, as Textual does, where all are a terminal."""
    return (0, 2) if all(map(os.isatty, (0, 1, 2))) else None


def _painted(frame: Frame) -> str:
    rows = (
        f"\x1b[{y + 1};1H" + "".join(f"{look}{text}" for text, look in row)
        for y, row in enumerate(frame.rows)
    )
    return "".join(rows) + RESET
