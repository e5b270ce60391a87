"""Skills and commands as text, for the panels, `/skills list` and `pinfold skills`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pinfold.numbers import tokens
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.skills.extension import Extension, Kind, State

NONE: dict[Kind, str] = {
    "skill": "There are no skills. docs/skills.md says where to put them.",
    "command": "There are no custom commands. docs/skills.md says where to put them.",
}
SIGNS: dict[State, str] = {"ready": "●", "untrusted": "?", "new": "?", "changed": "!"}
HIDDEN = "○"
SAID: dict[State, str] = {
    "ready": "",
    "untrusted": "waits: this folder is not trusted",
    "new": "waits: you have not accepted it",
    "changed": "waits: it has changed since you accepted it",
}
SOURCES = {"user": "yours", "project": "project", "prompts": "Codex"}


def sign(one: Extension) -> str:
    return HIDDEN if one.hidden_by and one.state == "ready" else SIGNS[one.state]


def called(one: Extension) -> str:
    """How it is typed, without the slash."""
    plain = not one.hidden_by or one.source == "prompts"
    return one.name if plain else f"{one.source}:{one.name}"


def standing(one: Extension) -> list[str]:
    """Short notes: its state, who may start it, what has no effect."""
    found = [
        SAID[one.state],
        f"hidden by {one.hidden_by}" if one.hidden_by else "",
        f"only you can start it: /{called(one)}" if one.manual else "",
        f"asks for the model {one.model}" if one.model else "",
        f"allowed-tools has no effect: {', '.join(one.tools)}" if one.tools else "",
    ]
    return [*filter(None, found), *(note.rstrip(".") for note in one.notes)]


def lines(found: Iterable[Extension], count: Callable[[str], int]) -> list[str]:
    """A line for each."""
    shown = list(found)
    width = max((len(called(one)) for one in shown), default=0)
    return [
        f"{sign(one)} {called(one):<{width}}  {SOURCES[one.source]:<7}  "
        f"{tokens(count(one.body)):>5} tokens  "
        + " · ".join([one.description[:100], *standing(one), one.shown])
        for one in shown
    ]


def page(one: Extension) -> str:
    """Its description, notes and text; safe to show."""
    beside = f"other files: {', '.join(map(one_line, one.files))}" if one.files else ""
    head = [one.description, one.shown, *standing(one), beside]
    return "\n".join([*filter(None, head), "", one.body])
