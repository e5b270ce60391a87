"""What is in an empty transcript."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pinfold.numbers import tokens
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.agent.session import Session

WORDMARK = "pinfold"
CLAIM = "An agent shell whose context window you can see, steer and undo."
SMALL = (
    "This is the small model that ships with pinfold: it needs no account and no network, knows "
    "little, and has no tools. For coding, set OPENAI_API_KEY or start a local server such as "
    "Ollama, then start pinfold again."
)
TO_TRY = (
    ("ask", "what does this project do, and how is it tested?"),
    ("@file", "adds a file of this folder to your prompt"),
    ("!command", "runs it in your shell; the model sees its output"),
)
TO_TRY_SMALL = (
    ("ask", "write a haiku about version control"),
    ("!command", "runs it in your shell; the model sees its output"),
    ("/doctor", "shows what was found here and what is missing"),
)


def waiting() -> RenderableType:
    """Before there is a session."""
    return _page([Text("Looking for a model …", style="dim")])


def failed(reason: str) -> RenderableType:
    """No session could be opened."""
    return _page(
        [
            Text.assemble(("No session: ", "bold"), one_line(reason)),
            Text("/new tries again, /doctor shows what is missing, Ctrl+D quits.", style="dim"),
        ]
    )


def welcome(session: Session, warnings: Sequence[str] = (), offer: str = "") -> RenderableType:
    """What was chosen and why, how to begin, what is wrong with the settings, and what else there
    is."""
    model = session.model
    chosen = Text.assemble(
        (one_line(model.name), "bold"),
        f" · {tokens(model.context_window)} tokens of context"
        + (f" ({model.doubtful_window})" if model.doubtful_window else ""),
    )
    facts = _table([("model", chosen), ("why", Text(one_line(session.choice_note)))])
    parts: list[RenderableType] = [facts]
    if warnings:
        parts += [Text(), *(Text(f"! {one_line(warning)}", "bold") for warning in warnings)]
    if offer:
        parts += [Text(), Text(offer)]
    if not model.tools:
        parts += [Text(), Text(SMALL)]
    tries = TO_TRY if model.tools else TO_TRY_SMALL
    parts += [Text(), _table([(name, Text(what)) for name, what in tries])]
    parts += [Text(), Text("F1 or /help shows every key and command.", style="dim")]
    return _page(parts)


def _page(parts: list[RenderableType]) -> RenderableType:
    head = [Text(WORDMARK, style="bold"), Text(CLAIM), Text()]
    return Padding(Group(*head, *parts), (1, 4))


def _table(rows: list[tuple[str, Text]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=8)
    table.add_column()
    for name, text in rows:
        table.add_row(name, text)
    return table
