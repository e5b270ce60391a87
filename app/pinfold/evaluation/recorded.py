"""Recorded sessions: where they are cut, and what the agent needed after each cut.

*Future need*: of the files, identifiers, hashes, issue numbers and URLs that were seen before a cut
and that the agent put into its calls after it, up to the next compaction, the share that a text
holds. A file counts if its base name is there. Names are those of `names`. *To the letter*: the
same with folders, and every path must be complete. *From memory*: of these, what a call refers to
before anything has shown it again.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pinfold.checkpoint.known import Known
from pinfold.evaluation.failures import failures
from pinfold.evaluation.names import Name, call_texts, is_file, names
from pinfold.rollout.events import ArtifactObserved, Event, ItemAdded, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.values import is_compaction

SIMULATED = 0.6
"""The share of a session's items before the cut that no compaction made."""

_ESCAPED = re.compile(r"\\+[nrt](?=\w)")
"""An escaped line end or tab."""

MOST_REAL = 8
"""Compactions that are looked at per session; of more, some at even distances."""


@dataclass(frozen=True, slots=True)
class SessionCut:
    """A point of a session: what came before, and what was needed after."""

    before: Sequence[Event]
    compaction: Event | None
    """The compaction that the recording has there; None at a simulated cut."""
    known: Known
    items: tuple[Item, ...]
    """All items before the cut."""
    used: frozenset[Name]
    """Names that later calls used."""
    recalled: frozenset[Name]
    """Of these, names that calls referred to before anything showed them again."""
    changed: frozenset[str]
    read: frozenset[str]
    errors: dict[str, str] = field(default_factory=dict)
    """The newest message of each class."""

    @property
    def needed(self) -> frozenset[str]:
        """The used names as a text may have them: files by base name, no folders."""
        return frozenset(short(name) for name in self.used if not is_folder(name))


def cuts_of(events: Sequence[Event], simulated: float = SIMULATED) -> Iterator[SessionCut]:
    """Cuts before at most `MOST_REAL` recorded compactions, and one after the share `simulated` of
    the items."""
    real = [at for at, event in enumerate(events) if _is_compaction(event)]
    added = [at for at, event in enumerate(events) if isinstance(event.data, ItemAdded)]
    if not added:
        return
    every = max(1, -(-len(real) // MOST_REAL))
    for at in sorted({*real[::every], added[int(len(added) * simulated)]}):
        yield cut_at(events, at, next((later for later in real if later > at), len(events)))


def cut_at(events: Sequence[Event], at: int, end: int) -> SessionCut:
    """The cut before event `at`; what was needed is read up to event `end`."""
    known = Known()
    changed: set[str] = set()
    read: set[str] = set()
    errors: dict[str, str] = {}
    before: list[Item] = []
    for event in events[:at]:
        known.step(event)
        match event.data:
            case ItemAdded(item=item):
                before.append(item)
                failed = item.detail.get("ok") is False and item.state != "unknown"
                if item.kind == "tool_result" and failed:
                    errors |= {failure.label: failure.line for failure in failures(item.content)}
            case ArtifactObserved(kind="file", op=op, uri=uri) if op != "list":
                (read if op == "read" else changed).add(uri)
    after = [event.data.item for event in events[at:end] if isinstance(event.data, ItemAdded)]
    calls = (item for item in after if item.kind == "tool_call")
    seen = frozenset(name for item in before for name in names_in(item, known.cwd))
    return SessionCut(
        before=events[:at],
        compaction=events[at] if at < len(events) and _is_compaction(events[at]) else None,
        known=known,
        items=tuple(before),
        used=seen & {name for item in calls for name in names_in(item, known.cwd)},
        recalled=seen & _recalled(after, known.cwd),
        changed=frozenset(changed),
        read=frozenset(read),
        errors=errors,
    )


def _is_compaction(event: Event) -> bool:
    data = event.data
    return isinstance(data, WindowReplaced) and is_compaction(data.reason)


def _recalled(items: Iterable[Item], cwd: str) -> set[Name]:
    shown: set[Name] = set()
    found: set[Name] = set()
    for item in items:
        if item.kind == "tool_call":
            found |= set(_names(call_texts(item)[0], cwd)) - shown
        elif item.kind in {"tool_result", "user", "context"}:
            shown |= set(_names(item.content, cwd))
    return found


def names_in(item: Item, cwd: str) -> list[Name]:
    return _names(text_of(item), cwd)


def _names(text: str, cwd: str) -> list[Name]:
    """Also in quoted code and in JSON within JSON: the name in `\\tagentType` is `agentType`."""
    return names(_ESCAPED.sub(" ", text), cwd)


def text_of(item: Item) -> str:
    """The text as a model reads it: a call's arguments without JSON syntax."""
    return "\n".join(call_texts(item)) if item.kind == "tool_call" else item.content


def spaced(text: str) -> str:
    """The text with its whitespace collapsed, so that line breaks don't matter."""
    return " ".join(text.split())


def is_folder(name: Name) -> bool:
    return name.kind == "path" and not is_file(name.text)


def short(name: Name) -> str:
    return posixpath.basename(name.text) if name.kind == "path" else name.text
