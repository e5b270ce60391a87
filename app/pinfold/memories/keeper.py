"""What the user does with memories: see their sources, confirm, edit, forget and export them.

Every function blocks and raises `MemoriesRefused`, `StateError` (with a sentence for the user) and
`OSError`.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from pinfold.export.redact import Secrets
from pinfold.memories import applying, review, trees
from pinfold.memories.blocks import BLANK, MarkdownBlock, blocks, joined, parted
from pinfold.memories.listing import ListedMemory, listing
from pinfold.memories.places import DATABASE, MEMORY, SUMMARY, MemoriesRefused, MemoryPlaces
from pinfold.memories.reader import MemoryReader
from pinfold.memories.session_folders import SessionFolders
from pinfold.memories.statements import Citation
from pinfold.memories.team import asking
from pinfold.memories.team.listing import with_teams
from pinfold.memories.team.teams import Teams
from pinfold.memories.usage import UseCounts, usage_of
from pinfold.rollout.brought import items_of
from pinfold.rollout.events import Event
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal, JournalError
from pinfold.sanitize import one_line

LONGEST = 400
"""Characters of a memory that the user writes."""


class CitedItem(Struct, frozen=True):
    """An item of an earlier session that a memory cites; of a tool call also its other half."""

    cited: Citation
    cwd: str
    items: tuple[Item, ...]
    """Empty if it is gone."""
    why: str = ""
    """Why it is gone."""
    quoted: str = ""
    """The quote that its owner shared with the team, instead of the items."""


class MemoryFinding(Struct, frozen=True):
    """A problem with memories, and what fixes it."""

    what: str
    remedy: str = ""


class Keeper:
    """The memories of `home`."""

    def __init__(self, home: Path, now: Callable[[], datetime], teams: Teams | None = None) -> None:
        self.reader = MemoryReader(home, now, teams)
        self.teams = teams
        self.places = MemoryPlaces.of(home)
        self._now = now

    def close(self) -> None:
        self.reader.close()

    def memories(self, count: Callable[[str], int]) -> list[ListedMemory]:
        found = listing(self.reader, count)
        return with_teams(found, self.teams.copies, count) if self.teams else found

    def sources(self, cites: Sequence[Citation]) -> list[CitedItem]:
        """The items that a memory cites, read from their sessions."""
        sessions = SessionFolders(self.reader.home, self.reader.state.outputs())
        return [self._quoted(cite) or self._source(cite, sessions) for cite in cites]

    def _quoted(self, cite: Citation) -> CitedItem | None:
        """The quote of a line that someone else shared: their session is not here."""
        if (found := asking.quoted(self.teams, cite)) is None:
            return None
        team, line, words = found
        where = f"{line.folder or '.'}, shared by {line.owner} with {team}"
        return CitedItem(cite, where, (), quoted=words)

    def _source(self, cite: Citation, sessions: SessionFolders) -> CitedItem:
        whole = Citation(sessions.whole(cite.session) or cite.session, cite.item)
        folder = sessions.path(whole.session)
        if folder is None:
            return CitedItem(whole, "", (), "That session no longer exists.")
        try:
            with Journal.open(folder, self._now, read_only=True) as journal:
                items = {item.n: item for event in journal.read() for item in items_of(event.data)}
                cwd = journal.started.cwd
        except JournalError as error:
            return CitedItem(whole, "", (), str(error))
        found = items.get(whole.item)
        if found is None:
            return CitedItem(whole, cwd, (), f"That session has no item #{whole.item}.")
        key = (found.response, found.call_id)
        both = [
            item
            for item in items.values()
            if item is found or (found.call_id and (item.response, item.call_id) == key)
        ]
        return CitedItem(whole, cwd, tuple(both))

    # Changes

    def confirm(self, memory: ListedMemory) -> str:
        _refuse_others(memory, "confirms")
        if memory.state != "stale":
            raise MemoriesRefused(
                "Only a memory that may be out of date can be confirmed; edit others into your "
                "own words."
            )
        self.reader.state.confirm(memory.key)
        return "Confirmed: it is given to sessions again."

    def edit(self, memory: ListedMemory, text: str) -> str:
        """Replace a memory by the user's words; an empty text removes it.

        It is the user's own line from then on: it needs no record, and no consolidation changes it.
        """
        _refuse_others(memory, "edits")
        said = one_line(text).strip()[:LONGEST]
        if said == memory.text:
            raise MemoriesRefused("It already says that.")
        new = f"- {said}" if said else ""
        moves = bool(new) and memory.state in ("waiting", "unconfirmed")

        def change(tree: trees.Tree) -> trees.Tree:
            return {
                name: _replaced(data, memory.line, "" if moves else new)
                if name in (MEMORY, SUMMARY)
                else data
                for name, data in tree.items()
            }

        with self.places.locked():
            applying.rewrite(self.places, change)
            if moves:
                self._add(new, memory.folder)
        for session in memory.sessions:
            self.reader.state.strike(session, memory.line)
        return "Changed: these are your own words now." if said else "Removed."

    def _add(self, line: str, folder: str) -> None:
        """Add a line of the user's below the heading of a folder. Needs the lock."""
        tree = trees.read(self.places.files)
        for name, title in ((MEMORY, "# Memory"), (SUMMARY, "# Memory summary")):
            above, below = parted(blocks(trees.text(tree.get(name, b"")) or f"{title}\n"))
            heading = MarkdownBlock("heading", f"## {one_line(folder)}")
            if folder and heading not in above:
                above += [BLANK, heading]
            first = next((n for n, block in enumerate(above) if block.text.startswith("## ")), None)
            at = above.index(heading) + 1 if folder else len(above) if first is None else first
            above[at:at] = [BLANK, MarkdownBlock("statement", line), BLANK]
            trees.put(self.places.files, name, joined(above, below).encode())

    def forget(self, sessions: Collection[str]) -> str:
        """Forget what only these sessions taught, and never read them again."""
        if not sessions:
            raise MemoriesRefused("It cites no session: edit it to remove it.")
        for session in sessions:
            self.reader.state.forget(session)
        review.forget(self.places, set(sessions), self.reader.state.outputs())
        many = f"{len(sessions)} sessions" if len(sessions) > 1 else "That session"
        shared = self.teams.forget_sessions(sessions) if self.teams else ""
        return " ".join(filter(None, (f"Forgotten. {many} will not be read again.", shared)))

    def forget_memory(self, memory: ListedMemory) -> str:
        """Forget the sessions of `memory`; if someone else shared it, only that line."""
        if self.teams and asking.is_others(self.teams, memory):
            return self.teams.forget_line(memory.team, memory.key)
        return self.forget(memory.sessions)

    def deleted(self, session: str) -> bool:
        """Forget a session that was deleted. Returns whether anything was known of it."""
        if not (self.reader.home / DATABASE).exists():
            return False
        known = self.reader.state.output(session) is not None or any(
            session in memory.sessions for memory in self.memories(len)
        )
        if known:
            self.forget([session])
        else:
            self.reader.state.forget(session)  # it may be being read now
        return known

    def clear(self) -> str:
        review.clear(self.places)
        self.reader.state.clear()
        if self.teams:
            self.teams.clear()
        return "All memories are removed."

    # Consolidations

    def pending(self) -> review.Pending | None:
        return review.pending(self.places) if self.places.files.is_dir() else None

    def undo(self) -> str:
        review.undo(self.places)
        return "The last consolidation is undone."

    # Looking after them

    def export(self, path: Path, count: Callable[[str], int]) -> int:
        """Write all memories as Markdown, without secrets. Returns how many there are."""
        memories = self.memories(count)
        text = "".join(_document(memories))
        with path.open("x", encoding="utf-8") as file:
            file.write(Secrets([text]).replaced(text))
        return len(memories)

    def recount(self) -> tuple[UseCounts, bool]:
        """Correct the use counts from the journals. Returns them, and whether any was wrong."""
        usage = usage_of(self._events())
        before = {
            row.session_id: row.usage_count
            for row in self.reader.state.outputs()
            if row.usage_count
        }
        known = {row.session_id for row in self.reader.state.outputs()}
        counts = {key: count for key, (count, _) in usage.items() if key in known}
        wrong = counts != before
        if wrong:
            self.reader.state.set_usage(
                {key: (count, last.timestamp()) for key, (count, last) in usage.items()}
            )
        return usage, wrong

    def _events(self) -> Iterator[Event]:
        for rollout in self.reader.home.glob("sessions/*/*/*/*/rollout.jsonl"):
            try:
                with Journal.open(rollout.parent, self._now, read_only=True) as journal:
                    yield from journal.read()
            except JournalError:
                continue

    def findings(self, count: Callable[[str], int]) -> list[MemoryFinding]:
        """The problems found. Corrects the use counts."""
        found: list[MemoryFinding] = []
        for memory in self.memories(count):
            if memory.owner:
                continue  # its owner sees to it
            does = {"stale": "confirms", "unconfirmed": "edits"}.get(memory.state)
            if does:
                what = f"“{one_line(memory.text)[:80]}”: {memory.why}"
                found.append(MemoryFinding(what, f"/memories {does} or removes it"))
        found += [
            MemoryFinding(
                f"{job.kind} of {job.key} failed: {one_line(job.error or 'no reason')}", "run"
            )
            for job in self.reader.state.jobs()
            if job.status == "failed"
        ]
        if self.pending() is not None:
            found.append(
                MemoryFinding("A consolidation is waiting for review.", "/memories shows it")
            )
        if self.recount()[1]:
            found.append(MemoryFinding("Use counts differed from the journals.", "fixed"))
        return found


