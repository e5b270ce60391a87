"""Files as the model last saw them: an edit of one that has changed since is refused."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from pinfold.agent.record import Record
from pinfold.ports.tool import Observation, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.events import ArtifactObserved
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.scan import scan
from pinfold.tools import workspace
from pinfold.tools.diffs import unified

KEPT = 64
"""Files of which the text is kept, to show what has changed in them."""
MAX_KEPT = 1_000_000
"""Characters of such a text."""


class Seen:
    """The hashes, and some texts, of files as tools showed or wrote them."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._unread = record.state.turn > 0
        """Whether the journal holds files from before this opening that are not in `_hashes`."""
        self._hashes: dict[str, str] = {}
        self._texts: dict[str, tuple[str, str]] = {}
        """Hash and text of those last seen, the last one last."""

    async def take(self, observations: Iterable[Observation], context: ToolContext) -> None:
        """The model has seen these."""
        for seen in observations:
            if seen.kind != "file" or seen.op == "list":
                continue
            self._texts.pop(seen.uri, None)
            if seen.hash is None or seen.op == "delete":
                self._hashes.pop(seen.uri, None)
                continue
            self._hashes[seen.uri] = seen.hash
            text = await asyncio.to_thread(_hash_and_text, seen.uri, context.workspace)
            if text is not None and text[0] == seen.hash:
                self._texts[seen.uri] = text
        while len(self._texts) > KEPT:
            del self._texts[next(iter(self._texts))]

    async def refusal(self, tool: Tool, call: Item, context: ToolContext) -> ToolOutcome | None:
        """The result in place of an edit of files that changed since; None if none did."""
        try:
            names = tool.names(call.content)
        except ToolError:  # the arguments don't fit, which the tool tells
            return None
        if not names:
            return None
        if self._unread:
            earlier = await asyncio.to_thread(_journalled_hashes, self._record.journal)
            self._hashes, self._unread = {**earlier, **self._hashes}, False
        told: list[str] = []
        shown: list[Observation] = []
        for uri in dict.fromkeys(_uris(names, context.workspace)):
            known = self._hashes.get(uri)
            now = await asyncio.to_thread(_hash_and_text, uri, context.workspace) if known else None
            if now is None or now[0] == known:
                continue
            before = self._texts.get(uri)
            if before is None or before[0] != known:
                told.append(f"{uri} has changed since you read it. Read it again.")
                continue
            shown.append(Observation(uri, "file", "read", now[0]))
            diff = unified(before[1], now[1], uri).text
            told.append(f"{uri} has changed since you read it:\n{diff}")
        if not told:
            return None
        await self.take(shown, context)
        text = "Nothing was edited. " + "\n".join(told)
        return ToolOutcome(text, ok=False, observations=tuple(shown))


def _uris(names: Iterable[str], folder: Path) -> Iterable[str]:
    for name in names:
        try:
            yield workspace.uri(workspace.resolve(name, folder), folder)
        except ToolError:
            continue


def _hash_and_text(uri: str, folder: Path) -> tuple[str, str] | None:
    """Hash and text of a file; None if it is missing, no text or too long."""
    try:
        file = workspace.read_text(folder / uri, folder)
    except (ToolError, OSError):
        return None
    content = file.text.content
    return (file.hash, content) if len(content) <= MAX_KEPT else None


def _journalled_hashes(journal: Journal) -> dict[str, str]:
    """Hashes by URI from the journal; an observation with an item came from a tool."""
    found: dict[str, str] = {}
    try:
        for event in scan(journal, ArtifactObserved):
            seen = event.data
            if not isinstance(seen, ArtifactObserved) or seen.kind != "file" or seen.item is None:
                continue
            if seen.hash is None or seen.op == "delete":
                found.pop(seen.uri, None)
            elif seen.op != "list":
                found[seen.uri] = seen.hash
    except OSError:
        return {}
    return found
