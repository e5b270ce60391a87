"""A session as memories read it: messages, calls and results, without secrets."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pinfold.compaction.content import without_data
from pinfold.compaction.view import WindowEntry
from pinfold.digests.record import DigestRecord
from pinfold.export.redact import Secrets, cleaned, strings
from pinfold.memories.records import Extracted
from pinfold.rollout.events import SCHEMA, Event, ItemAdded, SessionStarted, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.provenance import parts, typed

_READ = frozenset({"user", "assistant", "tool_call", "tool_result"})
"""No instructions, no reasoning, nothing from compactions or earlier memories."""
_KEPT = (
    *("act", "title", "command", "paths", "added", "removed", "diff", "ok", "exit_code"),
    *("words", "refused", "plan", "aside"),
)
"""The keys of an item's detail that say what was done; the rest repeats its content."""
MAX_SLUG = 60
"""Characters."""
_LONG_AGO = datetime.fromtimestamp(0, UTC)


class SessionText(Struct, frozen=True):
    """The text of a session."""

    session: str
    cwd: str
    items: tuple[Item, ...]
    """In the user's messages, pasted text is marked and pinfold's own text left out."""
    secrets: Secrets

    @property
    def is_talk(self) -> bool:
        """Whether the user typed something and the agent did something."""
        kinds = {item.kind for item in self.items if item.kind != "user"}
        return bool(kinds) and any(typed(item) for item in self.items)

    def safe(self, made: Extracted) -> Extracted:
        """A record without the session's secrets, and without what looks like one."""
        memory, summary = self.safely(made.raw_memory), self.safely(made.rollout_summary)
        slug = "-".join(re.findall(r"[a-z0-9]+", self.safely(made.rollout_slug).lower()))
        return Extracted(memory, summary, slug[:MAX_SLUG].strip("-"))

    def safely(self, text: str) -> str:
        """A text about the session, without secrets."""
        return safely(self.secrets.replaced(text))

    def entries(self) -> list[WindowEntry]:
        """The items as the check of claims takes them."""
        halves: dict[tuple[int, str], list[int]] = {}
        for item in self.items:
            if item.call_id:
                halves.setdefault((item.response, item.call_id), []).append(item.n)
        pairs = [pair for pair in halves.values() if len(pair) == 2]
        partner = {n: other for pair in pairs for n, other in (pair, reversed(pair))}
        return [
            WindowEntry(item, "full", 0, 0, None, _LONG_AGO, {}, partner.get(item.n), sent=True)
            for item in self.items
        ]

    def record(self) -> DigestRecord:
        record = DigestRecord()
        started = SessionStarted(schema=SCHEMA, id=self.session, cwd=self.cwd, version="")
        for seq, data in enumerate((started, *(ItemAdded(item=item) for item in self.items)), 1):
            record.step(Event(seq, _LONG_AGO, data))
        return record


def safely(text: str) -> str:
    """A text without what looks like a secret."""
    return Secrets([text]).replaced(text)


def read(folder: Path) -> SessionText:
    """The session in `folder`. Raises `JournalError`, `OSError`."""
    with Journal.open(folder, lambda: _LONG_AGO, read_only=True) as journal:
        started = journal.started
        items = list(_remaining(journal.read()))
    texts = {item.n: list(_texts(item)) for item in items}
    details = {item.n: _detail(item) for item in items}
    found = [text for own in texts.values() for text, _ in own]
    secrets = Secrets([started.cwd, *found, *strings(list(details.values()))])
    return SessionText(
        folder.name,
        secrets.replaced(started.cwd),
        tuple(_clean(item, texts[item.n], details[item.n], secrets) for item in items),
        secrets,
    )


def _remaining(events: Iterator[Event]) -> Iterator[Item]:
    """The items to read, without those that the user rewound."""
    found: dict[int, Item] = {}
    for event in events:
        match event.data:
            case ItemAdded(item=item) if item.kind in _READ:
                found[item.n] = item
            case WindowReplaced(reason="rewind", window=window):
                last = max((n for n, _ in window), default=0)
                found = {n: item for n, item in found.items() if n <= last}
    yield from found.values()


def _texts(item: Item) -> Iterator[tuple[str, bool]]:
    """An item's texts, and whether each was pasted; pictures and base64 are only named."""
    if item.kind != "user":
        yield without_data(item), False
        return
    for text, pasted in parts(item):
        yield without_data(replace(item, content=text, images=())), pasted
    if item.images:
        yield without_data(replace(item, content="")), True


def _detail(item: Item) -> dict[str, Any]:
    if item.kind == "user":
        return {}
    return {key: item.detail[key] for key in _KEPT if key in item.detail}


def _clean(
    item: Item, texts: Sequence[tuple[str, bool]], detail: dict[str, Any], secrets: Secrets
) -> Item:
    content = ""
    spans: list[list[int]] = []
    for text, pasted in texts:
        start = len(content) + bool(content)
        content += ("\n" if content else "") + secrets.replaced(text)
        if pasted:
            spans.append([start, len(content)])
    detail = cleaned(detail, secrets.replaced)
    if item.kind == "user":
        typed = any(not pasted for _, pasted in texts)
        detail = {"act": "said" if typed else "pasted" if texts else "host", "pasted": spans}
    return Item(
        n=item.n,
        kind=item.kind,
        content=content,
        response=item.response,
        call_id=item.call_id,
        name=item.name,
        state=item.state,
        detail=detail,
    )
