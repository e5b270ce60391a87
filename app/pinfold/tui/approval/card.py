"""The card itself: what the call would do, and the user's answer."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from pinfold.ports.approver import Decision, Question
from pinfold.sanitize import clean, one_line
from pinfold.tui.approval.answer import Answer
from pinfold.tui.approval.arguments import Editable, editable
from pinfold.tui.approval.diff import DiffView
from pinfold.tui.approval.menu import Choice, Menu, options
from pinfold.tui.keys import bindings

ANSWERS = frozenset({"allow", "network", "refuse", "always", "change"})
"""Actions that only some questions offer."""
FIELDS = {
    "": "the arguments",
    "content": "the file's text",
    "new_string": "the new text",
    "patch": "the patch",
}
"""What one edits on a card, by the argument that holds it."""
FRAME = 6
"""Columns of a card's foot that its text can't have."""


MOVING = (
    Binding("up", "move(-1)", show=False),
    Binding("down", "move(1)", show=False),
    Binding("enter", "select", show=False),
    Binding("pageup", "page(-1)", show=False),
    Binding("pagedown,space", "page(1)", show=False),
    Binding("home", "edge(0)", show=False),
    Binding("end", "edge(1)", show=False),
)
"""Keys that choose an answer and scroll what is asked about."""


class ApprovalCard(Vertical, can_focus=True):
    """Shown above the prompt until `decided` has a result."""

    DEFAULT_CSS = """
    ApprovalCard {
        height: auto;
        border: round $rule;
        border-title-style: bold;
        border-title-color: $foreground;
        border-subtitle-color: $foreground 60%;
        padding: 0 1;
        background: $background;

        &:focus-within, &:focus { border: round $warning; border-title-color: $warning; }

        & > .body { height: auto; max-height: 30vh; scrollbar-size-vertical: 1; }
        &.-large > .body { height: 1fr; max-height: 100%; }
        &.-large { height: 1fr; min-height: 70vh; }
        & > .why { margin: 1 0 0 0; }
        & > .below { height: auto; margin: 1 0 0 0; }
        & .command { text-style: bold; }
        & .hint { color: $foreground 60%; }
    }
    """
    INVITES: ClassVar[str] = "Answer above, or write here: a message approves nothing"
    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVING,
        *bindings("approval"),
        *bindings("transcript", prefix="screen."),
    ]

    def __init__(
        self, question: Question, key: Callable[[str], str], prompt: Widget, pause: float
    ) -> None:
        """`key` names the key of an action; `prompt` gets what is written. A letter answers if no
        key follows it for `pause` seconds."""
        super().__init__()
        self._key = key
        self._prompt = prompt
        self._pause = pause
        self._held: events.Key | None = None
        """A letter that answers unless another key follows."""
        self._takes_over: Widget | None = None
        """What gets the keys that still arrive here until the focus has moved to it."""
        self._question = question
        self._menu = self._new_menu()
        self._edited: Editable | None = None
        """What is being edited; None while a note is written."""
        self._body = VerticalScroll(self._body_widget(), classes="body", can_focus=False)
        self._why = Static(Text(_why(question)), classes="why", markup=False)
        """Why it asks, where the card's foot has no room for it."""
        self._below = Vertical(self._menu, classes="below")
        self.decided: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

    def compose(self) -> ComposeResult:
        self.border_title = Text(one_line(self._title()))
        self._describe()
        yield self._body
        yield self._why
        yield self._below

    def _title(self) -> str:
        review = self._question.review
        if self._question.outside:
            return "Run this command outside its sandbox?"
        if call := review.foreign:
            return f"Call {call.tool} of MCP server {call.server}?"
        if review.command is not None:
            return f"Run this command{' in the background' if review.background else ''}?"
        return f"{review.title[:1].upper()}{review.title[1:]}?"

    def _describe(self) -> None:
        """At the card's foot: why it asks, how much there is to read, how to answer."""
        said: list[str] = []
        rows, seen = self._body.virtual_size.height, self._body.size.height
        if rows > seen > 0:
            said.append(f"{rows} lines: PgDn scrolls, {self._key('enlarge')} enlarges")
        if not self.has_focus_within:
            said.append(f"{self._key('switch_focus')} goes to the question")
        elif self.screen.focused is self:
            said.append("Enter selects")
        why = _why(self._question)
        width = self.outer_size.width
        self._why.display = bool(width) and cell_len(" · ".join([why, *said])) > width - FRAME
        if not self._why.display:
            said.insert(0, why)
        self.border_subtitle = Text(" · ".join(said))

    def on_resize(self) -> None:
        self.call_after_refresh(self._describe)

    def on_descendant_focus(self) -> None:
        self._describe()

    def on_descendant_blur(self) -> None:
        self._describe()

    def on_focus(self) -> None:
        self._describe()

    def on_blur(self) -> None:
        self._takes_over = self._held = None
        self._describe()

    @property
    def how(self) -> str:
        """How to answer while the card has the keys, for the prompt; empty while it has not."""
        if self.screen.focused is self:
            return self.INVITES
        return "Answer above" if self.has_focus_within else ""

    def _body_widget(self) -> Widget:
        review = self._question.review
        if review.command is not None:
            return Static(Text(clean(f"$ {review.command}")), classes="command", markup=False)
        if review.diff:
            return DiffView(review.diff)
        if review.foreign is not None:
            return Static(Text(clean(review.foreign.arguments)), markup=False)
        return Static(Text(clean(self._question.arguments)), markup=False)

    def _new_menu(self) -> Menu:
        found = options(self._question)
        return Menu(found, [self._key(option.action) for option in found])

    async def _ask(self) -> None:
        self._menu = self._new_menu()
        await self._show(self._menu)
        self._body.display = True

    async def _show(self, *widgets: Widget) -> None:
        await self._below.remove_children()
        await self._below.mount(*widgets)

    async def _write(self, answer: Answer, keys: str) -> None:
        """Let the user write in `answer`; `keys` says how to finish."""
        if self.has_focus:
            self._takes_over = answer
        await self._show(answer, hint(keys))
        answer.focus()

    def _decide(self, decision: Decision) -> None:
        if not self.decided.done():
            self.decided.set_result(decision)

    # The user's answer

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """The key of an answer that is not in the menu does nothing; where the agent asks a
        question, it is an ordinary letter."""
        if action not in ANSWERS or any(option.action == action for option in self._menu.options):
            return True
        return False if self._question.choices else None

    async def on_key(self, event: events.Key) -> None:
        """A number answers at once, a letter if no other key follows; what is written goes on."""
        if self._takes_over is not None:
            event.stop()
            self._takes_over.post_message(_again(event))
            return
        if not self.has_focus:
            return
        held, self._held = self._held, None
        if held is not None and event.key == "enter":
            event.stop()
            await self._act(held)
        if not event.is_printable:
            return
        event.stop()
        letter = event.character or ""
        if held is not None:
            await self._pass_on(held, event)
        elif event.key in self.screen.active_bindings:
            if letter.isspace() or not self._pause:
                await self._act(event)
            else:
                self._hold(event)
        elif not letter.isdecimal():
            await self._pass_on(event)
        elif 0 < int(letter) <= len(self._menu.options):
            await self.run_action(self._menu.options[int(letter) - 1].action)

    async def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if self._takes_over is not None:
            self._takes_over.post_message(_again(event))
        elif self.has_focus:
            held, self._held = self._held, None
            await self._pass_on(*([held] if held else []), event)

    def _hold(self, letter: events.Key) -> None:
        async def act() -> None:
            if self._held is letter:
                self._held = None
                await self._act(letter)

        self._held = letter
        # Through the queues of the app and the card: a key that has come is ahead of it there.
        self.set_timer(self._pause, lambda: self.app.call_later(self.call_later, act))

    async def _act(self, key: events.Key) -> None:
        """Do what is bound to it. Not left to the app: the next letter may already wait in this
        card's queue."""
        bound = self.screen.active_bindings[key.key]
        await self.app.run_action(bound.binding.action, bound.node)

    async def _pass_on(self, *written: events.Key | events.Paste) -> None:
        """Let the user go on writing where `_composer` says."""
        self._takes_over = composer = await self._composer()
        for event in written:
            composer.post_message(_again(event))

    async def _composer(self) -> Widget:
        """Give the keys to what the user writes in."""
        self._prompt.focus()
        return self._prompt

    def action_move(self, by: int) -> None:
        self._menu.move(by)

    async def action_select(self) -> None:
        await self.run_action(self._menu.options[self._menu.chosen].action)

    def action_page(self, pages: int) -> None:
        self._body.scroll_relative(y=pages * max(1, self._body.size.height - 1), animate=False)

    def action_edge(self, end: int) -> None:
        self._body.scroll_to(y=end * self._body.max_scroll_y, animate=False)

    def action_enlarge(self) -> None:
        self.toggle_class("-large")

    def action_allow(self) -> None:
        self._decide(Decision("yes"))

    def action_network(self) -> None:
        self._decide(Decision("yes", network=True))

    def action_always(self) -> None:
        self._decide(Decision("always"))

    async def action_refuse(self) -> None:
        if not self._question.tool:  # the turn pauses, so no model would read why
            self._decide(Decision("no"))
            return
        self._edited = None
        answer = Answer("", one_line=True, placeholder="Tell the model why (optional)")
        await self._write(answer, "Enter refuses · Esc closes")

    async def action_change(self) -> None:
        question = self._question
        self._edited = what = editable(question.arguments, question.editable)
        is_command = bool(what.field) and question.review.command is not None
        answer = Answer(what.text, one_line=is_command)
        keys = "Enter or Ctrl+S runs it · Ctrl+J new line" if is_command else "Ctrl+S allows it"
        named = "" if is_command else f"Edit {FIELDS.get(what.field, what.field)} · "
        self._body.display = False
        await self._write(answer, f"{named}{keys} · Esc closes")

    @on(Choice.Chosen)
    async def _choose(self, event: Choice.Chosen) -> None:
        await self.run_action(event.action)

    @on(Answer.Done)
    def _answered(self, event: Answer.Done) -> None:
        self._written(event)

    def _written(self, event: Answer.Done) -> None:
        if self._edited is None:
            self._decide(Decision("no", event.text, pasted=tuple(event.pasted)))
            return
        try:
            arguments = self._edited.with_text(event.text)
        except ValueError as error:
            self._below.query_one(".hint", Static).update(Text(str(error), "bold"))
            return
        self._decide(Decision("yes", arguments=arguments))

    @on(Answer.Left)
    async def _back(self) -> None:
        await self._ask()
        self.focus()


def _again(event: events.Key | events.Paste) -> events.Event:
    """The event, for another widget."""
    match event:
        case events.Key():
            return events.Key(event.key, event.character)
        case events.Paste():
            return events.Paste(event.text)


def hint(text: str) -> Static:
    """A dim line below an answer."""
    return Static(text, classes="hint", markup=False)


def _why(question: Question) -> str:
    """Why it is asked, and by whom where that is an agent."""
    asks = f"agent {question.agent}: " if question.agent else ""
    return one_line(asks + question.reason)
