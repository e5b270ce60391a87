"""A session's prompts, and what was done after each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pinfold.commands.arguments import CommandError
from pinfold.rollout.events import ArtifactObserved, Event, ItemAdded
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.scan import scan
from pinfold.tools.restore import SpanChange, changes


@dataclass(frozen=True, slots=True)
class PastPrompt:
    """A prompt of the user's."""

    n: int
    text: str
    at: datetime
    files: int
    """Files that the agent changed after it."""


class LookBack:
    """The prompts of a session, and what was done after each."""

    def __init__(self, events: Iterable[Event]) -> None:
        """`events` include at least `ItemAdded` and `ArtifactObserved`."""
        self._asked: list[tuple[int, Event]] = []
        """Each prompt, with the number of observations before it."""
        self._seen: list[ArtifactObserved] = []
        for event in events:
            match event.data:
                case ItemAdded(item=item) if item.kind == "user":
                    self._asked.append((len(self._seen), event))
                case ArtifactObserved() as seen if seen.kind != "tool_output":
                    self._seen.append(seen)

    def prompts(self) -> Sequence[PastPrompt]:
        """Newest first."""
        found: list[PastPrompt] = []
        files: set[str] = set()
        end = len(self._seen)
        for start, event in reversed(self._asked):
            assert isinstance(event.data, ItemAdded)
            files |= {change.uri for change in changes(self._seen[start:end])}
            end = start
            item = event.data.item
            found.append(PastPrompt(item.n, item.content, event.ts, len(files)))
        return found

    def prompt(self, n: int) -> Item:
        """The prompt `n`. Raises `CommandError`."""
        for _, event in self._asked:
            if isinstance(event.data, ItemAdded) and event.data.item.n == n:
                return event.data.item
        raise CommandError(f"#{n} is not one of your prompts; /rewind lists them.")

    def changes(self, n: int) -> list[SpanChange]:
        """Changes of files after prompt `n`."""
        return changes(self._since(n))

    def commands(self, n: int) -> int:
        """The number of commands run after prompt `n`."""
        return sum(seen.kind == "command" for seen in self._since(n))

    def _since(self, n: int) -> Sequence[ArtifactObserved]:
        starts = {
            event.data.item.n: start
            for start, event in self._asked
            if isinstance(event.data, ItemAdded)
        }
        return self._seen[starts[n] :]


def look_back(folder: Path) -> LookBack:
    """Read the session in `folder`. Blocking. Raises `JournalError`."""
    with Journal.open(folder, partial(datetime.now, UTC), read_only=True) as journal:
        return LookBack(scan(journal, ItemAdded, ArtifactObserved))
