"""Vim keys: what a key does to a text and its cursor.

Pure; offsets are characters from the start of the text. `vim_keys.py` applies it to the prompt.
"""

import math
import re
from typing import Literal, NamedTuple

from pinfold.tui.prompt.vim_motions import (
    MOTIONS,
    first_word,
    line_end,
    line_start,
    on_a_character,
    word_end,
)

Mode = Literal["insert", "normal", "visual"]

_MOTION = r"gg|[fFtT].|[wbeWBEhjkl0^$G;,]"
_COUNT = r"(?P<count>[1-9]\d*)?"
_NORMAL = re.compile(
    rf"{_COUNT}(?:(?P<operator>[dcy])(?P<times>[1-9]\d*)?(?P<target>{_MOTION}|(?P=operator))"
    rf"|(?P<motion>{_MOTION})|(?P<command>r.|[iaoOAIxXDCsSpPuv.]))",
    re.DOTALL,
)
_VISUAL = re.compile(rf"{_COUNT}(?:(?P<motion>{_MOTION})|(?P<command>[dxcsyvp]))", re.DOTALL)
_BEGUN = re.compile(r"(?:[1-9]\d*)?(?:[dcy](?:[1-9]\d*)?)?[gfFtTr]?")
"""What may still become a command."""
_MOST = 10_000
"""The largest count."""


class VimStep(NamedTuple):
    """What is in the prompt after a key."""

    text: str
    cursor: int
    then: Literal["", "undo", "older", "newer"] = ""
    """What the prompt does besides, `times` times: `older` and `newer` go through its history."""
    times: int = 1


