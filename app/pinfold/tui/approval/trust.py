"""The card that asks the user to approve a server."""

from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from pinfold.ports.approver import Decision, Question
from pinfold.ports.servers import TrustQuestion
from pinfold.ports.tool import Review
from pinfold.sanitize import clean
from pinfold.tui.approval.card import MOVING, ApprovalCard
from pinfold.tui.approval.diff import DiffView
from pinfold.tui.approval.menu import Menu, Option
from pinfold.tui.keys import bindings

YES = {"start": "Yes, start it", "texts": "Yes, the model may read this and call its tools"}


class TrustCard(ApprovalCard, inherit_bindings=False):
    """A number or Enter answers. `policy` is "not now": `/mcp` asks again."""

    DEFAULT_CSS = """
    TrustCard .texts {
        height: auto;
        & > Static { height: auto; }
        & > DiffView { margin: 0 0 1 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVING,
        *(binding for binding in bindings("approval") if binding.action == "enlarge"),
        *bindings("transcript", prefix="screen."),
    ]

    def __init__(self, asked: TrustQuestion, *rest: object) -> None:
        self.asked = asked
        question = Question(
            call_id="",
            tool="",
            arguments="",
            review=Review("read", asked.title),
            reason=f"MCP server {asked.server}",
        )
        super().__init__(question, *rest)  # type: ignore[arg-type]

    def _title(self) -> str:
        return self.asked.title

    def _body_widget(self) -> Widget:
        text = Static(Text(clean(self.asked.text)), markup=False)
        if not self.asked.diff:
            return text
        head = Static("What changed since you approved it:", classes="hint")
        return Vertical(head, DiffView(self.asked.diff), text, classes="texts")

    def _new_menu(self) -> Menu:
        found = [
            Option("allow", YES[self.asked.about]),
            Option("decline", "No"),
            Option("later", "Not now: /mcp asks again"),
        ]
        return Menu(found, [""] * len(found))

    def action_decline(self) -> None:
        self._decide(Decision("no"))

    def action_later(self) -> None:
        self._decide(Decision("policy"))
