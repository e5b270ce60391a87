"""What the ledger keeps: names that the agent needs later, files and errors, of recorded sessions.

Names are those of `ledger_names`, each session's cuts count alike, all figures are shares lost.
*Used later*: seen before the cut, and in a tool call after it, whatever had shown it again by then.
*From memory*: of these, the ones that a call refers to before the new window has shown them.
"""

import os
import posixpath
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from benchmarks.figures import Figure
from pinfold.adopt import detect
from pinfold.checkpoint.ledger import Ledger
from pinfold.checkpoint.ledger_names import Name, call_texts, names
from pinfold.checkpoint.ledger_outcomes import failures
from pinfold.checkpoint.ledger_page import INDENT
from pinfold.checkpoint.ledger_records import Records
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.view import HOW_TO, view_v1
from pinfold.rollout.events import ArtifactObserved, Event, ItemAdded, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

ROOT = Path(__file__).parents[1]
SESSIONS = Path(os.environ.get("PINFOLD_SESSIONS") or ROOT.parent / "shared" / "sessions")
"""Recorded sessions of other tools; they are no part of the project."""
TARGETS = {250: 0.35, 1_000: 0.10, 4_000: 0.01}
"""The largest share of needed names that may be missing, by the ledger's tokens."""
ARTIFACT_TOKENS = 1_200
FILES_LOST, CLASSES_LOST = 0.05, 0.20
CUT = 0.6
_TAIL_CHARS_A_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Cut:
    """A point of a session, and what became of it."""

    ledger: Ledger
    view: str
    ranked: list[str]
    """All names, by the ledger's own order of worth."""
    seen: frozenset[Name]
    used: frozenset[Name]
    """Later, by calls."""
    recalled: frozenset[Name]
    """Of these, what calls refer to before the new window showed it."""
    changed: frozenset[str]
    read: frozenset[str]
    errors: dict[str, str] = field(default_factory=dict)
    """The newest message of each class."""
    tail: str = ""
    summary: str = ""
    """What the other tool's own compaction left, at a real compaction."""


def run() -> Iterator[Figure]:
    files = sorted(SESSIONS.glob("c*/*.jsonl"))
    if not files:
        print(f"Left out: there are no recorded sessions in {SESSIONS}.", flush=True)
        return
    counter = Counter("o200k_base")
    counter.load()
    halves = {"tuning half": files[::2], "held-out half": files[1::2]}
    for half, chosen in halves.items():
        cuts = [cut for file in chosen for cut in cuts_of(list(detect.read(file).events))]
        yield from needs(half, cuts, counter)
        yield from artifacts(half, cuts, counter)
    yield from speed(max(files, key=lambda file: file.stat().st_size), counter)


def needs(half: str, cuts: list[Cut], counter: Counter) -> Iterator[Figure]:
    wanted: dict[str, Callable[[Cut], frozenset[Name]]] = {
        "used later": lambda cut: cut.used,
        "from memory": lambda cut: cut.recalled,
    }
    for what, names_of in wanted.items():
        for budget, target in TARGETS.items():
            title = f"{half}, {what}, {budget:,} tokens: missing from"
            kept = [told(cut.ledger.render(budget, counter.count)) for cut in cuts]
            lost = missing(zip(kept, map(names_of, cuts), strict=True))
            yield Figure(f"{title} the ledger", lost, "", target=target)
            bare = [bare_list(cut, budget, counter) for cut in cuts]
            lost = missing(zip(bare, map(names_of, cuts), strict=True))
            yield Figure(f"{title} a bare list of names", lost, "")
            tails = [last_tokens(cut.tail, budget, counter) for cut in cuts]
            lost = missing(zip(tails, map(names_of, cuts), strict=True))
            yield Figure(f"{title} a plain tail", lost, "")
        summed = [cut for cut in cuts if cut.summary]
        lost = missing((cut.summary, names_of(cut)) for cut in summed)
        size = fmean(counter.count(cut.summary) for cut in summed)
        yield Figure(f"{half}, {what}: missing from the tools' own summaries", lost, "")
        yield Figure(f"{half}: the tools' own summaries", size, "tokens")
    yield Figure(
        f"{half}: how-to and view", fmean(counter.count(cut.view) for cut in cuts), "tokens"
    )


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
    for event in events:
        ledger.step(event)
    stepped = time.process_time()
    ledger.commitments()
    read = time.process_time()
    ledger.render(4_000, counter.count)
    first = time.process_time()
    ledger.render(4_000, counter.count)
    again = time.process_time()
    a_million = 1e6 / len(events)
    yield Figure("step, an event", (stepped - begun) * a_million, "µs", target=30)
    yield Figure("step and reading its text, an event", (read - begun) * a_million, "µs")
    yield Figure("render, 4,000 tokens, first", (first - read) * 1e3, "ms")
    yield Figure("render, 4,000 tokens, again", (again - first) * 1e3, "ms")


