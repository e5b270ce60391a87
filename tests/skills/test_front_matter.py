"""Markdown with front matter that anybody may have written."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.front_matter import MAX_BYTES, FrontMatterError, parse, read


def test_values_body_and_lines() -> None:
    text = (
        "---\nname: pdf\ndescription: >\n  Fills\n  forms\n"
        "allowed-tools: Bash(git:* x) Read, Grep\ntools: [a, b]\nmodel: 2026-01-01\nshy: true\n"
        "metadata: {version: '1.0'}\n---\n\nBody\n---\n"
    )
    found = parse(text, "SKILL.md")
    assert (found.text("name"), found.text("description")) == ("pdf", "Fills forms")
    assert found.words("allowed-tools") == ("Bash(git:* x)", "Read", "Grep")
    assert found.words("tools") == ("a", "b")
    assert found.text("model") == "2026-01-01"
    assert found.flag("shy")
    assert not found.flag("not-there")
    assert found.values["metadata"] == {"version": "1.0"}
    assert found.body == "Body\n---"
    assert found.notes == ()
    with pytest.raises(FrontMatterError, match=r"SKILL\.md, line 9: “shy” is dull"):
        raise found.error("“shy” is dull", "shy")


@pytest.mark.parametrize("hostile", [" " * 30_000 + ")", "( " * 15_000, "a " * 15_000 + ")"])
def test_words_are_found_in_linear_time(hostile: str) -> None:
    """In cubic time this would take hours, before anybody trusts the project."""
    found = parse(f'---\ntools: "a{hostile}"\n---\n', "a.md")
    assert found.words("tools")


def test_without_front_matter_all_is_body() -> None:
    assert parse("Do it.\n---\nx", "a.md").body == "Do it.\n---\nx"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("description: Use when: a file is there", "Use when: a file is there"),
        ("description: [file] [mode]", "[file] [mode]"),
        ("description: *bold* words", "*bold* words"),
        ("description: &all of it", "&all of it"),
        ("description: !!python/object/apply:os.system [x]", "!!python/object/apply:os.system [x]"),
        ("description: @x", "@x"),
        ('description: "open', '"open'),
    ],
)
def test_a_value_that_is_not_quite_yaml_counts_as_text(line: str, value: str) -> None:
    found = parse(f"---\nname: x\n{line}\n---\nBody", "a.md")
    assert found.text("description") == value
    assert found.notes == ("a.md: the value on line 3 needs quotes.",)


def test_tabs_and_blank_lines_are_repaired() -> None:
    found = parse("\n\n---\nmetadata:\n\ta: b\n---\n", "a.md")
    assert found.values == {"metadata": {"a": "b"}}
    assert [note.removeprefix("a.md: ") for note in found.notes] == [
        "there are blank lines before the front matter.",
        "line 5 was indented by a tab.",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nname: x\n", "line 1: the front matter has no closing line"),
        ("---\n- a\n---\n", "line 2: it has no “key: value” lines"),
        ("---\nx: 1\na:\n  - &b [1]\n  - *b\n---\n", "line 4: anchors and aliases"),
        ("---\na:\n  b: !!binary abc\n---\n", "line 3: tags are not supported"),
        (f"---\na: {'[' * 500}\nb:\n {'- ' * 500}\n---\n", "nested too deep"),
        ("---\na:\n b: 1\n  c: 2\n---\n", "line 4: "),
        (f"---\na: {'x' * 40_000}\n---\n", "line 2: the front matter has more than 32,768"),
        ("---\na: [\x07]\nb:\n x\x07\n---\n", "a.md, line"),
    ],
)
def test_what_is_broken_is_one_sentence_with_the_line(text: str, said: str) -> None:
    with pytest.raises(FrontMatterError) as error:
        parse(text, "a.md")
    assert said in str(error.value)
    assert str(error.value).startswith("a.md, line")
    assert "\n" not in str(error.value)


def test_values_of_the_wrong_kind() -> None:
    found = parse("---\nname: [a]\nshy: perhaps\n---\n", "a.md")
    with pytest.raises(FrontMatterError, match="line 2: “name” must be text"):
        found.text("name")
    with pytest.raises(FrontMatterError, match="line 3: “shy” must be true or false"):
        found.flag("shy")


def test_what_is_shown_is_what_is_read() -> None:
    """Escapes and invisible letters are replaced, so that the model reads what the user saw."""
    found = parse('---\nname: "a\\e[2Jb\\n\U000e0041"\n---\nBody\x1b[2J\u202e', "a.md")
    assert found.text("name") == "a␛[2Jb �"
    assert found.body == "Body␛[2J⇄"


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nBody")
    assert (read(file).text("name"), len(read(file).hash)) == ("x", 64)
    file.write_bytes(b"---\nname: \xff\n---\n")
    with pytest.raises(FrontMatterError, match="line 2: it is not UTF-8"):
        read(file)
    with file.open("wb") as sparse:
        sparse.truncate(1 << 30)
    with pytest.raises(FrontMatterError, match=f"it has more than {MAX_BYTES:,} bytes"):
        read(file)


@given(st.text(st.sampled_from("-: \n\t[]{}&*!|>'\"ab,#\\x\x07%@`?"), max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(FrontMatterError):
        assert isinstance(parse(f"---\n{text}\n---\nBody", "a.md").values, dict)
