"""The window's title, and notifications.

OSC 2 sets the title, XTWINOPS 22 and 23 keep and restore it (xterm's control sequences); OSC 9 is
iTerm2's notification, OSC 777 urxvt's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pinfold.agent.updates import Phase
    from pinfold.settings import Notify

_KEEP_TITLE, _RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_OSC9 = {"iTerm.app", "WezTerm", "ghostty"}
"""`TERM_PROGRAM` of terminals that know OSC 9."""
_LONGEST = 80
"""Characters of a title."""


def method(env: Mapping[str, str]) -> Notify:
    """How the terminal of `env` is best notified; the bell is what any multiplexer passes on."""
    if env.get("TMUX") or env.get("STY"):
        return "bell"
    if env.get("TERM_PROGRAM") in _OSC9 or env.get("KITTY_WINDOW_ID"):
        return "osc9"
    if env.get("VTE_VERSION") or env.get("TERM", "").startswith(("rxvt", "foot")):
        return "osc777"
    return "bell"


class Attention:
    """Follows the phase of the session and whether the terminal has the focus."""

    def __init__(
        self,
        write: Callable[[str], None],
        how: Notify,
        env: Mapping[str, str],
        *,
        has_title: bool = True,
        notified: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`notified` hears of each notification."""
        self._notified = notified
        self._write = write
        self._has_title = has_title
        self._how = method(env) if how == "auto" else how
        self._focused = True
        self._folder = ""
        self._title = ""

    def focus(self, focused: bool) -> None:
        """The terminal has got or lost the focus."""
        self._focused = focused

    def show(self, folder: str, phase: Phase) -> None:
        """Have the window's title say where the session works and what it does."""
        sign = {"idle": "", "approval": "? ", "question": "? "}.get(phase, "… ")
        self._folder = one_line(folder)
        title = f"{sign}pinfold · {self._folder}"[:_LONGEST]
        if self._has_title and title != self._title:
            self._write(f"{'' if self._title else _KEEP_TITLE}\x1b]2;{title}\x07")
            self._title = title

    def changed(self, before: Phase, now: Phase) -> None:
        """Notify, without the focus, that the turn has ended or asks something."""
        if self._folder:
            self.show(self._folder, now)
        if now == "approval":
            self._notify("waiting for approval")
        elif now == "question":
            self._notify("waiting for your answer")
        elif now == "idle" and before != "idle":
            self._notify("the turn has ended")

    def _notify(self, what: str) -> None:
        if self._focused:
            return
        self._notified(what)
        text = f"{self._folder}: {what}"
        match self._how:
            case "osc9":
                self._write(f"\x1b]9;pinfold: {text}\x07")
            case "osc777":
                self._write(f"\x1b]777;notify;pinfold;{text.replace(';', ',')}\x07")
            case "bell":
                self._write("\x07")
            case _:
                pass

    def close(self) -> None:
        """Give the window its title back."""
        if self._title:
            self._write(_RESTORE_TITLE)
        self._has_title = False
