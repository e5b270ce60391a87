"""Messages of users, labelled by hand: what they lay down."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from pinfold.adopt import detect
from pinfold.rollout.events import ItemAdded

FOLDER = Path(__file__).parents[1] / "checkpoint" / "labelled"
_MARK = re.compile(r"\[\[(\w+): (.*?)\]\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Message:
    text: str
    labels: tuple[str, ...]
    either: tuple[str, ...] = ()
    """What people would not agree on: taking it is no fault, nor is leaving it."""


@dataclass(frozen=True, slots=True)
class Score:
    wanted: int
    missed: list[str]
    wrong: list[str]

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / self.wanted

    @property
    def precision(self) -> float:
        right = self.wanted - len(self.missed)
        return right / (right + len(self.wrong))


def rounds() -> dict[str, list[Message]]:
    """Those of our own, by the round in which they were written."""
    files = sorted(FOLDER.glob("round_*.txt"), key=lambda file: int(file.stem.split("_")[1]))
    return {file.stem: list(_marked(file.read_text("utf-8"))) for file in files}


def _marked(text: str) -> Iterator[Message]:
    for message in text.split("\n---\n"):
        labels = tuple(label for _, label in _MARK.findall(message))
        yield Message(_MARK.sub(lambda mark: mark[2], message), labels)


def recorded(folder: Path) -> list[Message]:
    """Those of the recordings in `folder`, whose words are no part of the project.

    Raises `LookupError` where a recording does not hold what was labelled.
    """
    rows = [line.split("\t") for line in (FOLDER / "recorded.tsv").read_text("utf-8").splitlines()]
    found: list[Message] = []
    for (name, index), group in groupby(rows[1:], key=lambda row: (row[0], row[1])):
        events = detect.read(folder / name, int(index)).events
        items = (event.data.item for event in events if isinstance(event.data, ItemAdded))
        said = {item.n: item.content for item in items if item.kind == "user"}
        for _, _, n, digest, *labels in group:
            text = said.get(int(n), "")
            if not sha256(text.encode()).hexdigest().startswith(digest):
                raise LookupError(f"#{n} of {name} is not what was labelled")
            spans = [re.split("[:-]", span) for span in " ".join(labels).split()]
            told = [(kind, text[int(start) : int(end)]) for kind, start, end in spans]
            sure = tuple(label for kind, label in told if kind != "either")
            either = tuple(label for kind, label in told if kind == "either")
            found.append(Message(text, sure, either))
    return found


def score(messages: Iterable[Message], read: Callable[[str], Iterable[str]]) -> Score:
    """How well `read` finds what is labelled. A part of a label, or more around it, will do."""
    wanted, missed, wrong = 0, [], []
    for message in messages:
        found = list(read(message.text))
        wanted += len(message.labels)
        missed += [each for each in message.labels if not any(_same(each, text) for text in found)]
        known = (*message.labels, *message.either)
        wrong += [text for text in found if not any(_same(each, text) for each in known)]
    return Score(wanted, missed, wrong)


def _same(label: str, found: str) -> bool:
    label, found = _bare(label), _bare(found)
    return label in found or found in label


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
