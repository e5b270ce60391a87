"""`pinfold exec`: one prompt, no screen.

Text mode prints the final answer on stdout and everything on the way there on stderr. JSON mode
prints each journal event as it becomes durable, one a line, just as the rollout holds it.
"""

import sys
from typing import TextIO

from pinfold.agent.session import Session
from pinfold.agent.updates import (
    Appended,
    PhaseChanged,
    PromptReturned,
    QueueChanged,
    Retrying,
    StreamDropped,
    Streamed,
    Told,
    ToolOutput,
    ToolStarted,
    Update,
)
from pinfold.ports import Decision, Question
from pinfold.rollout.events import ItemAdded, TurnFinished, encode
from pinfold.rollout.items import Item
from pinfold.sanitize import clean


async def no_terminal(question: Question) -> Decision:
    """The approver where nobody can be asked: no, and why."""
    return Decision(
        "no", f"{question.reason}; nobody can be asked here (see --approvals). Find another way."
    )


class Printer:
    """A listener that prints a session."""

    def __init__(self, *, as_json: bool, out: TextIO, err: TextIO) -> None:
        self._json = as_json
        self._out = out
        self._err = err
        self._last = ""
        self.ending: TurnFinished | None = None

    def hear(self, update: Update) -> None:
        match update:
            case Appended(event=event):
                if self._json:
                    self._out.write(encode(event).decode() + "\n")
                    self._out.flush()
                match event.data:
                    case ItemAdded(item=item):
                        self._item(item)
                    case TurnFinished() as ending:
                        self.ending = ending
            case ToolStarted(title=title):
                self._note(f"● {title}")
            case Retrying(reason=reason):
                self._note(f"{reason} Trying again.")
            case Told(text=text):
                self._note(text)
            case (
                Streamed()
                | StreamDropped()
                | ToolOutput()
                | PhaseChanged()
                | QueueChanged()
                | PromptReturned()
            ):
                pass

    def _item(self, item: Item) -> None:
        if item.kind == "assistant":
            if self._last:
                self._note(self._last)
            self._last = item.content
        elif item.kind == "tool_call" and self._last:
            self._note(self._last)
            self._last = ""
        elif item.kind == "tool_result" and not item.detail.get("ok", True):
            first = item.content.strip().splitlines() or ["failed"]
            self._note(f"  {item.name}: {first[0]}")

    def _note(self, text: str) -> None:
        if not self._json:
            self._err.write(clean(text).rstrip() + "\n")
            self._err.flush()

    def finish(self) -> int:
        """Print the answer; the exit code."""
        if not self._json and self._last:
            # A terminal obeys escapes; a file or a pipe gets the text as it is.
            text = clean(self._last) if self._out.isatty() else self._last
            self._out.write(text.rstrip() + "\n")
            self._out.flush()
        if self.ending is None:
            return 1
        if self.ending.state != "done":
            self._err.write(f"pinfold: {self.ending.reason or self.ending.state}\n")
        return 0 if self.ending.state == "done" else 1


async def run(session: Session, prompt: str, *, as_json: bool) -> int:
    """Send `prompt`, wait for rest, print. Returns the exit code."""
    printer = Printer(as_json=as_json, out=sys.stdout, err=sys.stderr)
    session.subscribe(printer.hear)
    if not as_json:
        sys.stderr.write(f"session {session.id} · {session.choice_note}\n")
    session.send(prompt)
    await session.idle()
    return printer.finish()
