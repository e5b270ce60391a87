"""The card of a question: its choices, or an answer in the user's words."""

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from pinfold.ports.approver import Decision
from pinfold.sanitize import clean, one_line
from pinfold.tui.approval.answer import Answer
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.approval.menu import Menu, Option
from pinfold.tui.keys import bindings


class ChoiceCard(ApprovalCard, inherit_bindings=False):
    """Arrows and Enter or a number choose; what is typed begins an answer."""

    DEFAULT_CSS = """
    ChoiceCard Choice {
        height: auto;
        text-wrap: wrap;
    }
    """
    INVITES = "Answer above"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("enter", "select", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        *bindings("transcript", prefix="screen."),
    ]

    def _title(self) -> str:
        return "The agent asks" if self._question.by_agent else "A question for you"

    def _body_widget(self) -> Widget:
        return Static(Text(clean(self._question.review.title)), markup=False)

    def _new_menu(self) -> Menu:
        choices = self._question.choices
        found = [Option(f"choose({at})", one_line(text)) for at, text in enumerate(choices)]
        found.append(Option("answer", self._question.own))
        return Menu(found, [""] * len(found))

    async def _composer(self) -> Widget:
        return await self.action_answer()

    def action_choose(self, at: int) -> None:
        self._decide(Decision("yes", self._question.choices[at]))

    async def action_answer(self) -> Answer:
        answer = Answer("", one_line=True, placeholder="Your answer")
        await self._write(answer, "Enter answers · Esc closes")
        return answer

    def _written(self, event: Answer.Done) -> None:
        if event.text:
            self._decide(Decision("yes", event.text, pasted=tuple(event.pasted)))
