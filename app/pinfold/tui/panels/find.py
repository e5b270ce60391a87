"""Words in all sessions: type, choose an item, and its session opens there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text
from textual import work

from pinfold import paths
from pinfold.catalog.catalog import SearchResult
from pinfold.catalog.searching import COMMON, SearchHit
from pinfold.commands.context_text import KINDS, age
from pinfold.commands.session import take
from pinfold.sanitize import one_line
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.index_chooser import IndexChooser
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.session_page import marked, unmarked
from pinfold.tui.panels.table import ListLine

if TYPE_CHECKING:
    from pinfold.host.host import Host

SHOWN = 100
"""Hits."""


class FindPanel(IndexChooser):
    """Its result is the key of a hit in `hits`."""

    def __init__(self, host: Host, now: Callable[[], datetime], words: str = "") -> None:
        super().__init__("Find in all sessions", "Enter opens the session there · Esc closes", host)
        self._now = now
        self._found = SearchResult(())
        self.hits: Mapping[str, SearchHit] = {}
        self.input.value = words

    def on_mount(self) -> None:
        self.filtered()
        self.fill()

    def filtered(self) -> None:
        self._search(self.input.value)

    @work(exclusive=True, group="search")
    async def _search(self, typed: str) -> None:
        search = partial(self.host.catalog.search, typed, SHOWN, self._now())
        try:
            self._found = await asyncio.to_thread(search)
        except OSError as error:
            self.say(f"The index can't be used: {error.strerror or error}.")
            return
        now = self._now()
        self.hits = {f"{hit.path} {hit.number}": hit for hit in self._found.hits}
        self.list.show_lines([_line(key, hit, now) for key, hit in self.hits.items()], top=True)
        self.show_count()

    async def index_changed(self) -> None:
        self.filtered()

    def show_count(self) -> None:
        count, typed = len(self.hits), self.input.value.strip()
        told = [f"{count:,}{' best' if count == SHOWN else ''} item{'s' if count != 1 else ''}"]
        if not typed:
            told = ["Words that were said, called or printed in any session"]
        if self._found.common:
            words = ", ".join(f"“{one_line(word)}”" for word in self._found.common)
            told.append(f"{words} among the newest {COMMON:,}")
        if self.left:
            told.append(f"{self.left:,} sessions not indexed yet")
        self.say(" · ".join(told))

    def looked_at(self, key: str | None) -> None:
        hit = self.hits.get(key or "")
        self.preview("" if hit is None else _page(hit, self._now()))


def _line(key: str, hit: SearchHit, now: datetime) -> ListLine:
    head = f"{age(hit.at, now):>4}  {hit.number:>6}"
    return ListLine(key, head, unmarked(hit.piece), right=one_line(Path(hit.cwd).name))


def _page(hit: SearchHit, now: datetime) -> RenderableType:
    """What there is to say of a hit."""
    at = f"{hit.at.astimezone():%Y-%m-%d %H:%M}, {age(hit.at, now)} ago"
    kind = KINDS.get(hit.item, hit.item)  # type: ignore[call-overload]
    kept = " · in the vault" if hit.kind == "vault" else ""
    return Group(
        Text(one_line(hit.title), "bold"),
        Text(f"{hit.number} {kind} · {at.replace('now ago', 'just now')}{kept}", "dim"),
        Text(one_line(paths.shown(Path(hit.cwd))), "dim"),
        Text(one_line(hit.session), "dim"),
        Text(),
        marked(hit.piece),
    )


async def open_hit(host: PanelHost, hit: SearchHit) -> None:
    """Open the session of a hit at its item."""
    if hit.kind == "vault":  # there an agent's file is a session of its own
        await take(host, Path(hit.path))
    elif hit.session != host.session.id:
        await host.switch(partial(host.host.resume, hit.session))
    if hit.agent and hit.kind != "vault":
        host.show_agent(hit.agent, hit.n)
    else:
        host.show(hit.n)


async def _open(host: PanelHost, words: str) -> None:
    panel = FindPanel(host.host, lambda: datetime.now(UTC), words)
    chosen = await host.push_screen_wait(panel)
    if chosen is not None:
        await open_hit(host, panel.hits[chosen])


PANEL = Panel("", (), _open)
