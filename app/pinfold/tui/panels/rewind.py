"""Rewinding on the screen: which prompt, and what becomes of the files changed since."""

import asyncio
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.text import Text

from pinfold.commands.context_text import age
from pinfold.commands.look_back import LookBack, look_back
from pinfold.commands.rewind import go_back
from pinfold.sanitize import clean, one_line
from pinfold.tools.restore import plan
from pinfold.tui.panels.chooser import Chooser
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.picker import Choice, ranked
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import ListLine
from pinfold.tui.panels.undo_files import SIGNS, UndoPanel

_SHOWN = 1_600
"""Characters of a prompt that are shown."""


async def _rewind(host: PanelHost, number: str) -> None:
    """Go back to before a prompt, or before the one that the user chooses."""
    session = host.session
    past = await asyncio.to_thread(look_back, session.folder)
    if not number:
        chosen = await host.push_screen_wait(RewindPanel(past, datetime.now(UTC)))
        if chosen is None:
            return
        number = chosen
    n = int(number)
    past.prompt(n)  # raises where there is none
    undos = await asyncio.to_thread(plan, past.changes(n), session.cwd, session.folder)
    undone = await host.push_screen_wait(UndoPanel(n, undos, past.commands(n))) if undos else ()
    if undone is not None:
        await go_back(host, past, n, undone)


class RewindPanel(Chooser):
    """Its result is the number of a prompt."""

    def __init__(self, past: LookBack, now: datetime) -> None:
        super().__init__("Rewind to before a prompt", "Enter rewinds in a fork · Esc closes")
        self._past = past
        self._prompts = {str(prompt.n): prompt for prompt in past.prompts()}
        self._now = now

    def on_mount(self) -> None:
        self.filtered()

    def filtered(self) -> None:
        choices = [Choice(key, prompt.text, f"#{key}") for key, prompt in self._prompts.items()]
        shown = ranked(choices, self.input.value)
        width = max((len(key) for key in self._prompts), default=0) + 1
        self.list.show_lines([self._line(choice.id, width) for choice in shown], top=True)
        prompts = f"{len(shown):,} prompt{'s' if len(shown) != 1 else ''}"
        count = f"{prompts}, and how many files changed since"
        self.say(count if self._prompts else "There is no prompt to go back to yet.")

    def _line(self, key: str, width: int) -> ListLine:
        prompt = self._prompts[key]
        files = f"{prompt.files} file{'s' if prompt.files != 1 else ''} · " if prompt.files else ""
        right = f"{files}{age(prompt.at, self._now):>3}"
        return ListLine(key, f"#{key}".rjust(width), prompt.text, right=right)

    def looked_at(self, key: str | None) -> None:
        self.preview(self._page(int(key)) if key else "")

    def _page(self, n: int) -> RenderableType:
        prompt = self._prompts[str(n)]
        parts = [
            Text(f"#{n} · {prompt.at.astimezone():%Y-%m-%d %H:%M}", "dim"),
            Text(clean(prompt.text.strip()[:_SHOWN])),
        ]
        changed = self._past.changes(n)
        if changed:
            parts += [Text(), Text("Files changed since", "dim")]
            parts += [Text(f"{SIGNS[change.op]} {one_line(change.uri)}") for change in changed]
        if commands := self._past.commands(n):
            parts += [Text(), Text(f"{commands} command{'s' if commands != 1 else ''} ran", "dim")]
        return Group(*parts)


PANEL = Panel("", (), _rewind)
