"""How often memories were of use, and what kind of memory file was read."""

from collections.abc import Iterable
from datetime import datetime

from pinfold.rollout.events import Event, MemoryUsed
from pinfold.rollout.memory import MemoryFile

_BY_NAME: dict[str, MemoryFile] = {
    "MEMORY.md": "MEMORY.md",
    "memory_summary.md": "summary",
    "raw_memories.md": "raw",
}
_BY_FOLDER: dict[str, MemoryFile] = {"rollout_summaries": "rollout_summary", "skills": "skill"}


def kind_of(path: str) -> MemoryFile:
    """What a file is, by its path below the folder of memories."""
    first, slash, _ = path.partition("/")
    return (_BY_FOLDER if slash else _BY_NAME).get(first, "other")


UseCounts = dict[str, tuple[int, datetime]]
"""By session: how many replies used its memories, and when the last one came."""


def usage_of(events: Iterable[Event]) -> UseCounts:
    """The counts that the journals of all sessions say. What a fork copied counts once."""
    usage: UseCounts = {}
    seen: set[tuple[datetime, int]] = set()
    for event in events:
        data = event.data
        if not isinstance(data, MemoryUsed) or data.via != "citation":
            continue
        if (event.ts, data.item) in seen:
            continue
        seen.add((event.ts, data.item))
        for session in set(data.sessions):
            count, last = usage.get(session, (0, event.ts))
            usage[session] = (count + 1, max(last, event.ts))
    return usage
