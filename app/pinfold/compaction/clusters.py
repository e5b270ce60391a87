"""Splits a window into clusters of related turns, and these into pieces that a model can read at
once."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

from msgspec import Struct

from pinfold.compaction.transcript import parts_of
from pinfold.compaction.view import WindowEntry

GAP = timedelta(minutes=30)
"""Silence after which a new cluster begins."""
_SMALLEST = 200
"""Characters of a piece that is not halved again."""

Cluster = tuple[WindowEntry, ...]


class Piece(Struct, frozen=True):
    """What a model reads at once."""

    texts: tuple[str, ...]
    """Items, or parts of one."""

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def first_lines(self) -> list[str]:
        """How each item, or part of one, begins."""
        return [text.partition(": ")[2].partition("\n")[0] for text in self.texts]

    def halves(self) -> tuple["Piece", ...]:
        """Two smaller pieces, which leave nothing out; none where it is too small for that."""
        if len(self.texts) > 1:
            middle = len(self.texts) // 2
            return Piece(self.texts[:middle]), Piece(self.texts[middle:])
        text = self.text
        if len(text) < _SMALLEST:
            return ()
        head, middle = text.partition(": ")[0], len(text) // 2
        return Piece((text[:middle],)), Piece((f"{head} (continued): {text[middle:]}",))


def clusters(entries: Iterable[WindowEntry]) -> list[Cluster]:
    """Turns that follow each other without a gap and share a file, or concern none."""
    found: list[list[WindowEntry]] = []
    files: set[str] = set()
    for turn in _turns(entries):
        own = {path for entry in turn for path in entry.files}
        follows = bool(found) and turn[0].at - found[-1][-1].at < GAP
        if follows and (not own or not files or own & files):
            found[-1] += turn
            files |= own
        else:
            found.append(turn)
            files = own
    return [tuple(cluster) for cluster in found]


def pieces(some: Sequence[Cluster], most: int, count: Callable[[str], int]) -> list[Piece]:
    """The clusters, oldest first, in pieces of at most `most` tokens.

    A cluster is split only if it does not fit alone, and an item likewise.
    """
    found: list[Piece] = []
    texts: list[str] = []
    left = most
    for cluster in some:
        parts = [(part, count(part) + 1) for part in _parts(cluster, most, count)]
        whole = sum(tokens for _, tokens in parts)
        if left < whole <= most:
            left = 0
        for part, tokens in parts:
            if tokens > left and texts:
                found.append(Piece(tuple(texts)))
                texts, left = [], most
            texts.append(part)
            left -= tokens
    return [*found, Piece(tuple(texts))] if texts else found


def _turns(entries: Iterable[WindowEntry]) -> list[list[WindowEntry]]:
    found: list[list[WindowEntry]] = []
    for entry in entries:
        begins = entry.item.kind == "user" and not (found and found[-1][-1].item.kind == "user")
        if begins or not found:
            found.append([])
        found[-1].append(entry)
    return found


def _parts(cluster: Cluster, most: int, count: Callable[[str], int]) -> list[str]:
    return [part for entry in cluster for part in parts_of(entry, most - 1, count)]
