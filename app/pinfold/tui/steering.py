"""The commands that the transcript's keys for the window run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold.tui.transcript.reader import Key

if TYPE_CHECKING:
    from pinfold.agent.steering.steering import Steering


def command_of(key: Key, n: int, window: Steering) -> tuple[str, str]:
    """The command that `key` gives on item `n`, and its argument."""
    match key:
        case "pin":
            pin = window.pin_on(n)
            return ("pin", str(n)) if pin is None else ("unpin", str(pin))
        case "mask":
            forms = {window.form(number) for number in (n, window.partner(n)) if number is not None}
            return ("unfold" if "masked" in forms else "mask"), str(n)
        case "fold":
            return ("unfold" if window.form(n) == "placeholder" else "fold"), str(n)
