"""Markdown and code from models as HTML. No markup of theirs gets through."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_LONGEST = 100_000
"""Longer code is not coloured. In characters."""


def markdown(text: str) -> str:
    """Markdown as HTML, without raw HTML and pictures; only links to the web and mail."""
    return str(_parser().render(text))


def code(text: str, language: str = "") -> str:
    """A block of code, coloured if the language is known."""
    inner = _coloured(text, language) or escape(text)
    return f'<pre class="code"><code>{inner}</code></pre>'


def _coloured(text: str, language: str) -> str | None:
    if not language or len(text) > _LONGEST:
        return None
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return str(highlight(text, lexer, _formatter()))


@cache
def _formatter() -> HtmlFormatter[str]:
    return HtmlFormatter(nowrap=True)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": False})
    parser.enable(["table", "strikethrough"])
    parser.disable("image")  # it would be fetched when the page is opened
    parser.validateLink = lambda url: _LINK.match(url) is not None  # type: ignore[method-assign]
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("link_open", _link)
    return parser


def _fence(
    _: RendererHTML, tokens: Sequence[Token], at: int, __: Mapping[str, Any], ___: Mapping[str, Any]
) -> str:
    language = tokens[at].info.split()
    return code(tokens[at].content.rstrip("\n"), language[0] if language else "")


def _link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    at: int,
    options: Any,
    env: Any,
) -> str:
    tokens[at].attrSet("rel", "noreferrer noopener")
    return renderer.renderToken(tokens, at, options, env)
