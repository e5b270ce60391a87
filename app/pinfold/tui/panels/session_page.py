"""The preview of a session beside the list of all."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from pinfold import paths
from pinfold.catalog.catalog import LastExchange
from pinfold.catalog.searching import MATCH, MATCH_END
from pinfold.commands.context_text import age
from pinfold.numbers import tokens
from pinfold.sanitize import clean, one_line

if TYPE_CHECKING:
    from pinfold.rollout.summaries import SessionSummary

_PROMPT = 400
_REPLY = 1_600
"""Characters that are shown."""


def page(session: SessionSummary, said: LastExchange, piece: str, now: datetime) -> RenderableType:
    """Its figures, what was found in it, and its last exchange."""
    used = f"{session.updated_at.astimezone():%Y-%m-%d %H:%M}, {age(session.updated_at, now)} ago"
    turns = f"{session.turns} turn{'s' if session.turns != 1 else ''}"
    parts: list[RenderableType] = [
        Text(one_line(session.title), "bold"),
        Text(used.replace("now ago", "just now"), "dim"),
        Text(f"{turns} · {tokens(session.tokens)} tokens · {one_line(session.model)}", "dim"),
        Text(one_line(paths.shown(Path(session.cwd))), "dim"),
        Text(session.id, "dim"),
    ]
    if session.note:
        parts.append(Text(f"! {one_line(session.note)}", "bold"))
    if piece:
        parts += [Text(), Text("Found", "dim"), marked(piece)]
    if said.prompt:
        parts += [Text(), Text("Last prompt", "dim"), Text(clean(said.prompt.strip()[:_PROMPT]))]
    if said.reply:
        parts += [Text(), Text("Last reply", "dim"), Text(clean(said.reply.strip()[:_REPLY]))]
    return Group(*parts)


def unmarked(piece: str) -> str:
    """The same without the marks."""
    return one_line(piece.replace(MATCH, "").replace(MATCH_END, ""))


def marked(piece: str) -> Text:
    """A piece of text with its matches underlined."""
    shown = Text()
    for part in piece.split(MATCH):
        match, end, rest = part.partition(MATCH_END)
        shown.append(clean(match), "bold underline" if end else "")
        shown.append(clean(rest))
    return shown
