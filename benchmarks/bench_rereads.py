"""Re-reads: what an agent reads again after a compaction only to remember what it knew.

The agent wants every file that it knew, and reads one again unless its request calls the file
unchanged. Recordings tell no hashes, so theirs are made up: a file has a new one with each change.
One file in three is changed by others just before the compaction.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from msgspec.structs import replace

from benchmarks.bench_memory_kept import SESSIONS
from benchmarks.figures import Figure
from benchmarks.files_listed import files_listed
from pinfold.adopt import detect
from pinfold.checkpoint.known import Known
from pinfold.compaction.engine import plan_with
from pinfold.compaction.refusals import Impossible, NoGain
from pinfold.compaction.rendering import rendered
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView, view_of
from pinfold.evaluation.recorded import SIMULATED
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ArtifactObserved, Event, ItemAdded, WindowReplaced
from pinfold.tokens.counter import Counter as TokenCounter
from pinfold.window.gauge import Gauge
from pinfold.window.window import Window

WINDOWS = (32_000, 128_000, 272_000)
ONE_IN = 3
"""Files, of which one is changed by others."""
LEFT = 0.0


@dataclass(frozen=True, slots=True)
class Cut:
    """A point of a recording."""

    window: Window
    gauge: Gauge
    known: Known
    same: dict[str, str]
    """Files that are as the session knew them, and their hashes."""
    changed: dict[str, str]
    """Files that others changed since, and their hashes now."""
    again: frozenset[str]
    """Files that the recorded agent read again later, as they were."""


def run() -> Iterator[Figure]:
    files = sorted(SESSIONS.glob("c*/*.jsonl"))
    if not files:
        print(f"Left out: there are no recorded sessions in {SESSIONS}.", flush=True)
        return
    counter = TokenCounter("o200k_base")
    counter.load()
    cuts = [cut for file in files for cut in cuts_of(list(detect.read(file).events), counter)]
    known = sorted(len(cut.same) for cut in cuts)
    yield Figure(f"unchanged files at a cut, {len(cuts)} cuts: median", known[len(known) // 2], "")
    yield Figure("unchanged files at a cut: most", known[-1], "")
    for size in WINDOWS:
        yield from rereads(size, cuts)


def rereads(size: int, cuts: list[Cut]) -> Iterator[Figure]:
    counts: Counter[str] = Counter()
    for cut in cuts:
        view = viewed(cut, size)
        try:
            plan = plan_with("checkpoint", view, Material(), PlanOptions())
        except (Impossible, NoGain):
            counts["left as they were"] += 1
            continue
        told = [shown.item.content for shown in rendered(view, plan.window, plan.inserted)]
        new = "\n".join(told)
        read = wanted(cut.same, new)
        counts["same"] += len(cut.same)
        counts["changed"] += len(cut.changed)
        counts["again"] += len(cut.again)
        counts["same, read"] += len(read)
        counts["changed, read"] += len(wanted(cut.changed, new))
        counts["again, read"] += len(read.keys() & cut.again)
        counts["tail, read"] += len(wanted(cut.same, last_tokens(view, plan.sizes.after)))
        counts["some read"] += bool(read)
        counts["compacted"] += 1
    title = f"window of {size // 1000}k, {counts['compacted']} compactions"
    same = max(counts["same"], 1)
    yield Figure(
        f"{title}: unchanged files read again ({counts['same, read']} of {counts['same']})",
        counts["same, read"] / same,
        "",
        target=LEFT,
    )
    yield Figure(
        f"{title}: the same, of those that the recorded agent read again ({counts['again']})",
        counts["again, read"] / max(counts["again"], 1),
        "",
        target=LEFT,
    )
    yield Figure(
        f"{title}: compactions with any such file",
        counts["some read"] / max(counts["compacted"], 1),
        "",
    )
    yield Figure(
        f"{title}: changed files not read again ({counts['changed']})",
        1 - counts["changed, read"] / max(counts["changed"], 1),
        "",
        target=LEFT,
    )
    yield Figure(
        f"{title}: unchanged files read again with a plain tail", counts["tail, read"] / same, ""
    )


def wanted(files: dict[str, str], told: str) -> dict[str, str]:
    """What the agent reads after that text: files that it does not call unchanged."""
    known = files_listed(told)
    return {uri: new for uri, new in files.items() if known.get(uri) != "unchanged"}


def viewed(cut: Cut, size: int) -> WindowView:
    model = ModelInfo("m", "p", size, "config", 16_384)
    return view_of(cut.window, cut.gauge, cut.known, model)


def last_tokens(view: WindowView, tokens: int) -> str:
    """The newest items of a window, within so many tokens."""
    texts: list[str] = []
    for entry in reversed(view.entries):
        tokens -= entry.tokens
        if tokens < 0:
            break
        texts.append(entry.item.content)
    return "\n".join(reversed(texts))


def cuts_of(events: list[Event], counter: TokenCounter) -> Iterator[Cut]:
    """Before each compaction that the recording holds, and at 60% of the items."""
    replaced = [at for at, event in enumerate(events) if isinstance(event.data, WindowReplaced)]
    added = [at for at, event in enumerate(events) if isinstance(event.data, ItemAdded)]
    for at in sorted({*replaced, added[int(len(added) * SIMULATED)]}):
        yield cut_at(events, at, counter)


def cut_at(events: list[Event], at: int, counter: TokenCounter) -> Cut:
    window, told = Window(), Known()
    gauge = Gauge(window, counter, "responses")
    versions: Counter[str] = Counter()
    known: dict[str, str] = {}

    def step(event: Event) -> None:
        for projection in (window, gauge, told):
            projection.step(event)

    for event in events[:at]:
        seen = event.data
        if is_file(seen):
            versions[seen.uri] += seen.op != "read"
            known.pop(seen.uri, None)
            if seen.op != "delete":
                known[seen.uri] = made_up(seen.uri, versions[seen.uri])
            step(Event(event.seq, event.ts, replace(seen, hash=known.get(seen.uri))))
        else:
            step(event)
    changed = {uri: made_up(uri, versions[uri] + 1) for uri in list(known)[::ONE_IN]}
    last = events[at - 1]
    for n, (uri, hashed) in enumerate(changed.items(), 1):
        found = ArtifactObserved(uri=uri, kind="file", op="read", hash=hashed)
        step(Event(last.seq + n, last.ts, found))
    same = {uri: hashed for uri, hashed in known.items() if uri not in changed}
    return Cut(window, gauge, told, same, changed, read_again(events[at:], frozenset(same)))


def read_again(events: list[Event], same: frozenset[str]) -> frozenset[str]:
    """Of some files, those that are read before they are changed."""
    first: dict[str, str] = {}
    for event in events:
        if is_file(event.data):
            first.setdefault(event.data.uri, event.data.op)
    return frozenset(uri for uri in same if first.get(uri) == "read")


def is_file(data: object) -> TypeGuard[ArtifactObserved]:
    return isinstance(data, ArtifactObserved) and data.kind == "file" and data.op != "list"


def made_up(uri: str, version: int) -> str:
    return hashlib.sha1(f"{uri} {version}".encode(), usedforsecurity=False).hexdigest()
