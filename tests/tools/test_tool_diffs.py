import re

from hypothesis import given
from hypothesis import strategies as st

from pinfold.tools.diffs import MAX_LINES, unified

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "d e"]), max_size=30).map("\n".join)


def patched(before: str, diff: str) -> str:
    """`before` with a unified diff applied, strictly."""
    old = before.splitlines(keepends=True)
    result: list[str] = []
    at = 0
    body = diff.replace("\n\\ No newline at end of file\n", "\0").splitlines(keepends=True)
    pieces = "".join(body[2:]).replace("\0", "\0\n").splitlines(keepends=True)
    for piece in pieces:
        line = piece.removesuffix("\0\n")
        if header := re.match(r"@@ -(\d+)(?:,(\d+))?", line):
            start = int(header[1]) - (header[2] != "0")
            result += old[at:start]
            at = start
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert old[at] == line[1:]
            if line.startswith(" "):
                result.append(old[at])
            at += 1
    return "".join(result + old[at:])


@given(TEXTS, TEXTS)
def test_a_diff_leads_from_one_text_to_the_other(before: str, after: str) -> None:
    diff = unified(before, after, "x")
    assert patched(before, diff.text) == after
    lines = diff.text.splitlines()[2:]
    assert diff.added == sum(line.startswith("+") for line in lines)
    assert diff.removed == sum(line.startswith("-") for line in lines)


def test_line_numbers_count_from_the_files_start() -> None:
    before = "".join(f"{n}\n" for n in range(1, 101))
    diff = unified(before, before.replace("\n50\n", "\nfifty\n"), "x.py")
    assert diff.text == (
        "--- a/x.py\n+++ b/x.py\n@@ -47,7 +47,7 @@\n 47\n 48\n 49\n-50\n+fifty\n 51\n 52\n 53\n"
    )


def test_a_new_file_has_no_before() -> None:
    assert unified(None, "a\n", "x").text == "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"


def test_a_long_diff_is_cut_and_says_so_but_counts_all() -> None:
    diff = unified("", "x\n" * 50_000, "big")
    assert diff.added == 50_000
    assert len(diff.text.splitlines()) == MAX_LINES + 1
    assert diff.text.endswith("... 49003 more lines\n")
