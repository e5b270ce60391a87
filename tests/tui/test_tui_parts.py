"""The parts of the screen that need no screen."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold import numbers
from pinfold.tui import branch, themes
from pinfold.tui.approval.arguments import editable
from pinfold.tui.gauge import cells
from pinfold.tui.keys import complaints, shown

# Numbers


@pytest.mark.parametrize(
    ("count", "text"),
    [
        *((0, "0"), (950, "950"), (3_100, "3.1k"), (8_000, "8k"), (99_999, "100k")),
        *((272_000, "272k"), (999_700, "1M"), (1_047_576, "1.05M")),
    ],
)
def test_tokens(count: int, text: str) -> None:
    assert numbers.tokens(count) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0s"), (125, "2m 05s"), (3_720, "1h 02m")])
def test_duration(seconds: float, text: str) -> None:
    assert numbers.duration(seconds) == text


# The gauge


@given(st.lists(st.integers(0, 300_000), max_size=8), st.integers(1, 1_000_000), st.integers(6, 60))
def test_cells_are_in_proportion(counts: list[int], limit: int, width: int) -> None:
    segments = [(str(n), count) for n, count in enumerate(counts)]
    drawn = cells(segments, limit, width)
    total = sum(counts)
    filled = sum(count for _, count in drawn)
    assert filled <= width
    assert (filled > 0) == (total > 0)
    if 0 < total <= limit:
        assert abs(filled - width * total / limit) <= 1
    sizes = dict(drawn)
    for name, count in segments:
        assert abs(sizes.get(name, 0) - filled * count / max(total, 1)) <= 1


# Themes


def test_our_themes_load_and_set_all_our_variables() -> None:
    loaded, failed = themes.load([themes.shipped()])
    assert not failed
    assert {theme.name for theme in loaded} == {
        *("pinfold", "pinfold-light", "high-contrast", "ember", "tide"),
    }
    for theme in loaded:
        assert set(themes.OURS) <= theme.variables.keys(), theme.name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name = 'x'", "primary"),
        ("name = 'x'\nprimary = 'mud'", "primary: 'mud' is not a colour"),
        ("name = 'x'\nprimary = '#fff'\n[variables]\nrule = 'no'", "rule: 'no' is not a colour"),
        ("name = ", "Invalid value"),
        ("name = 'x'\nprimary = '#fff'\nshade = 1", "shade"),
    ],
)
def test_a_theme_that_is_wrong_fails_alone_and_says_why(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "bad.toml").write_text(text)
    (tmp_path / "good.toml").write_text("name = 'good'\nprimary = '#123456'")
    loaded, failed = themes.load([tmp_path])
    assert [theme.name for theme in loaded] == ["good"]
    assert why in failed[tmp_path / "bad.toml"]


def test_the_theme_of_the_settings_is_found_without_reading_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("name = ")
    (tmp_path / "pinfold.toml").write_text("name = 'pinfold'\nprimary = '#123456'")
    (tmp_path / "other.toml").write_text("name = 'not-other'\nprimary = '#123456'")
    folders = [themes.shipped(), tmp_path]
    mine, shipped = themes.named("pinfold", folders), themes.named("tide", folders)
    assert mine is not None
    assert mine.primary == "#123456"  # the user's, not ours
    assert shipped is not None
    for name in ("bad", "other", "not-other", "nowhere"):
        assert themes.named(name, folders) is None


def test_a_theme_is_a_small_regular_file_in_its_folder(tmp_path: Path) -> None:
    inner = tmp_path / "themes"
    inner.mkdir()
    (tmp_path / "outside.toml").write_text("name = '../outside'\nprimary = '#123456'")
    os.mkfifo(inner / "pipe.toml")
    (inner / "zero.toml").symlink_to("/dev/zero")
    (inner / "deep.toml").write_text(f"name = {'[' * 5_000}")
    (inner / "long.toml").write_text("#" * 100_000)
    for name in ("../outside", "pipe", "zero", "deep", "long"):
        assert themes.named(name, [inner]) is None
    loaded, failed = themes.load([inner])
    assert not loaded
    assert failed.keys() == set(inner.iterdir())
    assert failed[inner / "pipe.toml"] == "it is not a regular file"


# Arguments


def test_the_text_of_a_call_is_edited_not_its_json() -> None:
    what = editable('{"command": "ls", "timeout": 5}', "command")
    assert (what.field, what.text) == ("command", "ls")
    assert json.loads(what.with_text('echo "hi"')) == {"command": 'echo "hi"', "timeout": 5}


def test_unknown_arguments_are_edited_as_json() -> None:
    what = editable('{"n": 1}', "n")
    assert json.loads(what.with_text('{"n": 2}')) == {"n": 2}
    with pytest.raises(ValueError, match=r"not JSON: .* line 1, column 2"):
        what.with_text("{")
    with pytest.raises(ValueError, match="must be a JSON object"):
        what.with_text("[1]")


def test_broken_arguments_can_be_mended() -> None:
    assert editable("{oops").text == "{oops"


# Keys and branch


def test_keys_for_people() -> None:
    assert shown("ctrl+j,alt+enter,up") == "Ctrl+J or Alt+Enter or ↑"


def test_keys_of_actions_that_are_not_there_are_told() -> None:
    assert complaints({"send": "f2", "transcript.copy": "y"}) == []
    assert complaints({"interrupt": "ctrl+g"}) == [
        "[keys]: ctrl+g is the key of “editor”, so not of “interrupt”."
    ]
    assert complaints({"interrupt": "ctrl+g", "editor": "f8"}) == []
    assert complaints({"sned": "f2"}) == ["[keys]: there is no action “sned”; did you mean “send”?"]
    assert complaints({"qqq": "f2"}) == ["[keys]: there is no action “qqq”; /help lists them."]


def test_branch(tmp_path: Path) -> None:
    assert branch.current(tmp_path) == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/fix/words\n")
    (tmp_path / "deep").mkdir()
    assert branch.current(tmp_path / "deep") == "fix/words"
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert branch.current(tmp_path) == "01234567"


@pytest.mark.parametrize("name", ["HEAD", ""])
def test_a_pipe_in_the_place_of_gits_files_hangs_nobody(tmp_path: Path, name: str) -> None:
    if name:
        (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / name)
    assert branch.current(tmp_path) == ""


def test_a_git_file_may_say_anything(tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(b"gitdir: a\0b")
    assert branch.current(tmp_path) == ""
