"""The sessions of the user, to continue with one: found by title and by what was said in them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from pinfold import paths
from pinfold.catalog.catalog import LastExchange
from pinfold.catalog.searching import MATCH, MATCH_END
from pinfold.commands.context_text import age
from pinfold.numbers import ID_SHOWN
from pinfold.rollout.disk import started
from pinfold.sanitize import one_line
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.index_chooser import IndexChooser
from pinfold.tui.panels.picker import Choice, ranked
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.session_page import page
from pinfold.tui.panels.table import ListLine

if TYPE_CHECKING:
    from pinfold.host.host import Host
    from pinfold.rollout.summaries import SessionSummary


LISTED = 2_000
"""Sessions in the list; older ones are found by their words."""
FOUND = 300
"""Hits of which the sessions are shown."""


class SessionsPanel(IndexChooser):
    """Its result is the id of a session."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "folder", show=False, priority=True)]

    def __init__(
        self, host: Host, cwd: Path, now: Callable[[], datetime], *, current: str = ""
    ) -> None:
        """`current` is the id of the session that the user is in; without one, Esc begins one."""
        leaves = "closes" if current else "starts a new one"
        super().__init__("Sessions", f"Enter resumes · Tab this folder or all · Esc {leaves}", host)
        self._cwd = cwd
        self._now = now
        self._current = current
        self._all: Sequence[SessionSummary] = ()
        self._by_id: dict[str, SessionSummary] = {}
        self._here = False
        """Whether only the sessions of `cwd` are shown."""
        self._found: Mapping[str, str] = {}
        """Sessions in which the searched words were said, and where."""
        self._forks: Mapping[str, str] = {}
        self._total = 0
        """Sessions that there are; only the newest are in the list."""

    def on_mount(self) -> None:
        self.say("Looking for sessions …")
        self._load()

    @work
    async def _load(self) -> None:
        await self._list()
        self._here = any(self._is_here(line) for line in self._all)
        self._show(top=True)
        self._search(self.input.value)
        self.fill()

    async def _list(self) -> None:
        """Read the list; the index may have more after it was compared with the disk."""
        every, self._total = await asyncio.to_thread(self._read)
        self._forks = await asyncio.to_thread(forks, every)
        self._all = [line for line in every if line.title and line.id != self._current]
        self._by_id = {line.id: line for line in self._all}

    def _read(self) -> tuple[Sequence[SessionSummary], int]:
        catalog = self.host.catalog
        found = {line.id: line for line in catalog.list(LISTED)}
        if len(found) == LISTED:  # those of this folder may be older
            found |= {line.id: line for line in catalog.list(LISTED, str(self._cwd))}
        newest = sorted(found.values(), key=lambda line: line.updated_at, reverse=True)
        return newest, catalog.count() if len(found) >= LISTED else len(found)

    def _is_here(self, session: SessionSummary) -> bool:
        return session.cwd == str(self._cwd)

    # What is listed

    def filtered(self) -> None:
        self._found = {}
        self._show(top=True)
        self._search(self.input.value)

    @work(exclusive=True, group="search")
    async def _search(self, query: str) -> None:
        if query.strip():
            self._found, older = await asyncio.to_thread(self._searched, query)
            self._by_id |= {line.id: line for line in older}
            self._show(top=False)

    def _searched(self, query: str) -> tuple[Mapping[str, str], Sequence[SessionSummary]]:
        """Where the words were said, and the sessions of them that are not in the list."""
        catalog = self.host.catalog
        found = catalog.search_sessions(query, FOUND, self._now())
        return found, catalog.sessions([one for one in found if one not in self._by_id])

    async def index_changed(self) -> None:
        self.show_count()
        await self._list()
        self._show(top=False)
        self._search(self.input.value)
        self.looked_at(self.list.current)

    def action_folder(self) -> None:
        self._here = not self._here
        self._show(top=False)

    def _show(self, *, top: bool) -> None:
        known = {line.id: line for line in self._all}
        known |= {one: self._by_id[one] for one in self._found if one in self._by_id}
        shown = [
            line
            for line in known.values()
            if line.id != self._current and (not self._here or self._is_here(line))
        ]
        now = self._now()
        lines = [
            self._line(line, now) for line in fitting(shown, self.input.value.strip(), self._found)
        ]
        self.list.show_lines(lines, top=top)
        self.show_count()

    def _line(self, session: SessionSummary, now: datetime) -> ListLine:
        turns = f"{session.turns} turn{'s' if session.turns != 1 else ''}"
        right = turns if self._here else f"{one_line(Path(session.cwd).name)} · {turns}"
        piece = self._found.get(session.id, "").replace(MATCH, "").replace(MATCH_END, "")
        head = f"{age(session.updated_at, now):>4}"
        notes = ["open elsewhere"] if session.held else [session.note]
        notes.append(self._forks.get(session.id, ""))
        return ListLine(
            session.id, head, session.title, piece or " · ".join(filter(None, notes)), right
        )

    def show_count(self) -> None:
        shown, here = len(self.list.lines), one_line(paths.shown(self._cwd))
        count = f"{shown:,} session{'s' if shown != 1 else ''}"
        where = f"of {here} · Tab: all folders" if self._here else f"in all folders · Tab: {here}"
        reading = f" · {self.left:,} not indexed yet" if self.left else ""
        older = f" · {self._total - LISTED:,} older: type to find" if self._total > LISTED else ""
        told = f"{count} {where}{older}{reading}"
        self.say(told if self._all else "There are no earlier sessions.")

    # What is said of one

    def looked_at(self, key: str | None) -> None:
        session = self._by_id.get(key or "")
        if session is None:
            self.preview("")
        else:
            self._look(session)

    @work(exclusive=True, group="preview")
    async def _look(self, session: SessionSummary) -> None:
        said = await asyncio.to_thread(self.host.catalog.exchange, session.id)
        piece = self._found.get(session.id, "")
        self.preview(page(session, said or LastExchange(), piece, self._now()))


