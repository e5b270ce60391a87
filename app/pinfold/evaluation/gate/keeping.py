"""Which of a rule's lines a window holds."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from pinfold.evaluation.gate.rules import GateQuestion
from pinfold.evaluation.recorded import spaced, text_of
from pinfold.rollout.items import Item


class KeptLine(Struct, frozen=True):
    """A line of a rule, and whether the window keeps it."""

    line: str
    """As the rule has it; for an exam, the question."""
    kept: bool
    why: str = ""
    """What is missing."""


class RuleCheck(Struct, frozen=True):
    """How much of a rule a window keeps."""

    lines: tuple[KeptLine, ...]
    tokens: int
    not_run: str = ""
    """Why there is no window; empty if there is one."""

    @property
    def share(self) -> float:
        return sum(line.kept for line in self.lines) / len(self.lines) if self.lines else 0.0


def kept_in(
    keeps: Sequence[str], questions: Iterable[GateQuestion], items: Sequence[Item]
) -> Iterator[KeptLine]:
    """`items` are the window's, as a request carries them."""
    texts = [text_of(item) for item in items]
    plain = spaced("\n".join(texts))
    for line in keeps:
        kind, _, rest = line.partition(":")
        if kind == "path":
            yield KeptLine(line, _holds_path(texts, rest.strip()))
        elif kind == "decision":
            yield KeptLine(line, _has_or_quotes(items, texts, int(rest.strip().removeprefix("#"))))
        else:
            yield KeptLine(line, spaced(line) in plain)
    for question in questions:
        missing = [answer for answer in question.answers if spaced(answer) not in plain]
        yield KeptLine(question.question, not missing, ", ".join(missing))


def answered(question: GateQuestion, answer: str) -> KeptLine:
    """Whether a model's answer contains everything that it must."""
    said = spaced(answer).casefold()
    missing = [text for text in question.answers if spaced(text).casefold() not in said]
    return KeptLine(question.question, not missing, ", ".join(missing))


def _holds_path(texts: Iterable[str], path: str) -> bool:
    """Whether the path is there whole: `x.py` is not in `src/x.py.orig`."""
    whole = re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w/-]|\.\w)")
    return any(whole.search(text) for text in texts)


def _has_or_quotes(items: Sequence[Item], texts: Sequence[str], n: int) -> bool:
    """Whether the window has item `n`, or a digest or summary that quotes its number."""
    number = re.compile(rf"#{n}(?!\d)")
    return any(
        item.n == n or (item.kind in {"checkpoint", "summary"} and number.search(text))
        for item, text in zip(items, texts, strict=True)
    )
