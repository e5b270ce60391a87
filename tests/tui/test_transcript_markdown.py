from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import fields
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from pinfold.tui.transcript.chunks import LIMIT, Chunker
from pinfold.tui.transcript.diffs import counts, diff_lines, names
from pinfold.tui.transcript.lines import breaks, clip, fold, wrap
from pinfold.tui.transcript.looks import Looks
from pinfold.tui.transcript.markdown import markdown
from pinfold.tui.transcript.reply import Reply
from pinfold.window.titles import title_of

LOOKS = Looks(
    **{field.name: Style(meta={"look": field.name}) for field in fields(Looks) if field.required}
)

SAMPLE = '''# Title

Some **bold** and `code`, then a list:
- one
- two
  - nested
  - more

    deeper text
1. first
2. second

   ```python
   x = 1
   ```

> a quote
goes on

| a | b |
|--:|---|
| 1 | `two` |

```python
def f():
    """Says

    something."""
    return 1
```
***
    indented

    code
Ünïcödé 日本語 👩‍👩‍👧 [link](https://example.org) <https://example.org>
'''
BLOCKS = st.sampled_from(
    [*SAMPLE.splitlines(keepends=True), "\n", "```\n", "~~~~ js\n", "word ", "- ", "#", "\t", "**"]
)
TEXTS = st.one_of(st.just(SAMPLE), st.lists(BLOCKS, max_size=40).map("".join), st.text(max_size=80))


def rows(text: str, width: int = 40) -> list[str]:
    return [line.text for line in markdown(text, width, LOOKS)]


@given(TEXTS, st.lists(st.integers(0, 2_000), max_size=30), st.integers(12, 100))
@settings(max_examples=150, deadline=None)
def test_streamed_in_pieces_equals_drawn_at_once(text: str, cuts: list[int], width: int) -> None:
    reply = Reply(width, LOOKS)
    for start, end in pairwise(sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})):
        before = list(reply.lines)
        changed = reply.feed(text[start:end])
        assert reply.lines[:changed] == before[:changed]
    assert reply.lines == markdown(text, width, LOOKS)


@given(TEXTS, st.integers(12, 100))
@settings(max_examples=150, deadline=None)
def test_nothing_is_wider_than_the_screen(text: str, width: int) -> None:
    for line in markdown(text, width, LOOKS):
        assert cell_len(line.text) <= max(width, 8 + 3 * line.text.count("│") + line.lead)


@given(st.text(max_size=200).filter(lambda text: text.isprintable()), st.integers(2, 50))
def test_wrapping_loses_only_white_space_at_the_breaks(text: str, width: int) -> None:
    lines = wrap([Segment(text)], width)
    together = "".join(line.text + (line.joint if line.joint != "\n" else "") for line in lines)
    assert together.split() == text.split()
    assert all(cell_len(line.text.rstrip()) <= width for line in lines)
    assert "".join(line.text for line in fold([Segment(text)], width)) == text
    assert cell_len(clip(text, width)) <= width


def test_wide_characters_are_counted_in_cells() -> None:
    assert breaks("日本語の文", 4) == [2, 4]


def test_a_list_is_tight_and_a_heading_has_no_box() -> None:
    assert rows("## Steps\n\n- one\n\n- two\n  - three\n\nEnd.") == [
        "Steps",
        "• one",
        "• two",
        "  ◦ three",
        "",
        "End.",
    ]


def test_headings_have_air_above_and_none_below() -> None:
    assert rows("Intro.\n# One\n## Two\n\nText.\n\n> # Quoted\n>\n> words") == [
        "Intro.",
        "",
        "One",
        "",
        "Two",
        "Text.",
        "",
        "│ Quoted",
        "│ words",
    ]


def test_code_starts_at_the_column_of_the_text() -> None:
    assert rows("Run:\n```\nmake\n```") == ["Run:", "", "make"]


def test_a_list_that_starts_does_not_turn_its_paragraph_into_a_heading() -> None:
    assert rows("Steps:\n-") == ["Steps:", "• "]


def test_a_table_fits_and_its_columns_line_up() -> None:
    table = "| name | n |\n|---|--:|\n| a long name that must wrap | 10 |\n"
    assert rows(table, 20) == [
        "name            │  n",
        "────────────────┼───",
        "a long name     │ 10",
        "that must wrap  │   ",
    ]


def test_a_link_shows_where_it_goes() -> None:
    assert rows("[docs](https://a.example/x) <https://b.example>", 80) == [
        "docs (https://a.example/x) https://b.example"
    ]


