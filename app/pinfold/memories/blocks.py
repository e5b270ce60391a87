"""Markdown as blocks: headings, statements with the code below them, and space."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

UNCONFIRMED = "## Unconfirmed"
"""No record confirms the lines below it, and no session is given them."""

_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_BULLET = re.compile(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_SAYS = re.compile(r"\w")
_UNCONFIRMED = re.compile(r"\s*#{1,6}\s+unconfirmed\b", re.IGNORECASE)

BlockKind = Literal["front", "heading", "statement", "space"]


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    kind: BlockKind
    text: str
    """Its lines, without the last line end."""


BLANK = MarkdownBlock("space", "")


def blocks(text: str) -> list[MarkdownBlock]:
    """The blocks of a text. Joined by line ends they are the text again, without unclosed
    fences."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found: list[MarkdownBlock] = []
    at = 0
    if lines[0].strip() == "---" and (end := _closing(lines, "---", 1)) < len(lines):
        found.append(MarkdownBlock("front", "\n".join(lines[: end + 1])))
        at = end + 1
    while at < len(lines):
        line, end = lines[at], at + 1
        fence = _FENCE.match(line)
        if fence and (closed := _closing(lines, fence[1], end)) < len(lines):
            end = closed + 1
            code = "\n".join(lines[at:end])
            if not _append(found, code):
                found.append(MarkdownBlock("statement", code))
            at = end
            continue
        if fence:
            line = line[fence.end() :].lstrip("`~ ")
        if _HEADING.match(line):
            found.append(MarkdownBlock("heading", line))
        elif not _SAYS.search(line):
            found.append(MarkdownBlock("space", line))
        elif _BULLET.match(line) or not found or found[-1].kind != "statement":
            found.append(MarkdownBlock("statement", line))
        else:
            found[-1] = MarkdownBlock("statement", f"{found[-1].text}\n{line}")
        at = end
    return found


def _append(found: list[MarkdownBlock], code: str) -> bool:
    """Add code to the statement above it; blank lines may be between. False if there is none."""
    spaces = 0
    for block in reversed(found):
        if block.kind != "space" or block.text.strip():
            break
        spaces += 1
    above = found[: len(found) - spaces]
    if not above or above[-1].kind != "statement":
        return False
    between = [block.text for block in found[len(above) :]]
    found[len(above) - 1 :] = [
        MarkdownBlock("statement", "\n".join([above[-1].text, *between, code]))
    ]
    return True


def _closing(lines: Sequence[str], fence: str, start: int) -> int:
    """The line that closes a fence; the number of lines if none does."""
    for at in range(start, len(lines)):
        bare = lines[at].strip()
        if bare.startswith(fence) and not bare.strip(fence[0]):
            return at
    return len(lines)


def parted(every: Sequence[MarkdownBlock]) -> tuple[list[MarkdownBlock], list[MarkdownBlock]]:
    """The blocks above the heading `Unconfirmed`, and the statements below it."""
    for at, block in enumerate(every):
        if block.kind == "heading" and _UNCONFIRMED.match(block.text):
            return list(every[:at]), [
                statement for statement in every[at:] if statement.kind == "statement"
            ]
    return list(every), []


def joined(above: Iterable[MarkdownBlock], unconfirmed: Iterable[MarkdownBlock] = ()) -> str:
    """The text of blocks, with unconfirmed ones at the end."""
    every = [*above]
    if below := list(dict.fromkeys(block.text for block in unconfirmed)):
        every += [BLANK, MarkdownBlock("heading", UNCONFIRMED), BLANK]
        every += [MarkdownBlock("statement", line) for line in below]
    lines: list[str] = []
    for block in every:
        if block.text.strip() or (lines and lines[-1]):
            lines.append(block.text if block.text.strip() else "")
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)
