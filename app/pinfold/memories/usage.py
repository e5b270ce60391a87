"""How often memories were used."""

from collections.abc import Iterable
from datetime import datetime

from pinfold.rollout.events import Event, MemoryUsed

UseCounts = dict[str, tuple[int, datetime]]
"""By session: how many replies used its memories, and when the last one did."""


def usage_of(events: Iterable[Event]) -> UseCounts:
    """The counts from the journals of all sessions. Events copied by a fork count once."""
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
