"""The sessions of other tools on this machine, to adopt one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.commands.context_text import age
from pinfold.commands.session import take
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.picker import Choice, Picker
from pinfold.tui.panels.registry import Panel

if TYPE_CHECKING:
    from pinfold.adopt.foreign_list import ForeignSession


async def _pick(host: PanelHost, search: str) -> None:
    now = datetime.now(UTC)
    picker = Picker(
        "Adopt a session",
        source=lambda: (_foreign(line, now) for line in host.host.adoptable()),
        empty="No Codex or Claude Code sessions here. /adopt FILE opens any file.",
        search=search,
    )
    chosen = await host.push_screen_wait(picker)
    if chosen is not None:
        await take(host, Path(chosen))


def _foreign(line: ForeignSession, now: datetime) -> Choice:
    used = tokens(line.used) if line.used else ""
    full = "" if line.full is None else f"{line.full:.0%}"
    title = one_line(line.title or line.file.name)
    size = f"{line.size / 1e6:.1f} MB"
    facts = (one_line(Path(line.cwd).name), one_line(line.model), size, one_line(line.note))
    return Choice(
        str(line.file),
        f"{age(line.updated_at, now):>4} {used:>6} {full:>4}  {one_line(line.tool):<6}  {title}",
        " · ".join(fact for fact in facts if fact),
    )


PANEL = Panel("", (), _pick)
