"""Markdown drawn as lines: tight, without boxes, and never wider than asked."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style

from pinfold.sanitize import clean, one_line, safe
from pinfold.tui.transcript.chunks import Chunk, Chunker
from pinfold.tui.transcript.code import code_block
from pinfold.tui.transcript.lines import BLANK, TranscriptLine, indent, wrap
from pinfold.tui.transcript.looks import Looks
from pinfold.tui.transcript.tables import table

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_BOLD = Style(bold=True)
_ITALIC = Style(italic=True)
_STRIKE = Style(strike=True)
_UNDERLINE = Style(underline=True)
_BULLETS = "•◦▪"


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Chunks are parsed alone, so that references could not be resolved; an underline of dashes
    # would turn each paragraph above a list, while it streams, into a heading.
    parser = MarkdownIt("commonmark", {"html": False})
    return parser.enable(["table", "strikethrough"]).disable(["lheading", "reference"])


def warm() -> None:
    """Make the parser ready."""
    _parser()


def draw(chunk: Chunk, width: int, looks: Looks) -> list[TranscriptLine]:
    """The lines of one chunk, with the empty row above it where there is one."""
    if chunk.kind == "code":
        lines = code_block(chunk.text, chunk.language, width, looks)
    else:
        lines = _blocks(_parser().parse(clean(chunk.text)), width, looks, 0)
    return [BLANK, *lines] if chunk.gap and lines else lines


def markdown(text: str, width: int, looks: Looks) -> list[TranscriptLine]:
    """The lines of a whole text."""
    chunker = Chunker()
    chunks = chunker.feed(text) + chunker.close()
    return [line for chunk in chunks for line in draw(chunk, width, looks)]


def _close(tokens: "Sequence[Token]", start: int) -> int:
    """Where the block that opens at `start` ends."""
    depth = 0
    for i in range(start, len(tokens)):
        depth += tokens[i].nesting
        if depth == 0:
            return i
    return len(tokens) - 1


def _blocks(
    tokens: "Sequence[Token]", width: int, looks: Looks, depth: int
) -> list[TranscriptLine]:
    out: list[TranscriptLine] = []
    width = max(8, width)
    start = 0
    before = ""
    while start < len(tokens):
        token = tokens[start]
        end = _close(tokens, start)
        inner = tokens[start + 1 : end]
        start = end + 1
        match token.type:
            case "paragraph_open":
                lines = _paragraph(inner[0], width, looks, looks.plain)
            case "heading_open":
                style = looks.heading + (_UNDERLINE if token.tag == "h1" else Style())
                lines = _paragraph(inner[0], width, looks, style)
            case "bullet_list_open" | "ordered_list_open":
                lines = _list(token, inner, width, looks, depth)
            case "blockquote_open":
                quoted = _blocks(inner, width - 2, looks, depth)
                lines = indent(quoted, [Segment("│ ", looks.rule)])
            case "fence" | "code_block":
                language = token.info.strip().split(" ")[0].lower()
                lines = code_block(token.content.rstrip("\n"), language, width, looks)
            case "hr":
                lines = [TranscriptLine([Segment("─" * min(width, 40), looks.rule)])]
            case "table_open":
                rows = [
                    [
                        _inline(cell, looks, looks.plain)[0]
                        for cell in inner[i : _close(inner, i)]
                        if cell.type == "inline"
                    ]
                    for i, row in enumerate(inner)
                    if row.type == "tr_open"
                ]
                aligns = [_align(cell) for cell in inner if cell.type == "th_open"]
                lines = table(rows, aligns, width, looks)
            case _:
                continue
        nested = depth > 0 and token.type.endswith("list_open")
        below = before == "heading_open" and token.type != "heading_open"
        if out and lines and not nested and not below:
            out.append(BLANK)
        out, before = out + lines, token.type
    return out


def _align(cell: "Token") -> str:
    return str(cell.attrGet("style") or "").removeprefix("text-align:")


def _list(
    token: "Token", inner: "Sequence[Token]", width: int, looks: Looks, depth: int
) -> list[TranscriptLine]:
    out: list[TranscriptLine] = []
    start = 0
    ordered = token.type == "ordered_list_open"
    while start < len(inner):
        end = _close(inner, start)
        mark = f"{inner[start].info}. " if ordered else f"{_BULLETS[min(depth, 2)]} "
        lines = _blocks(inner[start + 1 : end], width - len(mark), looks, depth + 1) or [BLANK]
        out += indent(lines, [Segment(mark, looks.bar)], [Segment(" " * len(mark))])
        start = end + 1
    return out


def _paragraph(inline: "Token", width: int, looks: Looks, style: Style) -> list[TranscriptLine]:
    return [line for row in _inline(inline, looks, style) for line in wrap(row, width)]


def _inline(inline: "Token", looks: Looks, style: Style) -> list[list[Segment]]:
    """The segments of an inline token, one list for each line that the author broke."""
    rows: list[list[Segment]] = [[]]
    styles = [style]
    for token in inline.children or ():
        match token.type:
            case "text":
                if token.content:  # an entity may stand for anything
                    rows[-1].append(Segment(safe(token.content), styles[-1]))
            case "code_inline":
                rows[-1].append(Segment(token.content, styles[-1] + looks.code))
            case "softbreak" | "hardbreak":
                rows.append([])
            case "strong_open":
                styles.append(styles[-1] + _BOLD)
            case "em_open":
                styles.append(styles[-1] + _ITALIC)
            case "s_open":
                styles.append(styles[-1] + _STRIKE)
            case "link_open":
                target = str(token.attrGet("href") or "")
                link = Style(link=target) if target.startswith(("http://", "https://")) else Style()
                styles.append(styles[-1] + looks.link + link)
                shown, opened = one_line(target), sum(len(segment.text) for segment in rows[-1])
            case "link_close":
                styles.pop()
                text = "".join(segment.text for segment in rows[-1])[opened:]
                if shown not in (text, f"mailto:{text}"):
                    rows[-1].append(Segment(f" ({shown})", looks.dim))
            case "strong_close" | "em_close" | "s_close":
                styles.pop()
            case "image":
                target = one_line(str(token.attrGet("src") or ""))
                rows[-1].append(
                    Segment(f"{safe(token.content)} ({target})", styles[-1] + looks.link)
                )
            case _:
                rows[-1].append(Segment(token.content, styles[-1]))
    return rows