def test_markup_and_html_are_text() -> None:
    assert rows("[bold]x[/bold] <b>y</b>") == ["[bold]x[/bold] <b>y</b>"]


def test_a_chunk_is_done_when_the_next_begins() -> None:
    chunker = Chunker()
    assert chunker.feed("one\n\ntw") == []
    assert [chunk.text for chunk in chunker.tail()] == ["one", "tw"]
    assert [chunk.text for chunk in chunker.feed("o\n")] == ["one"]
    assert [chunk.text for chunk in chunker.close()] == ["two"]


@pytest.mark.parametrize("size", [1, LIMIT - 1, LIMIT, 5_000, 3 * LIMIT])
def test_a_line_without_end_is_cut_where_it_would_cost_too_much(size: int) -> None:
    text = "word " * 10_000
    chunker = Chunker()
    chunks = []
    for i in range(0, len(text), size):
        chunks += chunker.feed(text[i : i + size])
        if size > 1 or i % 999 == 0:
            assert sum(len(chunk.text) for chunk in chunker.tail()) <= 2 * LIMIT
    chunks += chunker.close()
    whole = Chunker()
    assert chunks == whole.feed(text) + whole.close()
    assert "".join(chunk.text for chunk in chunks) == text


def test_code_longer_than_a_group_keeps_its_colours() -> None:
    text = "x = 1\n" * 35 + '"""Long\n' + "words\n" * 10 + '"""\ny = 2\n'
    lines = markdown(f"```python\n{text}```", 60, LOOKS)
    styles = {line.text.strip(): line.segments[0].style for line in lines if line.text.strip()}
    assert styles["words"] == LOOKS.string
    assert styles["y = 2"] == LOOKS.plain


DIFF = "--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@\n same\n-old\n+new\n last\n@@ -40 +40 @@\n-a\n+b\n"


def test_a_diff_has_numbers_signs_and_tints() -> None:
    lines = diff_lines(DIFF, 40, LOOKS)
    assert [line.text for line in lines] == [
        " 9   same",
        "10 - old",
        "10 + new",
        "11   last",
        " ⋮",
        "40 - a",
        "40 + b",
    ]
    assert [line.fill for line in lines][1:3] == [LOOKS.removed, LOOKS.added]
    assert counts(DIFF) == (2, 2)


GIT = """diff --git a/new.py b/new.py
new file mode 100644
index 0000000..3b18e51
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+hello
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-new file mode
diff --git a/a b.png b/a b.png
new file mode 100644
Binary files /dev/null and b/a b.png differ
diff --git a/x b/y
similarity index 100%
rename from x
rename to y
"""


def test_headers_of_git_are_no_lines_of_a_file() -> None:
    assert [line.text for line in diff_lines(GIT, 40, LOOKS)] == [
        "new.py",
        "1 + hello",
        "old.py (deleted)",
        "1 - new file mode",
        "a b.png (new, binary)",
        "y (renamed)",
    ]
    assert names(GIT) == ["new.py", "old.py (deleted)", "a b.png (new, binary)", "y (renamed)"]
    only = GIT[GIT.index("diff --git a/x") :]
    assert [line.text for line in diff_lines(only, 40, LOOKS)] == ["y (renamed)"]


def test_a_removed_line_of_dashes_is_no_file_name() -> None:
    assert counts("@@ -1 +0,0 @@\n--- x\n") == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        ('{"command": "ls -l\\n", "timeout": 3}', "$ ls -l"),
        ('{"path": "app/x.py", "old_st', "app/x.py"),
        ('{"pattern": "def", "path": "app"}', "def in app"),
        ('{"patch": "*** Begin Patch\\n*** Add File: a.py\\n+x\\n*** Delete File: b', "a.py, b"),
        ('{"comm', ""),
        ('{"cmd": "rg -n x\\nls", "yield_time_ms": 9}', "$ rg -n x ls"),
        ('{"command": ["bash", "-lc", "ls -l [a]"], "workdir": "/r"}', "$ ls -l [a]"),
        ('{"action": {"command": ["git", "diff"], "type": "exec"}}', "$ git diff"),
        ('{"command": ["bash", "-lc", "ls', "$ bash -lc"),
        ('{"server": "wiki", "tool": "search", "arguments": {"query": "a', "search of wiki: a"),
        ('{"tool": "list", "server": "wiki", "arguments": {"tool": "x"}}', "list of wiki"),
        ('{"tool": "x"}', ""),
    ],
)
def test_the_title_of_a_call_is_known_while_it_streams(arguments: str, title: str) -> None:
    assert title_of(arguments) == title
