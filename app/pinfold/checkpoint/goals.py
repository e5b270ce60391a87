"""A goal that the user puts in the place of what the session began with."""

from pinfold.checkpoint.commitments_cues import languages, plain
from pinfold.checkpoint.commitments_prose import sentences
from pinfold.checkpoint.text import one_line


class Goal:
    """The user's last word on it; nothing while what they first asked for, or set, stands."""

    def __init__(self) -> None:
        self._said: list[tuple[str, int]] = []
        self._asked = False
        """Whether there was a request that another can take the place of."""

    def read(self, text: str, item: int) -> None:
        """Take a message of the user's."""
        if self._asked and (found := _shifted(text)):
            self._said.append((found, item))
        self._asked = self._asked or bool(text.strip())

    def reset(self) -> None:
        """The goal was set by hand."""
        self._said.clear()

    def retract(self, after: int) -> None:
        """Forget what came after the item #`after`, which a rewind took back."""
        self._said = [each for each in self._said if each[1] <= after]

    def standing(self) -> tuple[str, int]:
        """Verbatim, from where it begins to the end of its paragraph, and its message."""
        return self._said[-1] if self._said else ("", 0)


def _shifted(text: str) -> str:
    for each in sentences(text):
        said = plain(each.text)
        if each.text.endswith("?") or not any(cues.shift.search(said) for cues in languages()):
            continue
        told = _paragraph(text, each.text)
        # "The plans change every week." names nothing that could be meant instead.
        if any(cues.makes.search(plain(told)) for cues in languages()):
            return told
    return ""


def _paragraph(text: str, sentence: str) -> str:
    """From that sentence on."""
    for part in map(one_line, text.split("\n\n")):
        if (at := part.find(sentence)) >= 0:
            return part[at:]
    return sentence
