"""The formats of an export, and the names of its files."""

import re
import unicodedata
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, get_args

from pinfold.numbers import ID_SHOWN

if TYPE_CHECKING:
    from pinfold.export.transcript import ExportedSession

Format = Literal["md", "html", "messages", "codex", "jsonl"]
Scope = Literal["window", "all"]
"""What the model sees, or every item of the session."""

FORMATS: tuple[Format, ...] = get_args(Format)
_BY_ENDING: dict[str, Format] = {
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
    ".json": "messages",
    ".jsonl": "jsonl",
}
ENDINGS: dict[Format, str] = {
    "md": ".md",
    "html": ".html",
    "messages": ".json",
    "codex": ".jsonl",
    "jsonl": ".jsonl",
}
_SLUG = 40


def format_of(path: PurePath) -> Format | None:
    return _BY_ENDING.get(path.suffix.lower())


def scope_of(name: Format) -> Scope:
    """The default scope of a format."""
    return "window" if name == "messages" else "all"


def file_name(name: Format, transcript: "ExportedSession") -> str:
    """The default name of a session's file."""
    if name == "codex":
        from pinfold.export.codex import file_name as rollout

        return rollout(transcript)  # Codex lists no file of another name
    short = re.sub(r"[^\w-]", "", transcript.session)[:ID_SHOWN]
    stem = "-".join(part for part in (_slug(transcript.title) or "session", short) if part)
    return f"{stem}{ENDINGS[name]}"


def renderer(
    name: Literal["md", "html", "messages", "codex"],
) -> Callable[["ExportedSession"], str]:
    """The function that makes a format's text."""
    match name:
        case "md":
            from pinfold.export import markdown

            return markdown.render
        case "html":
            from pinfold.export import html

            return html.render
        case "messages":
            from pinfold.export import messages

            return messages.render
        case "codex":
            from pinfold.export import codex

            return codex.render


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    slug = "-".join(words)
    if len(slug) <= _SLUG:
        return slug
    return slug[: _SLUG + 1].rpartition("-")[0] or slug[:_SLUG]