def _refuse_others(memory: ListedMemory, does: str) -> None:
    if memory.owner:
        raise MemoriesRefused(f"Only {one_line(memory.owner)}, who shared it, {does} it.")


def _replaced(data: bytes, line: str, new: str) -> bytes:
    """A file with a line replaced, or removed if the new one is empty."""
    text = trees.text(data)
    if text is None:
        return data
    found = [new if part.strip() == line else part for part in text.split("\n")]
    kept = [
        kept_line
        for kept_line, was in zip(found, text.split("\n"), strict=True)
        if kept_line or not was.strip()
    ]
    return "\n".join(kept).encode()


def _document(memories: Sequence[ListedMemory]) -> Iterator[str]:
    yield "# Memories\n"
    by_folder: dict[str, list[ListedMemory]] = {}
    for memory in memories:
        by_folder.setdefault(memory.folder, []).append(memory)
    for folder, some in by_folder.items():
        yield f"\n## {one_line(folder) or 'Anywhere'}\n\n"
        for memory in some:
            cites = ", ".join(map(str, memory.cites))
            date = f"{datetime.fromtimestamp(memory.at, UTC):%Y-%m-%d}" if memory.at else ""
            whose = f"shared by {one_line(memory.owner)}" if memory.owner else ""
            facts = (whose, memory.why, date, f"used {memory.uses}×")
            note = "; ".join(fact for fact in facts if fact)
            yield f"- {memory.kind}: {one_line(memory.text)} [{cites}] ({note})\n"
