"""Which of a rule's lines a window holds."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from pinfold.evaluation.gate.rules import GateQuestion
from pinfold.evaluation.recorded import spaced, text_of
from pinfold.rollout.items import Item


class KeptLine(Struct, frozen=True):
    """One thing that must be kept, and whether it is."""

    line: str
    """As the rule has it; of an exam, the question."""
    kept: bool
    why: str = ""
    """What is missing."""


class RuleCheck(Struct, frozen=True):
    """How much of a rule a window holds."""

    lines: tuple[KeptLine, ...]
    tokens: int
    """Of the window."""
    not_run: str = ""
    """Why there is no such window."""

    @property
    def share(self) -> float:
        return sum(line.kept for line in self.lines) / len(self.lines) if self.lines else 0.0


def kept_in(
    keeps: Sequence[str], questions: Iterable[GateQuestion], items: Sequence[Item]
) -> Iterator[KeptLine]:
    """`items` are those of a window, as a request carries them."""
    texts = [text_of(item) for item in items]
    plain = spaced("\n".join(texts))
    for line in keeps:
        kind, _, rest = line.partition(":")
        if kind == "path":
            yield KeptLine(line, _holds_path(texts, rest.strip()))
        elif kind == "decision":
            yield KeptLine(line, _tells_of(items, texts, int(rest.strip().removeprefix("#"))))
        else:
            yield KeptLine(line, spaced(line) in plain)
    for question in questions:
        missing = [answer for answer in question.answers if spaced(answer) not in plain]
        yield KeptLine(question.question, not missing, ", ".join(missing))


def answered(question: GateQuestion, answer: str) -> KeptLine:
    """Whether what a model answered has all that it must have."""
    said = spaced(answer).casefold()
    missing = [text for text in question.answers if spaced(text).casefold() not in said]
    return KeptLine(question.question, not missing, ", ".join(missing))


def _holds_path(texts: Iterable[str], path: str) -> bool:
    """Whether it is there whole: `x.py` is not in `src/x.py.orig`."""
    whole = re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w/-]|\.\w)")
    return any(whole.search(text) for text in texts)


def _tells_of(items: Sequence[Item], texts: Sequence[str], n: int) -> bool:
    """Whether item `n` is in the window, or something in it quotes it by its number."""
    number = re.compile(rf"#{n}(?!\d)")
    return any(
        item.n == n or (item.kind in {"checkpoint", "summary"} and number.search(text))
        for item, text in zip(items, texts, strict=True)
    )
