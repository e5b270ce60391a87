"""What of the user's words is found, by labelled set.

*Commitments*: rules, constraints, preferences, values, decisions and the state of the task. Each of
our rounds was written before the rules had met it; all but 6 and 10 taught them afterwards. So did
the recorded sessions, whose labels were set before the rules ran. At first sight, missed and wrong
of those found:

| set | missed | wrong |
|---|---|---|
| rounds 2, 3, 4, by the rules of the round before | 0.43, 0.40, 0.62 | 0.00, 0.06, 0.11 |
| recorded, round 5, by the rules of round 4 | 0.65, 0.58 | 0.08, 0.08 |
| round 6, after round 5 and half of the recorded | 0.08 | 0.06 |
| the other half of the recorded | 0.27 | 0.37 |
| rounds 7, 8, 9, each after the one before | 0.49, 0.45, 0.39 | 0.05, 0.00, 0.00 |
| round 10, after all | 0.12 | 0.12 |
| the halves of round 11, before and after it taught | 0.55, 0.00 | 0.18, 0.09 |
"""

import os
from collections.abc import Iterator
from pathlib import Path

from tests.fakes.labelled import Message, recorded, rounds, score

from benchmarks.figures import Figure
from pinfold.checkpoint.commitments import commitments

ROOT = Path(__file__).parents[1]
SESSIONS = Path(os.environ.get("PINFOLD_SESSIONS") or ROOT.parent / "shared" / "sessions")
"""Recorded sessions of other tools; they are no part of the project."""
LOST, WRONG = 0.15, 0.15


def run() -> Iterator[Figure]:
    for name, messages in rounds().items():
        yield from _commitments(name.replace("_", " "), messages)
    if SESSIONS.is_dir():
        yield from _commitments("recorded", recorded(SESSIONS))


def _commitments(name: str, messages: list[Message]) -> Iterator[Figure]:
    found = score(messages, lambda text: [each.text for each in commitments(text)])
    title = f"{name}, {len(messages)} messages, {found.wanted} commitments"
    yield Figure(f"{title}: missed", 1 - found.recall, "", target=LOST)
    yield Figure(f"{title}: wrong of those found", 1 - found.precision, "", target=WRONG)
