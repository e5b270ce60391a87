"""A session as Markdown, readable as text and rendered."""

import re
from collections.abc import Iterator
from html import escape

from pinfold.export.transcript import (
    MARKS,
    CalledTool,
    ExportedItem,
    ExportedSession,
    Passage,
    WindowEnded,
    arguments,
    diff_of,
    edits,
    marks,
    outcome,
    parts,
    speaker,
    subject,
)
from pinfold.rollout.items import Item
from pinfold.sanitize import clean, clean_output, one_line
from pinfold.window.boundary_text import boundary_line
from pinfold.wire.images import described

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`{3,}")


def render(transcript: ExportedSession) -> str:
    return "\n\n".join(_blocks(transcript)) + "\n"


def _blocks(transcript: ExportedSession) -> Iterator[str]:
    title = one_line(transcript.title).replace("<", r"\<")
    yield f"# {title or 'A session'}"
    begun = transcript.started_at
    facts = {
        "Session": f"`{one_line(transcript.session)}`" if transcript.session else "",
        "Started": f"{begun:%Y-%m-%d %H:%M} UTC" if begun else "",
        "Model": one_line(transcript.model.name),
        "Folder": f"`{one_line(transcript.cwd)}`" if transcript.cwd else "",
        "Items": f"{len(transcript.entries):,}",
    }
    yield "\n".join(f"- {name}: {said}" for name, said in facts.items() if said)
    for part in parts(transcript):
        match part:
            case WindowEnded(boundary):
                yield f"---\n\n*{one_line(boundary_line(boundary))}*"
            case Passage(entry):
                yield _heading(entry, speaker(entry.item))
                yield _body(entry.item)
            case CalledTool(call, result):
                yield _heading(call, f"`{one_line(speaker(call.item))}`")
                yield _called(call, result)


def _heading(entry: ExportedItem, who: str) -> str:
    said = "".join(f" · {MARKS[mark]} {mark}" for mark in marks(entry))
    return f"### #{entry.item.n} {who}{said}"


def _body(item: Item) -> str:
    match item.kind:
        case "assistant":
            text = _closed(clean(item.content).strip("\n"))
        case "tool_result" | "compaction":
            text = _fenced(clean_output(item.content))
        case _:
            # A quote keeps the user's own headings and open fences to themselves.
            text = "\n".join(f"> {line}".rstrip() for line in clean(item.content).split("\n"))
    return "\n\n".join([text, *_images(item)])


def _called(call: ExportedItem, result: ExportedItem | None) -> str:
    said, _ = outcome(result)
    title = subject(call, result) or speaker(call.item)
    given = arguments(call.item.content)
    inner = [_fenced(clean(given.text), given.language)]
    if ran := edits(result):
        given = arguments(ran)
        inner += ["What ran, edited by the user:", _fenced(clean(given.text), given.language)]
    if diff := diff_of(result):
        inner.append(_fenced(clean(diff), "diff"))
    if result is not None:
        signs = "".join(f" · {MARKS[mark]} {mark}" for mark in marks(result))
        inner += [f"Result #{result.item.n}{signs}:", _fenced(clean_output(result.item.content))]
        inner += _images(result.item)
    summary = f"<summary>{escape(one_line(title))} ({escape(said)})</summary>"
    return "\n\n".join([f"<details>{summary}", *inner, "</details>"])


def _images(item: Item) -> list[str]:
    return [f"*[image: {one_line(described(image))}]*" for image in item.images]


def _fenced(text: str, language: str = "") -> str:
    """`text` as a code block that nothing in it can close."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _closed(text: str) -> str:
    """`text` with its last code block closed."""
    fence = ""
    for line in text.split("\n"):
        if (match := _FENCE.match(line)) is None:
            continue
        run, rest = match[1], match[2]
        if not fence:
            fence = run
        elif run[0] == fence[0] and len(run) >= len(fence) and not rest.strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text
