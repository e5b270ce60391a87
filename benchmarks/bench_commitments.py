"""Commitments: how many of the user's are found, and how much is taken for one, by labelled round.

Each round was written before the rules had met it, and taught them afterwards. On first sight they
missed 0.43, 0.40 and 0.62 of rounds 2 to 4, and 0.00, 0.06 and 0.11 of what they found was wrong.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from pinfold.checkpoint.commitments import commitments

LABELLED = Path(__file__).parents[1] / "tests" / "checkpoint" / "labelled"
MARK = re.compile(r"\[\[\w+: (.*?)\]\]", re.DOTALL)
LOST, WRONG = 0.05, 0.05


def run() -> Iterator[Figure]:
    for file in sorted(LABELLED.glob("*.txt")):
        wanted = found = right = 0
        messages = file.read_text("utf-8").split("\n---\n")
        for message in messages:
            labels = [_bare(label) for label in MARK.findall(message)]
            texts = [_bare(each.text) for each in commitments(MARK.sub(r"\1", message))]
            wanted += len(labels)
            found += len(texts)
            right += sum(any(label in text or text in label for text in texts) for label in labels)
        title = f"{file.stem}, {len(messages)} messages, {wanted} commitments"
        yield Figure(f"{title}: missed", 1 - right / wanted, "", target=LOST)
        yield Figure(f"{title}: wrong of those found", 1 - right / max(found, 1), "", target=WRONG)


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
