"""Asks the user to approve a server: that it starts, that a model reads its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from pinfold.sanitize import clean, one_line
from pinfold.tui.approval.diff import DiffView
from pinfold.tui.panels.modal import Modal

if TYPE_CHECKING:
    from textual.app import App

    from pinfold.agent.servers.in_session import SessionServers
    from pinfold.ports.servers import TrustQuestion

VERBS = {"start": "starts it", "texts": "lets the model read this"}


class ServerQuestion(Modal[bool]):
    """Its result is whether the user said yes; none where they leave it open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", show=False),
        Binding("n", "dismiss(False)", show=False),
        Binding("escape,q", "leave", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
    ]

    def __init__(self, question: TrustQuestion) -> None:
        super().__init__()
        self._question = question
        self._scroll = VerticalScroll(can_focus=False)

    def compose(self) -> ComposeResult:
        question = self._question
        with Vertical(classes="panel question") as panel:
            panel.border_title = Text(one_line(question.title))
            verb = VERBS[question.about]
            panel.border_subtitle = f"y {verb} · n refuses · ↑ ↓ scroll · Esc decides later"
            with self._scroll:
                if question.diff:
                    yield Static("What changed since you approved it:", classes="hint")
                    yield DiffView(question.diff)
                yield Static(Text(clean(question.text)), markup=False)

    def action_leave(self) -> object:
        return self.dismiss(None)

    def action_scroll(self, way: int) -> None:
        self._scroll.scroll_relative(y=way, animate=False)

    def action_page(self, way: int) -> None:
        height = max(1, self._scroll.size.height - 1)
        self._scroll.scroll_relative(y=way * height, animate=False)


async def ask_server(app: App[Any], servers: SessionServers, name: str) -> None:
    """Ask what the server needs to know, if anything, and give it the answer."""
    question = servers.port.state(name).question
    if question is None:
        return
    answer = await app.push_screen_wait(ServerQuestion(question))
    # It may have changed while the user read.
    if answer is not None and servers.port.state(name).question == question:
        await servers.port.answer(name, yes=answer)
