"""What an action on the window would free, and what it has freed, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.style import Style
from rich.text import Text
from textual.app import App

from pinfold.numbers import tokens
from pinfold.tui.colours import ink
from pinfold.window.actions import Act, Effect
from pinfold.window.pins import named


def effects_said(
    app: App[Any], keys: Mapping[Act, str], effects: Mapping[Act, Effect | str]
) -> tuple[Text, Text]:
    """Two lines: possible actions with their tokens; warnings, and why the rest is impossible."""
    dim = ink(app, "foreground 60%")
    strong = ink(app, "foreground") + Style(bold=True)
    can = Text()
    warnings: list[str] = []
    reasons: list[str] = []
    for act, effect in effects.items():
        if isinstance(effect, str):
            reasons.append(f"{keys[act]}: {effect}")
            continue
        can.append(" · " if can else "", dim)
        can.append(keys[act], strong + Style(underline=True)).append(f" {act} ")
        can.append(figure(effect), strong)
        warnings += [f"! {effect.warning} "] if effect.warning else []
        reasons += [f"{keys[act]} skips {'; '.join(effect.left)}"] if effect.left else []
    cannot = Text("".join(warnings), ink(app, "warning"))
    return can, cannot.append(" · ".join(reasons), dim)


def figure(effect: Effect) -> str:
    """`−12.4k`, `+950`; for pins the tokens that will be pinned: `→ 325 pinned`."""
    if effect.act in ("pin", "unpin"):
        return f"→ {tokens(effect.pinned)} pinned"
    return f"{'−' if effect.saved >= 0 else '+'}{tokens(abs(effect.saved))}"


def done(effect: Effect, names: str, undo: str, *, busy: bool) -> str:
    """What was done, and that the key `undo` undoes it: after the turn, if `busy`."""
    match effect.act:
        case "pin" | "unpin":
            verb = "Pinned" if effect.act == "pin" else "Unpinned"
            said = f"{verb} {names}: pins hold {tokens(effect.pinned)} tokens."
            if effect.back:
                said += f" {named(effect.back)} back in full, {_freed(effect)}."
        case "mask" | "fold":
            verb = "Masked" if effect.act == "mask" else "Folded"
            said = f"{verb} {names}: {_freed(effect)}."
        case "unfold":
            said = f"Unfolded {names}: {_freed(effect)}."
    back = f"{undo} undoes it once the turn has ended." if busy else f"{undo} undoes it."
    return " ".join((said, *_left_line(effect.left), back))


def _freed(effect: Effect) -> str:
    count = tokens(abs(effect.saved))
    return f"{count} tokens {'freed' if effect.saved >= 0 else 'more'}"


def _left_line(reasons: Sequence[str]) -> tuple[str, ...]:
    return (f"Unchanged: {'; '.join(reasons)}.",) if reasons else ()
