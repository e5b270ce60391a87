"""What the digest keeps: names that the agent needs later, files and errors, of recorded sessions.

The readings of future need stand in `pinfold.evaluation.recorded`; here they are shares that a text
does not hold, and each cut counts alike. A list of bare names would do better: it is no target.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.figures import Figure
from pinfold.adopt import detect
from pinfold.digests.choice import choose, render
from pinfold.evaluation.recorded import SessionCut, cuts_of
from pinfold.rollout.events import WindowReplaced
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

ROOT = Path(__file__).parents[1]
SESSIONS = Path(os.environ.get("PINFOLD_SESSIONS") or ROOT.parent / "shared" / "sessions")
"""Recorded sessions of other tools; they are no part of the project."""
BUDGETS = (250, 1_000, 4_000)
_TAIL_CHARS_A_TOKEN = 16

READINGS: dict[str, Callable[[SessionCut], Iterable[str]]] = {
    "future need": lambda cut: cut.needed,
    "to the letter": lambda cut: [name.text for name in cut.used],
    "from memory": lambda cut: [name.text for name in cut.recalled],
    "files changed": lambda cut: cut.changed,
    "error messages": lambda cut: cut.errors.values(),
}


def run() -> Iterator[Figure]:
    files = sorted(SESSIONS.glob("c*/*.jsonl"))
    if not files:
        print(f"Left out: there are no recorded sessions in {SESSIONS}.", flush=True)
        return
    counter = Counter("o200k_base")
    counter.load()
    cuts = [cut for file in files for cut in cuts_of(detect.read(file).events)]
    for budget in BUDGETS:
        kept = [render(choose(cut.known.record, budget)) for cut in cuts]
        last = [last_tokens(tail(cut.items), budget, counter) for cut in cuts]
        for reading, of in READINGS.items():
            title = f"{reading}, {budget:,} tokens: missing from"
            wanted = list(map(of, cuts))
            yield Figure(f"{title} the digest", missing(zip(kept, wanted, strict=True)), "")
            yield Figure(f"{title} a plain tail", missing(zip(last, wanted, strict=True)), "")
    summed = [cut for cut in cuts if summary(cut)]
    for reading, of in READINGS.items():
        share = missing((summary(cut), of(cut)) for cut in summed)
        yield Figure(f"{reading}: missing from the tools' own summaries", share, "")
    size = fmean(counter.count(summary(cut)) for cut in summed)
    yield Figure("the tools' own summaries", size, "tokens")


def missing(pairs: Iterable[tuple[str, Iterable[str]]]) -> float:
    """The mean, over cuts, of the share of names that a text does not hold."""
    listed = [(text, list(wanted)) for text, wanted in pairs]
    return fmean(fmean(name not in text for name in wanted) for text, wanted in listed if wanted)


def summary(cut: SessionCut) -> str:
    """What the other tool's own compaction left, at a real one."""
    data = cut.compaction.data if cut.compaction else None
    inserted = data.inserted if isinstance(data, WindowReplaced) else ()
    return "\n".join(item.content for item in inserted)


def tail(items: Sequence[Item]) -> str:
    text = ""
    for item in reversed(items):
        text = f"{item.content[-80_000:]}\n{text}"
        if len(text) > max(BUDGETS) * _TAIL_CHARS_A_TOKEN:
            break
    return text


def last_tokens(text: str, budget: int, counter: Counter) -> str:
    """As many of the last lines as fit."""
    lines: list[str] = []
    for line in reversed(text.splitlines()):
        cost = counter.count(line) + 1
        if cost > budget:
            return "\n".join([line[-2 * budget :], *lines])
        budget -= cost
        lines.insert(0, line)
    return "\n".join(lines)
