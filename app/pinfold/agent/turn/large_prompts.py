"""Prompts that would take too much of the window: their long texts go into files, and the prompt
keeps how they begin, or both their ends. The user's own words stay."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count as count_up
from pathlib import Path

from msgspec import Struct

from pinfold import atomic_files
from pinfold.agent.record import Record
from pinfold.compaction.budget import CUT_REQUEST, LARGE_REQUEST
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.provenance import Prompt, Span
from pinfold.tools.workspace import size_text
from pinfold.window.reading import GaugeReading

HEAD = 0.0625, 1_000
"""Of the context window, and tokens at most, that stay in the prompt of a text that is attached."""
NOTE = 100
"""Tokens, about, of the note that stands for what went."""
LINE = 2_000
"""Characters of a line that `read_file` shows: what is longer continues in the next line."""


class Size(Struct, frozen=True):
    """A prompt that is too large to be sent without a word."""

    tokens: int
    window: int
    """The model's context window."""
    free: int
    """Tokens that are left in the window."""

    @property
    def fits(self) -> bool:
        """Whether it could be sent whole."""
        return self.tokens <= self.free


class Smaller(Struct, frozen=True):
    """What is sent in its place."""

    prompt: Prompt
    files: tuple[Path, ...]
    """Where its long texts are, whole."""


class _CutSpan(Struct, frozen=True):
    """A span that goes, and what is there."""

    start: int
    end: int
    note: str


@dataclass(eq=False)
class LargePrompts:
    _record: Record
    _model: Callable[[], ModelInfo]
    _reading: Callable[[], GaugeReading]
    _refuses: Callable[[], object]
    """Whether the session takes no prompts, whatever their size."""

    def may_be(self, text: str) -> bool:
        """Whether `text` may be too large, told by its bytes: no token has less than one."""
        return len(text.encode(errors="replace")) > self._limit

    async def measure(self, prompt: Prompt) -> Size | None:
        """How large it is; None where it can be sent as it is."""
        if self._refuses() or not self.may_be(prompt.text):
            return None
        tokens = await asyncio.to_thread(self._count, prompt.text)
        if tokens <= self._limit:
            return None
        reading = self._reading()
        free = max(0, reading.usable - reading.used)
        return Size(tokens, self._model().context_window, free)

    async def attach(self, prompt: Prompt) -> Smaller:
        """Put its long texts into files that `read_file` reads in pieces; how each begins stays.

        Raises `OSError`.
        """
        share, most = HEAD
        keep = min(most, int(share * self._model().context_window))
        return await asyncio.to_thread(self._shorten, prompt, keep, ends=False)

    async def cut(self, prompt: Prompt) -> Smaller:
        """Keep both ends of its long texts; they are whole in files as well. Raises `OSError`."""
        keep = int(CUT_REQUEST * self._model().context_window)
        return await asyncio.to_thread(self._shorten, prompt, keep, ends=True)

    @property
    def _limit(self) -> float:
        return LARGE_REQUEST * self._model().context_window

    def _count(self, text: str) -> int:
        return self._record.gauge.counter.measure(text)

    def _shorten(self, prompt: Prompt, keep: int, *, ends: bool) -> Smaller:
        """`keep` tokens stay, of all that is shortened."""
        text = prompt.text
        long = self._too_long(prompt, int(self._limit) - keep)
        cuts: list[_CutSpan] = []
        kept: list[Path] = []
        for start, end in long:
            part = text[start:end]
            head, tail = self._end_lengths(part, keep // len(long), ends=ends)
            if head + tail < len(part):
                kept.append(_save(self._record.journal.folder / "outputs", part))
                note = self._cut_note(part, part[head : len(part) - tail], kept[-1])
                cuts.append(_CutSpan(start + head, end - tail, note))
        return Smaller(_apply(prompt, cuts), tuple(kept))

    def _too_long(self, prompt: Prompt, most: int) -> list[Span]:
        """The largest pasted texts, without which it takes at most `most` tokens; else all of it:
        then what was typed is too long."""
        sizes = {(start, end): self._count(prompt.text[start:end]) for start, end in prompt.pasted}
        left = self._count(prompt.text)
        long: list[Span] = []
        for span in sorted(sizes, key=lambda span: -sizes[span]):
            if left <= most:
                break
            long.append(span)
            left -= sizes[span] - NOTE
        return sorted(long) if left <= most else [(0, len(prompt.text))]

    def _end_lengths(self, text: str, keep: int, *, ends: bool) -> tuple[int, int]:
        """Characters at the beginning and the end of `text` that take at most `keep` tokens."""
        if not ends:
            return self._head_length(text, keep), 0
        head = self._head_length(text, keep * 2 // 3)
        return head, self._head_length(text[head:][::-1], keep // 3)

    def _head_length(self, text: str, keep: int) -> int:
        """Characters that it begins with, in at most `keep` tokens; whole lines, if it can be."""
        length = min(len(text), keep * 8)
        while length and self._count(text[:length]) > keep:
            length = length * 4 // 5
        if length == len(text):
            return length
        return text.rfind("\n", 0, length) + 1 or length

    def _cut_note(self, text: str, left: str, file: Path) -> str:
        lines = left.strip("\n").count("\n") + 1
        gone = f"{lines:,} lines" if lines > 1 else f"{len(left):,} characters"
        if not self._model().tools:
            return f"\n[… {gone} left out …]\n"
        every = text.strip("\n").count("\n") + 1
        size = size_text(len(text.encode(errors="replace")))
        whole = f"{every:,} lines, {size}" if every > 1 else size
        return (
            f"\n[… {gone} left out: the whole text ({whole}) is in {file}; "
            "read_file reads it in pieces …]\n"
        )


def _apply(prompt: Prompt, cuts: Sequence[_CutSpan]) -> Prompt:
    """The prompt with notes in the place of what was cut; they are none of the user's words."""
    pieces: list[str] = []
    notes: list[Span] = []
    size = at = 0
    for cut in cuts:
        pieces += (prompt.text[at : cut.start], cut.note)
        size += cut.start - at
        notes.append((size, size + len(cut.note)))
        size += len(cut.note)
        at = cut.end
    pieces.append(prompt.text[at:])

    def moved(position: int) -> int:
        shift = 0
        for cut in cuts:
            if position <= cut.start:
                break
            shift += len(cut.note) - (min(position, cut.end) - cut.start)
        return position + shift

    spans = [*((moved(start), moved(end)) for start, end in prompt.pasted), *notes]
    return Prompt("".join(pieces), tuple(sorted(span for span in spans if span[0] < span[1])))


def _save(folder: Path, text: str) -> Path:
    """A file with `text`, such that `read_file` shows all of it. Raises `OSError`."""
    atomic_files.make_folder(folder)
    for number in count_up(1):
        path = folder / (f"attached-{number}.txt" if number > 1 else "attached.txt")
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(fd, "wb") as file:
            file.writelines(f"{line}\n".encode(errors="replace") for line in _lines(text))
            file.flush()
            os.fsync(fd)
        return path
    raise AssertionError


def _lines(text: str) -> Iterator[str]:
    """Lines of at most `LINE` characters; no tool reads a text with NUL characters."""
    for line in text.replace("\0", "␀").removesuffix("\n").split("\n"):
        yield from (line[at : at + LINE] for at in range(0, max(1, len(line)), LINE))