class Vim:
    """The mode, the keys typed so far of a command, the register and the last change."""

    def __init__(self) -> None:
        self.mode: Mode = "insert"
        self.keys = ""
        """The beginning of a command."""
        self.anchor = 0
        """The other end of the selection in visual mode."""
        self._register = ""
        self._has_lines = False
        """Whether the register holds whole lines."""
        self._find = ""
        """The last `f`, `F`, `t` or `T` with its character."""
        self._change = ""
        self._insertion: tuple[str, str] = ("", "")
        """The text before and behind the cursor when the insertion began."""
        self._inserted = ""

    def press(self, key: str, text: str, cursor: int) -> VimStep | None:
        """What the key does; None where it is none of vim's, so that the prompt takes it.

        `key` is a character or `escape`.
        """
        if self.mode == "insert":
            return self._leave_insert(text, cursor) if key == "escape" else None
        if key == "escape":
            return self._escape(text, cursor)
        if len(key) != 1:
            return None
        self.keys += key
        parsed = (_VISUAL if self.mode == "visual" else _NORMAL).fullmatch(self.keys)
        if parsed is None:
            if not _BEGUN.fullmatch(self.keys):
                self.keys = ""
            return VimStep(text, cursor)
        self.keys = ""
        return self._run(parsed, text, cursor)

    def insert(self) -> None:
        """Begin with an empty prompt: what is typed is text."""
        self.mode, self.keys, self._insertion = "insert", "", ("", "")

    def _escape(self, text: str, cursor: int) -> VimStep | None:
        if self.mode == "normal" and not self.keys:
            return None
        self.mode, self.keys = "normal", ""
        return VimStep(text, cursor)

    def _leave_insert(self, text: str, cursor: int) -> VimStep:
        before, behind = self._insertion
        end = len(text) - len(behind)
        if text.startswith(before) and text.endswith(behind) and len(before) <= end:
            self._inserted = text[len(before) : end]
        self.mode = "normal"
        return VimStep(text, max(line_start(text, cursor), cursor - 1))

    def _run(self, parsed: re.Match[str], text: str, cursor: int) -> VimStep:
        found = parsed.groupdict()
        counts = [int(found[name]) for name in ("count", "times") if found.get(name)]
        count = min(math.prod(counts), _MOST) if counts else None
        if self.mode == "visual":
            return self._visual(found, text, cursor, count)
        if motion := found["motion"]:
            return self._move(motion, text, cursor, count)
        if operator := found["operator"]:
            if operator != "y":
                self._change = parsed.group()
            return self._operate(operator, found["target"], text, cursor, count)
        command = found["command"]
        if command not in "uv.":
            self._change = parsed.group()
        return self._command(command, text, cursor, count)

    # Motions

    def _target(self, motion: str, text: str, cursor: int, count: int | None) -> int | None:
        """Where `motion` leads; None where it leads nowhere."""
        if motion in ";,":
            if not self._find:
                return None
            motion = self._find if motion == ";" else self._find[0].swapcase() + self._find[1]
        elif motion[0] in "fFtT":
            self._find = motion
        return MOTIONS[motion[0]](motion, text, cursor, count)

    def _move(self, motion: str, text: str, cursor: int, count: int | None) -> VimStep:
        if motion == "k" and line_start(text, cursor) == 0:
            return VimStep(text, cursor, "older")
        if motion == "j" and line_end(text, cursor) == len(text):
            return VimStep(text, cursor, "newer")
        target = self._target(motion, text, cursor, count)
        return VimStep(text, cursor if target is None else on_a_character(text, target))

    # Changes

    def _operate(
        self, operator: str, motion: str, text: str, cursor: int, count: int | None
    ) -> VimStep:
        if motion == operator:
            last = cursor
            for _ in range((count or 1) - 1):
                last = min(line_end(text, last) + 1, len(text))
            return self._lines(operator, text, cursor, last)
        if operator == "c" and motion in "wW" and text[cursor : cursor + 1].strip():
            target: int | None = word_end(motion, text, cursor - 1, count)
            motion = "e"
        else:
            target = self._target(motion, text, cursor, count)
        if target is None:
            return VimStep(text, cursor)
        if motion in ("j", "k", "gg", "G"):
            return self._lines(operator, text, *sorted((cursor, target)))
        if motion == "l":
            target = min(cursor + (count or 1), line_end(text, cursor))
        start, end = sorted((cursor, target))
        if motion in "wW" and "\n" in text[start:end]:
            end = line_end(text, start)  # a word's operator stays on its line
        if motion == "$":
            end = line_end(text, cursor)
        elif motion in "eE" or (motion[0] in "ft;," and target > cursor):
            end = min(end + 1, len(text))
        return self._span(operator, text, start, end)

    def _span(self, operator: str, text: str, start: int, end: int) -> VimStep:
        self._register, self._has_lines = text[start:end], False
        if operator == "y":
            return VimStep(text, start)
        text = text[:start] + text[end:]
        if operator == "c":
            return self._begin(text, start)
        return VimStep(text, on_a_character(text, start))

    def _lines(self, operator: str, text: str, first: int, last: int) -> VimStep:
        """An operator on all lines from that of `first` to that of `last`."""
        start, end = line_start(text, first), line_end(text, last)
        self._register, self._has_lines = text[start:end], True
        if operator == "y":
            return VimStep(text, first)
        if operator == "c":
            return self._begin(text[:start] + text[end:], start)
        is_last = end == len(text)
        text = text[: max(0, start - 1)] if is_last else text[:start] + text[end + 1 :]
        start = line_start(text, min(start, len(text)))
        return VimStep(text, first_word(text, start))

    def _begin(self, text: str, cursor: int) -> VimStep:
        self.mode = "insert"
        self._insertion = (text[:cursor], text[cursor:])
        return VimStep(text, cursor)

    def _command(self, command: str, text: str, cursor: int, count: int | None) -> VimStep:
        times = count or 1
        start, end = line_start(text, cursor), line_end(text, cursor)
        match command[0]:
            case "u":
                return VimStep(text, cursor, "undo", times)
            case "v":
                self.mode, self.anchor = "visual", cursor
                return VimStep(text, cursor)
            case ".":
                return self._repeat(text, cursor, count)
            case "i":
                return self._begin(text, cursor)
            case "a":
                return self._begin(text, min(cursor + 1, end))
            case "A":
                return self._begin(text, end)
            case "I":
                return self._begin(text, first_word(text, start))
            case "o":
                return self._begin(f"{text[:end]}\n{text[end:]}", end + 1)
            case "O":
                return self._begin(f"{text[:start]}\n{text[start:]}", start)
            case "x":
                return self._span("d", text, cursor, min(cursor + times, end))
            case "X":
                return self._span("d", text, max(start, cursor - times), cursor)
            case "s":
                return self._span("c", text, cursor, min(cursor + times, end))
            case "S":
                return self._operate("c", "c", text, cursor, count)
            case "D" | "C":
                return self._span(command.lower(), text, cursor, end)
            case "r":
                if cursor + times > end:
                    return VimStep(text, cursor)
                replaced = text[:cursor] + command[1] * times + text[cursor + times :]
                return VimStep(replaced, cursor + times - 1)
            case _:
                return self._put(text, cursor, times, before=command == "P")

    def _put(self, text: str, cursor: int, times: int, before: bool) -> VimStep:
        if not self._register and not self._has_lines:
            return VimStep(text, cursor)
        times = min(times, max(1, 1_000_000 // max(1, len(self._register))))
        if self._has_lines:
            at = line_start(text, cursor) if before else line_end(text, cursor)
            lines = "\n".join([self._register] * times)
            put = f"{lines}\n" if before else f"\n{lines}"
            return VimStep(text[:at] + put + text[at:], first_word(text, at) if before else at + 1)
        at = cursor if before else min(cursor + 1, line_end(text, cursor))
        put = self._register * times
        return VimStep(text[:at] + put + text[at:], max(at, at + len(put) - 1))

    def _repeat(self, text: str, cursor: int, count: int | None) -> VimStep:
        """The last change again; a count replaces its own."""
        parsed = _NORMAL.fullmatch(self._change)
        if parsed is None:
            return VimStep(text, cursor)
        change, inserted = self._change, self._inserted
        if count is not None:
            own = re.sub(r"^[1-9]\d*", "", change)
            parsed = _NORMAL.fullmatch(f"{count}{own}") or parsed
        step = self._run(parsed, text, cursor)
        self._change = change
        if self.mode != "insert":
            return step
        self.mode = "normal"
        at = step.cursor
        text = step.text[:at] + inserted + step.text[at:]
        return VimStep(text, max(line_start(text, at), at + len(inserted) - 1))

    def _visual(
        self, found: dict[str, str | None], text: str, cursor: int, count: int | None
    ) -> VimStep:
        if motion := found["motion"]:
            target = self._target(motion, text, cursor, count)
            return VimStep(text, cursor if target is None else on_a_character(text, target))
        self.mode = "normal"
        start, end = sorted((self.anchor, cursor))
        end = min(end + 1, len(text))
        match found["command"]:
            case "v":
                return VimStep(text, cursor)
            case "p":
                text = text[:start] + self._register + text[end:]
                return VimStep(text, on_a_character(text, start))
            case "y":
                return self._span("y", text, start, end)
            case "c" | "s":
                return self._span("c", text, start, end)
            case _:
                return self._span("d", text, start, end)
