import difflib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.tools.patch import AddFile, DeleteFile, PatchError, UpdateFile, apply, parse

LINE = st.text(alphabet="ab +-@*\\\t", max_size=4)
TEXT = st.tuples(st.lists(LINE, max_size=12), st.booleans()).map(
    lambda made: "\n".join(made[0]) + "\n" * made[1]
)
DISTINCT = st.lists(st.integers(0, 40), max_size=25).map(
    lambda numbers: "".join(f"line {n}\n" for n in dict.fromkeys(numbers))
)


def update(body: str) -> str:
    return f"*** Begin Patch\n*** Update File: x\n{body}*** End Patch\n"


def rendered(before: str, after: str, context: int) -> str:
    """The diff of two texts in the patch format."""
    old, new = before.split("\n"), after.split("\n")
    old, new = ([line + "\n" for line in t[:-1]] + [t[-1]] * bool(t[-1]) for t in (old, new))
    lines = list(difflib.unified_diff(old, new, n=context))[2:]
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in ("@@\n" if line.startswith("@@ -") else line for line in lines)
    )


def applied(before: str, body: str) -> str:
    (section,) = parse(update(body))
    assert isinstance(section, UpdateFile)
    return apply(before, section.hunks)


@given(TEXT, TEXT)
def test_a_diff_with_the_whole_file_as_context_leads_from_a_to_b(a: str, b: str) -> None:
    if a != b:
        assert applied(a, rendered(a, b, context=100)) == b


@given(DISTINCT, DISTINCT, st.integers(1, 3))
def test_hunks_with_little_context_lead_from_a_to_b(a: str, b: str, context: int) -> None:
    if a != b:
        assert applied(a, rendered(a, b, context)) == b


@given(st.lists(st.sampled_from(["*** Begin Patch", "*** End Patch", "*** Update File: x", "@@",
    "@@ a", "+a", "-a", " a", "", "*** Add File: y", "*** Delete File: z", "*** Move to: w",
    "*** End of File", "\\ No newline", "junk"]), max_size=12), TEXT)  # fmt: skip
def test_any_text_is_a_patch_or_a_plain_error(lines: list[str], text: str) -> None:
    with suppress(PatchError):
        for section in parse("\n".join(["*** Begin Patch", *lines, "*** End Patch"])):
            if isinstance(section, UpdateFile):
                apply(text, section.hunks)


def test_all_kinds_of_sections_are_read_from_a_here_document() -> None:
    sections = parse(
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+one\n+\n+two\n"
        "*** Delete File: b.txt\n*** Update File: c.txt\n*** Move to: d.txt\n*** End Patch\nEOF"
    )
    assert sections == (
        AddFile("a.txt", "one\n\ntwo\n"),
        DeleteFile("b.txt"),
        UpdateFile("c.txt", "d.txt", ()),
    )


def test_an_anchor_finds_the_right_one_of_two_equal_places() -> None:
    text = "class A:\n    def f(self):\n        pass\nclass B:\n    def f(self):\n        pass\n"
    body = "@@ class B:\n@@ def f(self):\n-        pass\n+        return 1\n"
    assert applied(text, body) == text[: text.rindex("pass")] + "return 1\n"


def test_an_anchor_may_be_repeated_as_the_first_line_of_the_hunk() -> None:
    assert applied("def f():\n    a\n", "@@ def f():\n def f():\n-    a\n+    b\n") == (
        "def f():\n    b\n"
    )


def test_trailing_white_space_does_not_matter_and_the_files_own_is_kept() -> None:
    assert applied("one  \ntwo\n", " one\n-two\n+2\n") == "one  \n2\n"


def test_typographic_quotes_match_plain_ones() -> None:
    assert applied("say “hi”\nx\n", ' say "hi"\n-x\n+y\n') == "say “hi”\ny\n"


def test_a_hunk_at_the_end_of_the_file_is_looked_for_there() -> None:
    assert applied("a\nb\na\n", "@@\n-a\n+c\n*** End of File\n") == "a\nb\nc\n"


def test_blank_lines_before_the_next_section_are_no_context() -> None:
    assert applied("a\nb\n", "@@\n-a\n+c\n\n") == "c\nb\n"


def test_lines_without_context_go_to_the_end_or_below_the_anchor() -> None:
    assert applied("a\nb\n", "+c\n") == "a\nb\nc\n"
    assert applied("a\nb\n", "@@ a\n+c\n") == "a\nc\nb\n"


def test_a_file_without_a_newline_at_its_end_stays_without() -> None:
    assert applied("a\nb", "-a\n+c\n") == "c\nb"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (" a\n-b\n+c\n@@\n-gone\n", "hunk 2 .line 6 of the patch. does not apply"),
        ("-\tindented\n", "Lines that differ only in indentation begin at line 3"),
        ("@@\n-b\n@@\n-a\n", "are at line 1, but .* lead to line 3"),
        ("*bad\n", "must begin with"),
        ("@@ a\n", "no lines after its @@"),
        ("", "has no hunk"),
    ],
)
def test_what_does_not_apply_is_named(body: str, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        applied("a\nb\n    indented\n", body)


@pytest.mark.parametrize("patch", ["", "*** Begin Patch\n", "*** Begin Patch\n*** End Patch"])
def test_a_patch_without_begin_end_or_content_is_refused(patch: str) -> None:
    with pytest.raises(PatchError):
        parse(patch)
