"""What the user has sent, over all sessions: `history.jsonl`."""

import os
from collections.abc import Sequence
from pathlib import Path

from pinfold.rollout.provenance import Span, slices, spans_of

KEPT = 1_000
"""Prompts that are read back."""


class History:
    """A walk through earlier prompts. What was in the prompt is kept at its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: list[str] = []
        self._pastes: dict[str, None] = {}
        self._at = 0
        self._draft = ""

    def load(self) -> None:
        """Read the file. Blocking; what can't be read is left out."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return
        import json

        entries: list[str] = []
        for line in lines[-KEPT:]:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            text, pasted = _read(entry)
            if text:
                entries.append(text)
                self._pastes.update(dict.fromkeys(pasted))
        self._entries[:0] = entries
        self._at = len(self._entries)

    def pastes_in(self, text: str) -> list[str]:
        """What was pasted into earlier prompts and is in `text`."""
        return [paste for paste in self._pastes if paste in text]

    def add(self, text: str, pasted: Sequence[Span] = ()) -> bool:
        """Take in what was sent; False where it is the newest entry anyway."""
        self._pastes.update(dict.fromkeys(slices(text, pasted)))
        fresh = not self._entries or self._entries[-1] != text
        if fresh:
            self._entries.append(text)
        self._at = len(self._entries)
        return fresh

    def write(self, text: str, pasted: Sequence[Span] = ()) -> None:
        """Append `text` to the file. Blocking. Raises `OSError`."""
        import json

        self._path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(fd, "ab") as file:
            entry = {"text": text, "pasted": pasted} if pasted else text
            file.write(json.dumps(entry).encode() + b"\n")

    def newest_first(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys(reversed(self._entries)))

    def commands(self) -> list[str]:
        """The names of the slash commands among them, one for each use."""
        starts = (entry[1:].partition(" ")[0] for entry in self._entries if entry[:1] == "/")
        return [name.strip() for name in starts]

    def older(self, now: str) -> str | None:
        """The prompt before; None at the oldest. `now` is what is in the prompt."""
        if self._at == 0:
            return None
        if self._at == len(self._entries):
            self._draft = now
        self._at -= 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The prompt after, at last what was there first; None beyond it."""
        if self._at == len(self._entries):
            return None
        self._at += 1
        return self._draft if self._at == len(self._entries) else self._entries[self._at]


def _read(entry: object) -> tuple[str, list[str]]:
    """The text of a line of the file, and what was pasted into it; nothing where it is no entry."""
    match entry:
        case str(text):
            return text, []
        case {"text": str(text), "pasted": recorded}:
            return text, slices(text, spans_of(recorded, len(text)))
        case _:
            return "", []
