"""Chips: large pasted texts, each a short label in the prompt."""

import re

MAX_LINES = 8
MAX_CHARACTERS = 1_000

_LABEL = re.compile(r"\[pasted [\d,]+ (?:lines|characters) #(\d+)\]")


class Chips:
    """The pasted texts of a prompt, by number. They are kept so that an undo can bring one back."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def take(self, text: str) -> str:
        """What to insert for a pasted `text`: itself, or a label if it is large."""
        lines = text.removesuffix("\n").count("\n") + 1
        if lines <= MAX_LINES and len(text) <= MAX_CHARACTERS:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        size = f"{lines:,} lines" if lines > MAX_LINES else f"{len(text):,} characters"
        return f"[pasted {size} #{number}]"

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where labels are in `line`."""
        if not self._texts or "[pasted " not in line:
            return []
        return [m.span() for m in _LABEL.finditer(line) if int(m[1]) in self._texts]

    def expand(self, text: str) -> str:
        """`text` with every label replaced by what was pasted."""
        return _LABEL.sub(lambda m: self._texts.get(int(m[1]), m[0]), text)
