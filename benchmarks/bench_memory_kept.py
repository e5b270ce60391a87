"""What the ledger keeps: names that the agent needs later, files and errors, of recorded sessions.

The readings of future need stand in `pinfold.evaluation.recorded`; here they are shares that a text
does not hold, and each cut counts alike.
The ledger is measured as a compaction inserts it: its commitments stand elsewhere. A bare list has
base names and the other names in the ledger's order, with spaces between them.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from pinfold.checkpoint.ledger import Ledger
from pinfold.checkpoint.ledger_names import Name
from pinfold.checkpoint.ledger_records import Records

from benchmarks.figures import Figure
from pinfold.adopt import detect
from pinfold.checkpoint.view import HOW_TO, view_v1
from pinfold.evaluation.recorded import Cut, cuts_of, is_folder, short, told
from pinfold.rollout.events import WindowReplaced
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

ROOT = Path(__file__).parents[1]
SESSIONS = Path(os.environ.get("PINFOLD_SESSIONS") or ROOT.parent / "shared" / "sessions")
"""Recorded sessions of other tools; they are no part of the project."""
TARGETS = {250: 0.35, 1_000: 0.10, 4_000: 0.01}
"""The largest share of needed names that may be missing, by the ledger's tokens."""
ARTIFACT_TOKENS = 1_200
FILES_LOST, CLASSES_LOST = 0.05, 0.20
AGAIN = 5.0
"""Milliseconds."""
_TAIL_CHARS_A_TOKEN = 16


def run() -> Iterator[Figure]:
    files = sorted(SESSIONS.glob("c*/*.jsonl"))
    if not files:
        print(f"Left out: there are no recorded sessions in {SESSIONS}.", flush=True)
        return
    counter = Counter("o200k_base")
    counter.load()
    halves = {"tuning half": files[::2], "held-out half": files[1::2]}
    for half, chosen in halves.items():
        cuts = [cut for file in chosen for cut in cuts_of(detect.read(file).events)]
        yield from needs(half, cuts, counter)
        yield from artifacts(half, cuts, counter)
    yield from speed(max(files, key=lambda file: file.stat().st_size), counter)


def needs(half: str, cuts: list[Cut], counter: Counter) -> Iterator[Figure]:
    readings: dict[str, Callable[[Cut], Iterable[str]]] = {
        "future need": lambda cut: cut.needed,
        "to the letter": lambda cut: [name.text for name in cut.used],
        "from memory": lambda cut: [name.text for name in cut.recalled],
    }
    for budget, target in TARGETS.items():
        title = f"{half}, future need, {budget:,} tokens: missing from"
        kept = [told(each.ledger.render(budget, counter.count, commitments=False)) for each in cuts]
        lost = {
            what: missing(zip(kept, map(of, cuts), strict=True)) for what, of in readings.items()
        }
        yield Figure(f"{title} the ledger", lost.pop("future need"), "", target=target)
        bare = missing((bare_list(cut, budget, counter), cut.needed) for cut in cuts)
        yield Figure(f"{title} a bare list of names", bare, "")
        last = missing((last_tokens(tail(cut.items), budget, counter), cut.needed) for cut in cuts)
        yield Figure(f"{title} a plain tail", last, "")
        for reading, share in lost.items():
            yield Figure(
                f"{half}, {reading}, {budget:,} tokens: missing from the ledger", share, ""
            )
    summed = [cut for cut in cuts if summary(cut)]
    for reading, of in readings.items():
        share = missing((summary(cut), of(cut)) for cut in summed)
        yield Figure(f"{half}, {reading}: missing from the tools' own summaries", share, "")
    size = fmean(counter.count(summary(cut)) for cut in summed)
    yield Figure(f"{half}: the tools' own summaries", size, "tokens")
    size = fmean(counter.count(HOW_TO + view_v1(cut.checkpoint)) for cut in cuts)
    yield Figure(f"{half}: how-to and view", size, "tokens")


