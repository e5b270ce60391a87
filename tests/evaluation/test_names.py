"""Names are found whole, and prose is not taken for them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.evaluation.failures import failures
from pinfold.evaluation.names import call_texts, names
from pinfold.rollout.items import Item


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open /w/app/main.go:12 now", ["path app/main.go"]),
        ("+++ b/src/x.ts", ["path src/x.ts"]),
        ("see ./docs/how-to.md.", ["path docs/how-to.md"]),
        ("in main.rs and ~/.config/x", ["path main.rs", "path ~/.config/x"]),
        ("read/write and true/false", []),
        ("at https://x.example/a?b=1#c.", ["url https://x.example/a?b=1#c"]),
        ("fixed in 3f2a9bc, see #418", ["hash 3f2a9bc", "issue #418"]),
        ("id 0276a600-2f22-4d2b-844c-3feb9c5aa108", ["hash 0276a600-2f22-4d2b-844c-3feb9c5aa108"]),
        ("call getUserName or MAX_RETRIES", ["identifier getUserName", "identifier MAX_RETRIES"]),
        ("os.ReadFile of snake_case", ["identifier ReadFile", "identifier snake_case"]),
        ("Nothing special stands in this sentence, e.g. a word", []),
        ("> /dev/null", []),
        ("skip **/node_modules and */dist", ["identifier node_modules"]),
        ("git log HEAD...origin/main and main..origin/fix", []),
        ("in .../src/app.py", []),
        ("docs/[...slug].md", ["path docs/[...slug].md"]),
        ("[conf/main.toml]", ["path conf/main.toml"]),
        ("app/run.go-382- x, app/run.go:383: x", ["path app/run.go", "path app/run.go"]),
        ("<section>x</section> <https://x.example>", ["url https://x.example"]),
    ],
)
def test_names(text: str, found: list[str]) -> None:
    assert [f"{name.kind} {name.text}" for name in names(text, "/w")] == found


def test_what_a_call_writes_is_told_from_what_it_refers_to() -> None:
    content = json.dumps({"path": "a.py", "old_string": "x_one", "status": "in_progress"})
    assert call_texts(Item(n=1, kind="tool_call", content=content)) == ("a.py", "x_one\n")


def test_arguments_that_are_no_json_are_text() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py"
    assert call_texts(Item(n=1, kind="tool_call", content=patch)) == ("", f"\n{patch}"[1:])


@pytest.mark.parametrize(
    ("output", "label", "line"),
    [
        ("Exit code 1\nx.go:4:2: undefined: object", "undefined", "x.go:4:2: undefined: object"),
        ("  KeyError: 'a'", "KeyError", "KeyError: 'a'"),
        ("open: ENOENT: no such file", "ENOENT", "open: ENOENT: no such file"),
        ("<tool_use_error>File does not exist.</tool_use_error>", "file does not exist", None),
        ("something odd", "failed", "something odd"),
    ],
)
def test_the_line_that_matters(output: str, label: str, line: str | None) -> None:
    [failure] = failures(output)
    assert failure.label == label
    assert line is None or failure.line == line


def test_an_output_without_a_word_tells_of_no_error() -> None:
    assert failures("Exit code 1\n\n") == []


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for name in names(text, "/w"):
        assert name.text in text
    failures(text)


@pytest.mark.parametrize(
    "line",
    [
        'return fmt.Errorf("failed to get current directory: %w", err)',
        "function call(event: TraceEvent): ToolCall | undefined {",
        "// Column already exists, ignore",
        '+ raise ValueError("invalid")',
        "-   timeout: 30000",
        "187 │ const warn = spy(() => undefined)",
        "  39\ttimeout: 30000",
        "'it failed',",
        "(pass) config > reports what is missing [4.00ms]",
    ],
)
def test_text_that_was_read_is_no_failure(line: str) -> None:
    assert failures(f"{line}\n") == []
    (failure,) = failures(f"{line}\nError: disk is full")
    assert failure.line == "Error: disk is full"