def cuts_of(events: list[Event]) -> Iterator[Cut]:
    """Before each compaction that the recording holds, and at 60% of the items."""
    replaced = [
        at
        for at, event in enumerate(events)
        if isinstance(event.data, WindowReplaced) and event.data.reason == "adopted"
    ]
    added = [at for at, event in enumerate(events) if isinstance(event.data, ItemAdded)]
    for at in sorted({*replaced, added[int(len(added) * CUT)]}):
        end = next((each for each in replaced if each > at), len(events))
        yield cut_at(events, at, end)


def cut_at(events: list[Event], at: int, end: int) -> Cut:
    ledger, state, records = Ledger(), CheckpointState(), Records()
    changed: set[str] = set()
    read: set[str] = set()
    errors: dict[str, str] = {}
    before: list[Item] = []
    for event in events[:at]:
        ledger.step(event)
        state.step(event)
        match event.data:
            case ItemAdded(item=item):
                before.append(item)
                records.cwd = state.cwd
                records.add(item)
                failed = item.detail.get("ok") is False and item.state != "unknown"
                if item.kind == "tool_result" and failed:
                    errors |= {each.label: each.line for each in failures(item.content)}
            case ArtifactObserved(kind="file", op=op, uri=uri) if op != "list":
                (read if op == "read" else changed).add(uri)
    after = [event.data.item for event in events[at:end] if isinstance(event.data, ItemAdded)]
    seen = frozenset(name for item in before for name in names_in(item, state.cwd))
    replaced = events[at].data
    summary = ""
    if isinstance(replaced, WindowReplaced):
        summary = "\n".join(item.content for item in replaced.inserted)
    return Cut(
        ledger=ledger,
        view=HOW_TO + view_v1(state.snapshot()),
        ranked=sorted(
            records.names, key=lambda name: -records.names[name].weight.value(records.now)
        ),
        seen=seen,
        used=seen
        & {
            name for item in after if item.kind == "tool_call" for name in names_in(item, state.cwd)
        },
        recalled=seen & recalled(after, state.cwd),
        changed=frozenset(changed),
        read=frozenset(read),
        errors=errors,
        tail=tail(before),
        summary=summary,
    )


def recalled(items: list[Item], cwd: str) -> set[Name]:
    shown: set[Name] = set()
    found: set[Name] = set()
    for item in items:
        if item.kind == "tool_call":
            found |= set(names(call_texts(item)[0], cwd)) - shown
        elif item.kind in {"tool_result", "user", "context"}:
            shown |= set(names(item.content, cwd))
    return found


def names_in(item: Item, cwd: str) -> list[Name]:
    text = "\n".join(call_texts(item)) if item.kind == "tool_call" else item.content
    return list(names(text, cwd))


def told(text: str) -> str:
    """The ledger's text, and the paths in it whose folder stands above them, whole."""
    paths: list[str] = []
    root = folder = ""
    for line in text.splitlines():
        if line.startswith(INDENT) and line.endswith("/"):
            folder = posixpath.join(root, line.strip())
            paths.append(folder)
        elif line.endswith("/") and not line.startswith("- "):
            root = folder = "" if line == "./" else line
        elif line.startswith("["):
            root = folder = ""
        elif line.startswith("- "):
            first, _, rest = line[2:].partition(": ")
            listed = rest.split(", ") if first == "seen" else [first]
            paths += [posixpath.join(folder, name) for name in listed]
    return "\n".join([text, *paths])


def missing(pairs: Iterable[tuple[str, Iterable[Name]]]) -> float:
    """The mean, over cuts, of the share of names that a text does not hold."""
    shares = [fmean(name.text not in text for name in wanted) for text, wanted in pairs if wanted]
    return fmean(shares)


def bare_list(cut: Cut, budget: int, counter: Counter) -> str:
    """The same names in the same order, with nothing said of them."""
    lines: list[str] = []
    for name in cut.ranked:
        cost = counter.count(f"{name}\n")
        if cost <= budget:
            budget -= cost
            lines.append(name)
    return "\n".join(lines)


def tail(items: list[Item]) -> str:
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
