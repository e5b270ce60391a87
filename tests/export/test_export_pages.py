"""A session to read: Markdown and HTML. What models and tools wrote stays data."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion

from fakes.exports import WRITER, small, transcript
from fakes.golden import Golden
from fakes.histories import histories
from fakes.pages import Page
from pinfold.export import html, markdown
from pinfold.export.transcript import window_alone
from pinfold.rollout.events import Data, ItemAdded
from pinfold.rollout.items import Image, Item, Origin
from pinfold.sanitize import is_safe


class Pages(Golden):
    _file_extension = "html"


class Texts(Pages):
    _file_extension = "md"


def said(text: str) -> str:
    """A page with one reply."""
    return html.render(transcript([ItemAdded(item=Item(n=1, kind="assistant", content=text))]))


def test_the_page(snapshot: SnapshotAssertion) -> None:
    """Every kind of item once, with its marks, and the boundary between two windows."""
    text = html.render(transcript(small(), WRITER))
    style = re.compile(r"<(style|script)>.*?</\1>", re.DOTALL)
    policy = re.compile(r"'sha256-[^']+'")
    bare = policy.sub("'sha256-…'", style.sub(r"<\1></\1>", text))
    assert bare.encode() == snapshot.use_extension(Pages)


def test_the_text(snapshot: SnapshotAssertion) -> None:
    """The same as Markdown."""
    text = markdown.render(transcript(small(), WRITER))
    assert text.encode() == snapshot.use_extension(Texts)


def test_a_call_is_titled_by_its_arguments_else_as_its_tool_says() -> None:
    def shown(arguments: str, **more: str) -> tuple[str, str]:
        call = Item(n=1, kind="tool_call", name="weigh", call_id="c", content=arguments)
        detail = {"title": "weigh the <anchor>", **more}
        result = Item(n=2, kind="tool_result", call_id="c", content="3 t", detail=detail)
        made = transcript([ItemAdded(item=call), ItemAdded(item=result)])
        return html.render(made), markdown.render(made)

    page, text = shown('{"path": "a.py"}')
    assert 'class="title">a.py<' in page
    assert "<summary>a.py (ok)</summary>" in text
    page, text = shown('{"thing": "anchor"}')
    assert 'class="title">weigh the &lt;anchor&gt;<' in page
    assert "<summary>weigh the &lt;anchor&gt; (ok)</summary>" in text
    page, text = shown('{"command": "make all"}', edited='{"command": "make test"}')
    assert 'class="title">$ make test · edited by the user<' in page
    assert "<summary>$ make test · edited by the user (ok)</summary>" in text
    assert "What ran, edited by the user:\n\n```bash\nmake test\n```" in text
    assert "make all" in text
    assert "What ran, edited by the user" in page


def test_the_window_alone_holds_placeholders_and_no_boundary() -> None:
    shown = window_alone(transcript(small()))
    text = html.render(shown)
    assert "1 masked" not in text
    assert ": 3 lines; recall {" in text
    assert "boundary" not in Page(text).tags
    assert "#2 Thinking" not in markdown.render(shown)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](file:///etc)",
        "![a](https://example.com/x.png) ![b](data:image/png;base64,aGk=)",
        "<https://example.com/a.css> [x]: https://example.com\n\n[x]",
        '```"><script>\nx\n```',
        "# <b onclick=x>\n\n| <i> |\n|---|\n| <svg onload=x> |",
    ],
)
def test_markup_of_models_is_data(text: str) -> None:
    found = Page(said(text))
    assert found.tags.count("script") == 1
    assert not {"img", "link", "iframe", "svg", "object"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert all(re.match(r"#|https?://|mailto:", link) for link in found.values("href"))


def test_text_of_any_origin_is_cleaned_and_escaped() -> None:
    bad = '</pre></div></details><script>alert("x")</script>"><img src=x>\x1b[31m\u202e'
    result = {"call_id": "c", "response": 1, "detail": {"title": bad}}
    items = [
        Item(n=1, kind="user", content=bad, images=(Image(media_type=bad, data=bad),)),
        Item(n=2, kind="assistant", content=bad, origin=Origin(model=bad), response=1),
        Item(n=3, kind="tool_call", name=bad, call_id="c", content=bad, response=1),
        Item(n=4, kind="tool_result", name=bad, content=bad, **result),
        Item(n=5, kind="summary", content=bad),
        Item(n=6, kind="context", content=bad),
    ]
    shown = transcript([ItemAdded(item=item) for item in items])
    text = html.render(replace(shown, cwd=bad, session=bad, opening=bad))
    found = Page(text)
    assert found.tags.count("script") == 1
    assert "img" not in found.tags
    assert is_safe(text)


def test_nothing_is_fetched() -> None:
    text = html.render(transcript(small()))
    found = Page(text)
    assert all(
        (value or "").startswith("data:") for name, value in found.attributes if name == "src"
    )
    assert not {"link", "iframe", "object", "embed"} & set(found.tags)
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in text


def test_code_blocks_of_tools_can_not_be_left() -> None:
    text = markdown.render(transcript(small()))
    assert "````\n1: read()\n```\nx\n````" in text


def test_an_open_block_of_a_reply_ends_with_the_reply() -> None:
    items = [
        Item(n=1, kind="assistant", content="see:\n~~~~ py\n~~~\nx", response=1),
        Item(n=2, kind="user", content="go on"),
    ]
    text = markdown.render(transcript([ItemAdded(item=item) for item in items]))
    tokens = [token for token in MarkdownIt().parse(text) if token.type != "heading_open"]
    headings = [token for token, after in pairwise(tokens) if after.type == "heading_close"]
    assert headings[-1].content == "#2 User"


@settings(deadline=None, max_examples=30)
@given(histories(), st.booleans())
def test_any_history_makes_a_sound_page(data: list[Data], alone: bool) -> None:
    shown = transcript(data)
    shown = window_alone(shown) if alone else shown
    found = Page(html.render(shown))
    numbers = [value for value in found.values("id") if value.isdecimal()]
    assert sorted(map(int, numbers)) == sorted(entry.item.n for entry in shown.entries)
    assert markdown.render(shown).startswith("# ")
