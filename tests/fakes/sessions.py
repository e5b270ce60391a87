"""Journals to test with."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from pinfold.rollout.events import SCHEMA, ItemAdded, SessionStarted
from pinfold.rollout.items import Item, Kind
from pinfold.rollout.journal import Journal

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def ticking() -> Callable[[], datetime]:
    """A clock that goes on by a second each time it is read."""
    seconds = count()
    return lambda: START + timedelta(seconds=next(seconds))


def new_journal(folder: Path) -> Journal:
    started = SessionStarted(schema=SCHEMA, id=folder.name, cwd="/w", version="0")
    return Journal.create(folder, started, ticking())


def item(
    n: int, kind: Kind = "user", content: str = "", response: int = 0, call_id: str | None = None
) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind=kind, content=content, response=response, call_id=call_id))
