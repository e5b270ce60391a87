"""A session as one HTML page that asks nothing of the network."""

import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from pinfold.export import rich_text
from pinfold.export.document import document
from pinfold.export.transcript import (
    MARKS,
    Called,
    Ended,
    Entry,
    Said,
    Transcript,
    arguments,
    diff_of,
    marks,
    outcome,
    parts,
    speaker,
)
from pinfold.rollout.items import Image, Item
from pinfold.sanitize import clean, clean_output, one_line
from pinfold.window.boundary_text import told
from pinfold.window.titles import title_of
from pinfold.wire.images import data_url, described

_BODY = """\
<header>
<h1>{title}</h1>
<p class="facts">{facts}</p>
<p class="tools"><button id="theme" type="button">Dark</button>\
<button id="all" type="button">Open all</button></p>
</header>
<main>
{blocks}
</main>
<footer>Exported by pinfold</footer>"""
_OPEN = frozenset({"user", "assistant"})
_WORDS = 200
"""Characters of a closed item's text."""
_PICTURE = re.compile(r"image/(?:png|jpeg|gif|webp)")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def render(transcript: Transcript) -> str:
    """The whole page."""
    title = _line(transcript.title) or "A session"
    body = _BODY.format(
        title=title,
        facts="".join(f"<span>{fact}</span>" for fact in _facts(transcript)),
        blocks="\n".join(_blocks(transcript)),
    )
    return document(title, body, style=_file("page.css"), script=_file("page.js"), images=True)


def _file(name: str) -> str:
    return (files("pinfold.export") / name).read_text("utf-8")


def _line(text: str) -> str:
    return escape(one_line(text))


def _facts(transcript: Transcript) -> Iterator[str]:
    if begun := transcript.started_at:
        yield f"{begun:%Y-%m-%d %H:%M} UTC"
    if transcript.model.name:
        yield _line(transcript.model.name)
    if transcript.cwd:
        yield f"<code>{_line(transcript.cwd)}</code>"
    count = len(transcript.entries)
    yield f"{count:,} item{'s' if count != 1 else ''}"
    if transcript.session:
        yield f"session <code>{_line(transcript.session)}</code>"


def _blocks(transcript: Transcript) -> Iterator[str]:
    for part in parts(transcript):
        match part:
            case Ended(boundary):
                yield f'<div class="boundary" role="separator">{_line(told(boundary))}</div>'
            case Called(call, result):
                yield _called(call, result)
            case Said(entry) if entry.item.kind in _OPEN:
                yield _message(entry)
            case Said(entry):
                yield _aside(entry)


def _message(entry: Entry) -> str:
    """What the user and the model said to each other."""
    item = entry.item
    if item.kind == "assistant":
        text = rich_text.markdown(clean(item.content))
    else:
        text = _plain(item.content)
    head = f"{_number(item.n)}<span>{_line(speaker(item))}</span>{_marks(entry)}{_time(entry)}"
    inner = f'<h2>{head}</h2><div class="body">{text}{_images(item)}</div>'
    return _article(entry, inner)


def _aside(entry: Entry) -> str:
    """What else the model sees, closed at first."""
    item = entry.item
    match item.kind:
        case "reasoning":
            inner = rich_text.markdown(clean(item.content))
        case "compaction":
            inner = "<p>Unreadable: the provider keeps it encrypted.</p>"
        case "tool_result":
            inner = rich_text.code(clean_output(item.content))
        case _:
            inner = _plain(item.content)
    words = _line(item.content[:_WORDS])
    head = f'<span class="who">{_line(speaker(item))}</span><span class="title">{words}</span>'
    return _article(entry, _details(entry, head, inner + _images(item)))


def _called(call: Entry, result: Entry | None) -> str:
    given = arguments(call.item)
    inner = [rich_text.code(clean(given.text), given.language)]
    if diff := diff_of(result):
        inner.append(rich_text.code(clean(diff), "diff"))
    if result is not None:
        n = result.item.n
        inner += [
            f'<p class="label" id="{n}">{_number(n)}<span>Result</span>{_marks(result)}</p>',
            rich_text.code(clean_output(result.item.content)),
            _images(result.item),
        ]
    said, well = outcome(result)
    head = (
        f"<strong>{_line(speaker(call.item))}</strong>"
        f'<span class="title">{_line(title_of(call.item.content))}</span>'
        f'<span class="outcome{"" if well else " bad"}">{_line(said)}</span>'
    )
    results = () if result is None else (result,)
    return _article(call, _details(call, head, "".join(inner), *results))


def _article(entry: Entry, inner: str) -> str:
    unseen = " unseen" if entry.form in (None, "placeholder") else ""
    return f'<article id="{entry.item.n}" class="{entry.item.kind}{unseen}">{inner}</article>'


def _details(entry: Entry, head: str, inner: str, *others: Entry) -> str:
    summary = f"{_number(entry.item.n)}{head}{_marks(entry, *others)}{_time(entry)}"
    return f'<details><summary>{summary}</summary><div class="body">{inner}</div></details>'


def _number(n: int) -> str:
    return f'<a class="n" href="#{n}">#{n}</a>'


def _time(entry: Entry) -> str:
    return f'<time datetime="{entry.at.isoformat()}">{entry.at:%H:%M}</time>'


def _marks(*entries: Entry) -> str:
    found = dict.fromkeys(mark for entry in entries for mark in marks(entry))
    return "".join(f'<span class="mark {mark}">{MARKS[mark]} {mark}</span>' for mark in found)


def _plain(text: str) -> str:
    return f'<div class="plain">{escape(clean(text))}</div>'


def _images(item: Item) -> str:
    return "".join(f"<figure>{_image(image)}</figure>" for image in item.images)


def _image(image: Image) -> str:
    if _PICTURE.fullmatch(image.media_type) and _BASE64.fullmatch(image.data):
        return f'<img src="{data_url(image)}" alt="{_line(described(image))}">'
    return f"<figcaption>[image: {_line(described(image))}]</figcaption>"