def artifacts(half: str, cuts: list[Cut], counter: Counter) -> Iterator[Figure]:
    shown = [(cut, cut.ledger.render(ARTIFACT_TOKENS, counter.count)) for cut in cuts]
    title = f"{half}, {ARTIFACT_TOKENS:,} tokens: missing"
    everything = [(told(text), cut) for cut, text in shown]
    groups: dict[str, Callable[[Cut], Iterable[str]]] = {
        "files changed": lambda cut: cut.changed,
        "files read": lambda cut: cut.read,
        "classes of errors": lambda cut: cut.errors,
        "error messages": lambda cut: cut.errors.values(),
    }
    for what, group in groups.items():
        wanted = [(text, each) for text, cut in everything for each in group(cut)]
        lost = fmean(each not in text for text, each in wanted)
        files = what.startswith("files")
        target = FILES_LOST if files else CLASSES_LOST
        yield Figure(f"{title} {what} ({len(wanted)})", lost, "", target=target)


def speed(file: Path, counter: Counter) -> Iterator[Figure]:
    """Of the largest session, in CPU time."""
    events = detect.read(file).events
    ledger = Ledger()
    begun = time.process_time()
    for event in events[:-1]:
        ledger.step(event)
    stepped = time.process_time()
    ledger.commitments()
    read = time.process_time()
    ledger.render(4_000, counter.count)
    first = time.process_time()
    ledger.render(4_000, counter.count)
    again = time.process_time()
    ledger.render(3_900, counter.count)
    other = time.process_time()
    ledger.step(events[-1])
    ledger.render(4_000, counter.count)
    later = time.process_time()
    a_million = 1e6 / len(events)
    yield Figure("step, an event", (stepped - begun) * a_million, "µs", target=30)
    yield Figure("step and reading its text, an event", (read - begun) * a_million, "µs")
    yield Figure("render, 4,000 tokens, first", (first - read) * 1e3, "ms")
    yield Figure("render, 4,000 tokens, again", (again - first) * 1e3, "ms", target=AGAIN)
    yield Figure("render, as many but 100", (other - again) * 1e3, "ms")
    yield Figure("render, 4,000 tokens, after one more event", (later - other) * 1e3, "ms")


def ranked(cut: Cut) -> list[str]:
    """Names but folders, files by their base name: the best for their length first."""
    records = Records()
    records.cwd = cut.cwd
    for item in cut.items:
        records.add(item)
    worth: dict[str, float] = {}
    for text, record in records.names.items():
        name = Name(record.kind, text)
        if not is_folder(name):
            each = short(name)
            worth[each] = worth.get(each, 0) + record.weight.value(records.now)
    return sorted(worth, key=lambda name: -worth[name] / len(name))


def missing(pairs: Iterable[tuple[str, Iterable[str]]]) -> float:
    """The mean, over cuts, of the share of names that a text does not hold."""
    listed = [(text, list(wanted)) for text, wanted in pairs]
    return fmean(fmean(name not in text for name in wanted) for text, wanted in listed if wanted)


def summary(cut: Cut) -> str:
    """What the other tool's own compaction left, at a real one."""
    data = cut.compaction.data if cut.compaction else None
    inserted = data.inserted if isinstance(data, WindowReplaced) else ()
    return "\n".join(item.content for item in inserted)


def bare_list(cut: Cut, budget: int, counter: Counter) -> str:
    """The same names in the same order, with nothing said of them."""
    found: list[str] = []
    for name in ranked(cut):
        cost = counter.count(f" {name}")
        if cost <= budget:
            budget -= cost
            found.append(name)
    return " ".join(found)


def tail(items: Sequence[Item]) -> str:
    text = ""
    for item in reversed(items):
        text = f"{item.content[-80_000:]}\n{text}"
        if len(text) > max(TARGETS) * _TAIL_CHARS_A_TOKEN:
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