def forks(sessions: Sequence[SessionSummary]) -> Mapping[str, str]:
    """What each fork was forked from, as `fork of 019f8a7b-1c2d at #12`, where another session
    has its title."""
    titles = Counter(session.title for session in sessions)
    found: dict[str, str] = {}
    for session in sessions:
        first = started(session.folder) if titles[session.title] > 1 else None
        if first is not None and first.forked_from:
            parent, _, n = first.forked_from.partition(":")
            found[session.id] = one_line(f"fork of {parent[:ID_SHOWN]} at #{n}")
    return found


def fitting(
    sessions: Sequence[SessionSummary], query: str, found: Mapping[str, str]
) -> list[SessionSummary]:
    """The sessions that fit, best first.

    Those with all words in their title, then those in which they were said, then those whose
    title has the letters.
    """
    if not query:
        return list(sessions)
    by_id = {session.id: session for session in sessions}
    words = query.lower().split()
    titled = [
        by_id[choice.id] for choice in ranked([_choice(session) for session in sessions], query)
    ]
    whole = [line for line in titled if all(word in line.title.lower() for word in words)]
    said = [by_id[key] for key in found if key in by_id]
    return list({line.id: line for line in (*whole, *said, *titled)}.values())


def _choice(session: SessionSummary) -> Choice:
    return Choice(session.id, session.title, f"{session.cwd} {session.model} {session.id}")


async def choose_session(host: PanelHost, cwd: Path, *, current: str = "") -> str | None:
    """The id of the session that the user chooses; those of `cwd` come first."""
    panel = SessionsPanel(host.host, cwd, lambda: datetime.now(UTC), current=current)
    return await host.push_screen_wait(panel)


async def _open(host: PanelHost, _: str) -> None:
    chosen = await choose_session(host, host.session.cwd, current=host.session.id)
    if chosen is not None:
        await host.switch(partial(host.host.resume, chosen))


PANEL = Panel("", (), _open)
