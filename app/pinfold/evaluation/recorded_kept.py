"""What a new window should still hold of an old one, and how much of it is there."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from pinfold.compaction.view import WindowView
from pinfold.evaluation.recorded import Cut, text_of
from pinfold.evaluation.recorded_scores import Measure
from pinfold.rollout.items import Item


class Wanted:
    """What should still are after a cut."""

    def __init__(self, cut: Cut, view: WindowView, budget: int) -> None:
        self._names: dict[Measure, frozenset[str]] = {
            "need": cut.needed,
            "letter": frozenset(name.text for name in cut.used),
            "memory": frozenset(name.text for name in cut.recalled),
            "changed": cut.changed,
            "read": cut.read,
        }
        self._words: dict[Measure, tuple[str, ...]] = {
            "errors": tuple(cut.errors.values()),
            "words": tuple(_user_words(view, budget)),
        }

    def kept_in(self, items: Sequence[Item]) -> dict[Measure, float]:
        """The shares that those items hold."""
        text = "\n".join(map(text_of, items))
        spaced = _plain(text)
        kept = {
            measure: _share(name in text for name in wanted)
            for measure, wanted in self._names.items()
            if wanted
        }
        kept |= {
            measure: _share(_plain(words) in spaced for words in wanted)
            for measure, wanted in self._words.items()
            if wanted
        }
        return kept


def _user_words(view: WindowView, budget: int) -> Iterator[str]:
    """The user's messages, newest first, as many as fit the budget."""
    for entry in reversed(view.entries):
        if entry.item.kind == "user" and entry.item.content.strip():
            budget -= entry.full
            if budget < 0:
                return
            yield entry.item.content


def _plain(text: str) -> str:
    return " ".join(text.split())


def _share(held: Iterable[bool]) -> float:
    return fmean(held)
