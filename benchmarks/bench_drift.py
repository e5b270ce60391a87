"""Drift: which edits of recorded sessions ask, as they were and of another file in their place.

After each compaction that a recording holds and from 60% of its items on, until the user's next
prompt; and at any time, as with `drift = "always"`. In the place of a file that was edited come
files of other repositories, files of the same one that the session has never named, and files
that earlier requests alone had to do with.
"""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.bench_tokens import SESSIONS
from benchmarks.figures import Figure
from pinfold.adopt import detect
from pinfold.checkpoint.known import Known
from pinfold.evaluation.recorded import SIMULATED
from pinfold.rollout.events import (
    ArtifactObserved,
    Event,
    ItemAdded,
    SessionStarted,
    WindowReplaced,
)
from pinfold.rollout.provenance import typed

REAL_ASKED, SWAPPED_MISSED = 0.02, 0.20
SWAPPED = 20
"""Files at most that take the place of one, of each kind."""
KINDS = {
    "real": "real edits that ask",
    "elsewhere": "files of other repositories: let through",
    "unheard": "files of the same repository, never named: let through",
    "earlier": "files of earlier requests alone: let through",
}
TARGETS = {"real": REAL_ASKED, "elsewhere": SWAPPED_MISSED, "unheard": SWAPPED_MISSED}


@dataclass(slots=True)
class Recording:
    events: list[Event]
    cwd: str
    files: frozenset[str]
    """In its working directory."""
    edits: dict[int, list[str]] = field(default_factory=dict)
    """By the place of the event that brought their result."""


def run() -> Iterator[Figure]:
    files = sorted(SESSIONS.glob("c*/*.jsonl"))
    if not files:
        print(f"Left out: there are no recorded sessions in {SESSIONS}.", flush=True)
        return
    recordings = [recording(file) for file in files]
    after: Counter[tuple[str, bool]] = Counter()
    ever: Counter[tuple[str, bool]] = Counter()
    random = Random(1)
    for recorded in recordings:
        for kind, asks, watched in judged(recorded, recordings, random):
            ever[kind, asks] += 1
            after[kind, asks] += watched
    yield from figures("after a compaction or at 60%", after, TARGETS)
    yield from figures("at any time", ever, {})


def figures(
    title: str, counts: Counter[tuple[str, bool]], targets: dict[str, float]
) -> Iterator[Figure]:
    for kind, name in KINDS.items():
        counted = kind == "real"
        wrong, all_of = counts[kind, counted], counts[kind, True] + counts[kind, False]
        title_of = f"{title}: {name} ({wrong:,} of {all_of:,})"
        yield Figure(title_of, wrong / max(all_of, 1), "", target=targets.get(kind))


def recording(file: Path) -> Recording:
    events = list(detect.read(file).events)
    files, added, edits = set(), {}, dict[int, list[str]]()
    cwd = ""
    for at, event in enumerate(events):
        match event.data:
            case SessionStarted(cwd=cwd):
                pass
            case ItemAdded(item=item):
                added[item.n] = at
            case ArtifactObserved(kind="file", uri=uri, op=op, item=n) if op != "list":
                files.add(uri)
                if op != "read" and n is not None:
                    edits.setdefault(added[n], []).append(uri)
    within = frozenset(uri for uri in files if not uri.startswith(("/", "..", "~")))
    return Recording(events, cwd, within, edits)


def judged(
    one: Recording, every: Sequence[Recording], random: Random
) -> Iterator[tuple[str, bool, bool]]:
    """Of each file and of those in its place: the kind, whether it asks, whether that is after a
    compaction or at 60%."""
    elsewhere = {uri for other in every if other.cwd != one.cwd for uri in other.files}
    same = {uri for other in every if other.cwd == one.cwd for uri in other.files}
    added = [at for at, event in enumerate(one.events) if isinstance(event.data, ItemAdded)]
    middle = added[int(len(added) * SIMULATED)]
    known, told, seen, watched = Known(), list[str](), set[str](), False
    for at, event in enumerate(one.events):
        data = event.data
        if at == middle or isinstance(data, WindowReplaced):
            watched = True
        elif isinstance(data, ItemAdded) and data.item.kind == "user" and typed(data.item):
            watched = False
        if edits := one.edits.get(at):
            text = "\n".join(told)
            unheard = {uri for uri in same - seen if posixpath.basename(uri) not in text}
            places = {
                "elsewhere": elsewhere - same - seen,
                "unheard": unheard,
                "earlier": (seen & one.files) - known.named.seen,
            }
            for uri in edits:
                yield "real", bool(known.unnamed([uri])), watched
                for kind, candidates in places.items():
                    for other in some(candidates, random):
                        yield kind, bool(known.unnamed([other])), watched
        known.step(event)
        match data:
            case ItemAdded(item=item):
                told.append(item.content)
            case ArtifactObserved(kind="file", op=op, uri=uri) if op != "list":
                seen.add(uri)


def some(files: Iterable[str], random: Random) -> list[str]:
    candidates = sorted(files)
    return random.sample(candidates, min(SWAPPED, len(candidates)))
