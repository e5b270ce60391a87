"""The parts of the prompt that are not widgets."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.tui.prompt import completion, files
from pinfold.tui.prompt.chips import Chips
from pinfold.tui.prompt.history import History

# Chips


def test_a_large_paste_becomes_a_label_and_comes_back_whole() -> None:
    chips = Chips()
    text = "\n".join(f"line {n}" for n in range(120))
    label = chips.take(text)
    assert label == "[pasted 120 lines #1]"
    assert chips.expand(f"look: {label}!") == f"look: {text}!"


def test_the_end_of_the_last_line_is_no_line() -> None:
    assert Chips().take("line\n" * 300) == "[pasted 300 lines #1]"


def test_a_small_paste_stays_text() -> None:
    assert Chips().take("a\nb") == "a\nb"


def test_a_label_that_nobody_pasted_is_text() -> None:
    chips = Chips()
    assert chips.spans("[pasted 9 lines #1]") == []
    assert chips.expand("[pasted 9 lines #1]") == "[pasted 9 lines #1]"


@given(st.text(min_size=1_001, max_size=1_200), st.text(max_size=20))
def test_nothing_pasted_is_lost(text: str, around: str) -> None:
    chips = Chips()
    first, second = chips.take(text), chips.take(text[::-1])
    assert chips.expand(f"{first}{second}") == text + text[::-1]


# History


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path / "home" / "history.jsonl")
    for text in ("one", "two\nlines", "three"):
        history.write(text)
    history.load()
    return history


def test_history_walks_back_and_forth_and_keeps_the_draft(history: History) -> None:
    assert history.older("draft") == "three"
    assert history.older("three") == "two\nlines"
    assert history.older("") == "one"
    assert history.older("") is None
    assert [history.newer() for _ in range(4)] == ["two\nlines", "three", "draft", None]


def test_history_takes_no_prompt_twice_in_a_row(history: History) -> None:
    assert not history.add("three")
    assert history.add("four")
    assert history.older("") == "four"


def test_a_damaged_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"good"\n{"not": "text"}\n"torn\n\xff\n')
    history = History(path)
    history.load()
    assert history.older("") == "good"
    assert history.older("") is None


def test_the_history_is_for_the_user_alone(history: History, tmp_path: Path) -> None:
    path = tmp_path / "home" / "history.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [json.loads(line) for line in path.read_text().splitlines()][1] == "two\nlines"


# Completion


@pytest.mark.parametrize(
    ("before", "token"),
    [
        ("/he", completion.Token("command", 0, "he")),
        ("/theme pi", completion.Token("argument", 7, "pi", "theme")),
        ("see @app/x", completion.Token("file", 4, "app/x")),
        ("(@", completion.Token("file", 1, "")),
        ("ada@example.org", None),
        ("say /he", None),
        ("/nothing x", None),
    ],
)
def test_token_at(before: str, token: completion.Token | None) -> None:
    assert completion.token_at(before, first_line=True) == token


def test_a_command_begins_on_the_first_line_alone() -> None:
    assert completion.token_at("/he", first_line=False) is None


def test_commands_that_begin_with_the_query_come_first() -> None:
    texts = [command.text for command in completion.commands("e")]
    assert texts[0] == "/editor"
    assert "/help" in texts


def test_the_most_used_commands_come_first() -> None:
    assert completion.commands("")[0].text.startswith("/compact")
    used = ["theme", "help", "theme", "nothing"]
    texts = [row.text for row in completion.commands("", used)]
    assert [text.split()[0] for text in texts[:3]] == ["/theme", "/help", "/compact"]
    assert completion.commands("c", ["copy"])[0].text == "/copy"


def test_a_value_that_stands_there_is_not_completed_to_a_longer_one() -> None:
    values = ["pinfold", "pinfold-light", "tide"]
    assert [choice.text for choice in completion.choices("pin", values)] == values[:2]
    assert completion.choices("pinfold", values) == []


def test_files_of_a_repository_are_those_that_git_would_add(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "a.py").touch()
    (tmp_path / "b.log").touch()
    assert sorted(files.list_files(tmp_path)) == [".gitignore", "a.py"]


def test_files_outside_a_repository_are_walked(tmp_path: Path) -> None:
    for name in ("x.txt", "deep/y.txt", "node_modules/z.js"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert files.list_files(tmp_path) == ["deep/y.txt", "x.txt"]


def test_the_best_files_have_the_query_in_their_name() -> None:
    paths = ["app/counter/x.py", "app/gauge.py", "tests/test_counter.py", "counter.py"]
    assert files.best("counter", paths, 2) == ["counter.py", "tests/test_counter.py"]
    assert files.best("ga", paths, 5) == ["app/gauge.py"]
    assert files.best("", paths, 1) == ["counter.py"]
