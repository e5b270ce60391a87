"""Vim keys in the prompt: `[ui] vim = true`."""

from collections.abc import Callable

from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from pinfold.tui.prompt.vim import Mode, Vim, VimStep
from pinfold.tui.prompt.vim_motions import line_start

_LIKE = {"backspace": "h", "delete": "x", "left": "h", "right": "l"}
"""Keys that mean the same as a letter outside insert mode."""


class VimKeys:
    """Applies what vim makes of a key to `area`."""

    def __init__(
        self, area: TextArea, older: Callable[[], None], newer: Callable[[], None]
    ) -> None:
        """`older` and `newer` lead to other prompts."""
        self._area = area
        self._older = older
        self._newer = newer
        self._vim = Vim()

    @property
    def mode(self) -> Mode:
        return self._vim.mode

    def insert(self) -> None:
        """Begin with an empty prompt."""
        self._vim.insert()

    def press(self, event: events.Key) -> bool:
        """Whether the key was vim's; it has taken effect then."""
        area, vim = self._area, self._vim
        key = event.character if event.is_printable else event.key
        if vim.mode != "insert":
            key = _LIKE.get(event.key, key)
        was = vim.mode
        step = vim.press(key or event.key, area.text, self._cursor())
        if step is None:
            return False
        self._apply(step)
        if was != vim.mode:
            area.history.checkpoint()
        return True

    def _cursor(self) -> int:
        row, column = self._area.selection.end
        lines = self._area.document.lines
        end = sum(len(line) + 1 for line in lines[:row]) + column
        return end - 1 if self._vim.mode == "visual" and end > self._vim.anchor else end

    def _apply(self, step: VimStep) -> None:
        area = self._area
        old, new = area.text, step.text
        if new != old:
            start = _same(old, new)
            tail = _same(old[start:][::-1], new[start:][::-1])
            ends = _location(old, start), _location(old, len(old) - tail)
            area.replace(new[start : len(new) - tail], *ends, maintain_selection_offset=False)
        text = area.text
        if self._vim.mode == "visual":
            anchor = self._vim.anchor
            first = anchor + (step.cursor < anchor)
            last = step.cursor + (step.cursor >= anchor)
            area.selection = Selection(_location(text, first), _location(text, last))
        else:
            area.move_cursor(_location(text, step.cursor))
        match step.then:
            case "undo":
                for _ in range(step.times):
                    area.undo()
            case "older":
                self._older()
            case "newer":
                self._newer()


def _same(one: str, other: str) -> int:
    """Characters at the start that both have."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _location(text: str, at: int) -> tuple[int, int]:
    at = min(at, len(text))
    return text.count("\n", 0, at), at - line_start(text, at)
