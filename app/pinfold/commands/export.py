"""`/export`, and what `pinfold export` shares with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pinfold.commands.action import Action
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context
from pinfold.sanitize import escaped, safe

# Imported with the first export, not before the first paint.
if TYPE_CHECKING:
    from pinfold.agent.session import Session
    from pinfold.export.formats import Format, Scope
    from pinfold.export.transcript import ExportedItem, ExportedSession
    from pinfold.rollout.items import Item

_CODEX = "Codex finds it under ~/.codex/sessions/YYYY/MM/DD."

SHARED = (
    Argument("--window", "only what the model sees", kind="flag", apart="scope"),
    Argument("--all", "every item", kind="flag", apart="scope"),
    Argument("--no-redact", "do not remove secrets", kind="off", into="redact"),
)
"""What `/export` and `pinfold export` take."""


class Wish(NamedTuple):
    """What to export, and where to."""

    format: Format
    path: Path | None = None
    """None: a default name in the working directory."""
    scope: Scope | None = None
    redact: bool = True


class Document(NamedTuple):
    """An export before it is written."""

    content: bytes
    name: str
    """The default name of its file."""
    secrets: int | None
    """How many were replaced; None if they were left in."""


def wish(
    name: str | None, path: Path | None, scope: Scope | None = None, *, redact: bool = True
) -> Wish:
    """What was asked for. Raises `CommandError`."""
    from pinfold.export.formats import FORMATS, format_of

    if name is not None and name not in FORMATS:
        raise CommandError(f"There is no format “{name}”. Formats: {', '.join(FORMATS)}.")
    known = next((form for form in FORMATS if form == name), None)
    told = known or (format_of(path) if path is not None else "md")
    if told is None:
        raise CommandError(f"{path} has no known extension. Name a format: {', '.join(FORMATS)}.")
    if told == "jsonl" and scope == "window":
        raise CommandError("pinfold's own rollout is always whole: choose another format.")
    return Wish(told, path, scope, redact)


def document(asked: Wish, transcript: ExportedSession, lines: Iterable[bytes] = ()) -> Document:
    """The document; `lines` are the raw rollout, which `jsonl` copies. Blocking."""
    from pinfold.export.formats import file_name, renderer, scope_of
    from pinfold.export.transcript import window_alone

    secrets = 0 if asked.redact else None
    if asked.redact:
        from pinfold.export.redact import redacted, redacted_lines
    if (asked.scope or scope_of(asked.format)) == "window":
        transcript = window_alone(transcript)
    if asked.redact:
        transcript, secrets = redacted(transcript)
    if asked.format == "jsonl":
        if asked.redact:
            lines, secrets = redacted_lines(lines)
        text = "".join(f"{line.decode('utf-8', 'replace')}\n" for line in lines)
    else:
        text = renderer(asked.format)(transcript)
    harmless = safe if asked.format in ("md", "html") else escaped
    return Document(harmless(text).encode(), file_name(asked.format, transcript), secrets)


def save(document: Document, asked: Wish, cwd: Path) -> str:
    """Write the document; returns a sentence on where, and on secrets. Raises `CommandError`."""
    from pinfold.atomic_files import failure, write_atomic

    path = cwd / (asked.path.expanduser() if asked.path else document.name)
    if path.is_dir():
        path /= document.name
    if path.exists():
        raise CommandError(f"{path} exists already. Name another file.")
    try:
        write_atomic(path, document.content)
    except OSError as error:
        raise CommandError(failure(path, error)) from error
    hint = f" {_CODEX}" if asked.format == "codex" else ""
    return f"Exported to {path}: {replaced(document.secrets)}.{hint}"


def replaced(secrets: int | None) -> str:
    """What was done about secrets."""
    match secrets:
        case None:
            return "secrets were not removed"
        case 0:
            return "no secrets found"
        case 1:
            return "1 secret replaced"
        case _:
            return f"{secrets:,} secrets replaced"


def opening(items: Iterable[Item]) -> str:
    """The first prompt."""
    return next((item.content for item in items if item.kind == "user"), "")


# In the shell


async def export(context: Context, words: Sequence[str], *, redact: bool, **only: bool) -> None:
    from pinfold.export.transcript import ExportedSession

    session = context.session
    asked = _wish(words, redact=redact, **only)
    items, window = session.items, session.window
    sent, boundaries = window.items, tuple(window.boundaries)

    def read() -> Document:
        transcript = ExportedSession(
            opening=opening(items),
            session=session.id,
            cwd=str(session.cwd),
            model=session.model,
            context=window.context,
            entries=[_entry(session, item) for item in items],
            window=sent,
            boundaries=boundaries,
        )
        return document(asked, transcript, _lines(session) if asked.format == "jsonl" else ())

    made = await asyncio.to_thread(read)
    context.tell(await asyncio.to_thread(save, made, asked, session.cwd))


def _wish(words: Sequence[str], *, redact: bool, **only: bool) -> Wish:
    from pinfold.export.formats import FORMATS

    match words:
        case []:
            name, path = None, None
        case [word] if word in FORMATS:
            name, path = word, None
        case [word]:
            name, path = None, Path(word)
        case [name, word]:
            path = Path(word)
        case _:
            raise CommandError("/export takes a format and a path; quote a path with spaces.")
    return wish(name, path, scope_named(**only), redact=redact)


def scope_named(*, window: bool, all: bool) -> Scope | None:  # noqa: A002
    return "window" if window else "all" if all else None


def _entry(session: Session, item: Item) -> ExportedItem:
    from pinfold.export.transcript import ExportedItem

    window, n = session.window, item.n
    return ExportedItem(item, window.at(n), window.form(n), window.pin_on(n) is not None)


def _lines(session: Session) -> list[bytes]:
    from datetime import UTC, datetime
    from functools import partial

    from pinfold.rollout.journal import Journal

    with Journal.open(session.folder, partial(datetime.now, UTC), read_only=True) as journal:
        return list(journal.whole_lines())


def _choices(_: Context) -> Sequence[str]:
    from pinfold.export.formats import FORMATS

    return FORMATS


ACTIONS = (
    Action(
        "export",
        "Export the session: Markdown, HTML, messages, Codex",
        "session",
        ("export",),
        (Argument("words", "", "FORMAT PATH", kind="words", offers=_choices), *SHARED),
        run=export,
    ),
)
