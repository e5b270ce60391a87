"""Vim keys over a text and its cursor."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from pinfold.tui.prompt.box import PromptBox
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.prompt.history import History
from pinfold.tui.prompt.popup import Popup
from pinfold.tui.prompt.vim import Vim


def typed(keys: str, text: str, cursor: int = 0) -> tuple[str, int]:
    """The text and the cursor after `keys` in normal mode; ⎋ is Esc."""
    vim = Vim()
    vim.mode = "normal"
    for key in keys:
        step = vim.press("escape" if key == "⎋" else key, text, cursor)
        if step is None and key != "⎋":
            text, cursor = text[:cursor] + key + text[cursor:], cursor + 1
        elif step is not None:
            text, cursor = step.text, step.cursor
    return text, cursor


@pytest.mark.parametrize(
    ("keys", "start", "end"),
    [
        ("w", 0, 4),
        ("2w", 0, 6),
        ("e", 0, 2),
        ("ee", 0, 5),
        ("b", 4, 0),
        ("Fe", 4, 2),
        ("To", 2, 1),
        ("$", 0, 12),
        ("0", 5, 0),
        ("fb", 0, 4),
        ("tr", 4, 6),
        ("G", 0, 14),
        ("Ggg", 0, 0),
        ("2G", 0, 14),
        ("j", 1, 15),
        ("W", 4, 9),
        ("f.;", 0, 12),
    ],
)
def test_motions(keys: str, start: int, end: int) -> None:
    assert typed(keys, "one ba.r two.\nthree", start)[1] == end


@pytest.mark.parametrize(
    ("keys", "text", "cursor", "result"),
    [
        ("dw", "one two three", 4, "one three"),
        ("2dw", "one two three", 0, "three"),
        ("d2w", "one two three", 0, "three"),
        ("dw", "one\ntwo", 0, "\ntwo"),
        ("de", "one two", 0, " two"),
        ("d$", "one two\nx", 3, "one\nx"),
        ("d$", "a\n\nb", 2, "a\n\nb"),
        ("D", "one two\nx", 3, "one\nx"),
        ("d0", "one two", 4, "two"),
        ("db", "one two", 4, "two"),
        ("dft", "one two", 0, "wo"),
        ("dtt", "one two", 0, "two"),
        ("dl", "abc", 2, "ab"),
        ("dd", "a\nb\nc", 2, "a\nc"),
        ("dd", "a\nb", 2, "a"),
        ("2dd", "a\nb\nc", 0, "c"),
        ("dgg", "a\nb\nc", 2, "c"),
        ("dG", "a\nb\nc", 2, "a"),
        ("dj", "a\nb\nc", 0, "c"),
        ("cwnew⎋", "one two", 0, "new two"),
        ("ccnew⎋", "one\ntwo", 0, "new\ntwo"),
        ("cwx⎋w.", "one two three", 0, "x x three"),
        ("dw.", "one two three", 0, "three"),
        ("dw3.", "1 2 3 4 5", 0, "5"),
        ("iab⎋", "cd", 0, "abcd"),
        ("aab⎋", "cd", 0, "cabd"),
        ("Aab⎋", "cd\ne", 0, "cdab\ne"),
        ("Iab⎋", "  cd", 3, "  abcd"),
        ("oab⎋", "cd\ne", 0, "cd\nab\ne"),
        ("Oab⎋", "cd\ne", 3, "cd\nab\ne"),
        ("x", "abc", 1, "ac"),
        ("2x", "abcd", 1, "ad"),
        ("rz", "abc", 1, "azc"),
        ("yyp", "a\nb", 0, "a\na\nb"),
        ("ywP", "one two", 0, "one one two"),
        ("xp", "ab", 0, "ba"),
        ("vld", "abcd", 1, "ad"),
        ("vwcX⎋", "one two", 0, "Xwo"),
        ("vey$p", "ab cd", 0, "ab cdab"),
        ("Aab⎋", "", 0, "ab"),
        ("dd", "", 0, ""),
        ("qdw", "one two", 0, "two"),
        ("d⎋w", "one two", 0, "one two"),
    ],
)
def test_changes(keys: str, text: str, cursor: int, result: str) -> None:
    assert typed(keys, text, cursor)[0] == result


def test_the_first_and_the_last_line_lead_to_other_prompts() -> None:
    vim = Vim()
    vim.mode = "normal"
    assert [vim.press(key, "one\ntwo", at).then for key, at in (("k", 0), ("j", 5))] == [  # type: ignore[union-attr]
        "older",
        "newer",
    ]
    assert vim.press("u", "one", 0).then == "undo"  # type: ignore[union-attr]


def test_esc_in_normal_mode_is_not_vims() -> None:
    vim = Vim()
    assert vim.press("x", "", 0) is None
    assert vim.press("escape", "", 0) is not None
    assert vim.press("escape", "", 0) is None


@given(st.text("ab .\n", max_size=12), st.text("wbe0$ftgGdcyiaoOAIuv.pPxDrs29hjkl;,⎋", max_size=12))
def test_the_cursor_is_always_in_the_text(text: str, keys: str) -> None:
    vim = Vim()
    vim.mode = "normal"
    cursor = 0
    for key in keys:
        step = vim.press("escape" if key == "⎋" else key, text, cursor)
        if step is None and key != "⎋":
            text, cursor = text[:cursor] + key + text[cursor:], cursor + 1
        elif step is not None:
            text, cursor = step.text, step.cursor
        assert 0 <= cursor <= len(text)
        if vim.mode == "normal":
            assert cursor == 0 or cursor < len(text) or text[cursor - 1] == "\n"


class PromptApp(App[None]):
    """The prompt alone, with vim keys."""

    def get_css_variables(self) -> dict[str, str]:
        return {**super().get_css_variables(), "rule": "#808080"}

    def compose(self) -> ComposeResult:
        popup = Popup()
        self.editor = Editor(popup, History(Path("/dev/null")), Path("/"), lambda _: (), vim=True)
        self.box = PromptBox(self.editor, str)
        yield self.box
        yield popup


async def test_the_prompt_has_modes_and_undoes_as_a_whole() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.editor.focus()
        await pilot.press(*"fix the old tests", "escape")
        assert app.box.border_title == "NORMAL"
        await pilot.press(*"bbdw")
        assert app.editor.text == "fix the tests"
        await pilot.press("u")
        assert app.editor.text == "fix the old tests"
        await pilot.press(*"0vey")
        await pilot.press(*"$p")
        assert app.editor.text == "fix the old testsfix"
        await pilot.press(*"vbd", "a", "x")
        assert app.editor.text == "fix the old x"
        assert app.box.border_title == ""
        await pilot.press("enter")
        assert app.editor.text == ""
        await pilot.press(*"new")  # a new prompt begins in insert mode
        assert app.editor.text == "new"


async def test_a_visual_selection_can_be_seen_both_ways() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        app.editor.focus()
        await pilot.press(*"one two", "escape", *"0wvl")
        assert app.editor.selected_text == "tw"
        await pilot.press("b", "b")
        assert app.editor.selected_text == "one t"
