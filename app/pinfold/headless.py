"""`pinfold exec`: one prompt, without the screen.

Text mode prints the final answer on stdout, everything else on stderr. JSON mode prints the
journal's first event and every event since this opening, one per line, as in the rollout; stderr
gets only what is not an event.
"""

import asyncio
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from pinfold import reply_schema
from pinfold.agent.session import Session
from pinfold.agent.turn.ending import Ending
from pinfold.agent.updates import (
    Appended,
    CompactionProgress,
    PhaseChanged,
    Prepared,
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
from pinfold.numbers import duration
from pinfold.ports.approver import Decision, Question
from pinfold.providers.choose import HOW
from pinfold.rollout.codec import encode
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.provenance import Prompt
from pinfold.sanitize import escaped, one_line

LIMIT = 3
"""Exit code: a limit ended the turn."""


async def no_terminal(question: Question) -> Decision:
    """Answer for a user who is not there: no, and why."""
    return Decision(
        "policy",
        f"{one_line(question.review.title)} needs a yes ({question.reason}), and nobody can be "
        "asked here. --approvals workspace allows edits in the folder and commands in the sandbox, "
        "--approvals full everything.",
    )


class Printer:
    """A listener that prints a session."""

    def __init__(
        self, stop: Callable[[], None], *, as_json: bool, out: TextIO, err: TextIO
    ) -> None:
        """`stop` is called when the reader of the output goes away."""
        self._stop = stop
        self._json = as_json
        self._out = out
        self._err = err
        self._last = ""
        self._errors: list[str] = []
        self.broken: BrokenPipeError | None = None
        """Raised when the reader of the output went away."""

    def hear(self, update: Update) -> None:
        """Print `update`; without a reader, do nothing."""
        if self.broken is not None:
            return
        try:
            self._print(update)
        except BrokenPipeError as error:
            self.broken = error
            self._stop()

    def _print(self, update: Update) -> None:
        match update:
            case Appended(event=event):
                if self._json:
                    self.line(encode(event))
                if isinstance(event.data, ItemAdded):
                    self._item(event.data.item)
            case ToolStarted(title=title):
                self._say_in_text(f"● {title}")
            case Retrying(reason=reason, attempt=attempt, attempts=attempts, seconds=seconds):
                wait = duration(math.ceil(seconds))
                self.say(f"Trying again ({attempt + 1} of {attempts}) in {wait}: {reason}")
            case Told(text=text, level=level):
                if level == "error":
                    self._errors.append(text)
                self.say(text)
            case (
                CompactionProgress()
                | Prepared()
                | Streamed()
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
                self._say_in_text(self._last)
            self._last = item.content
        elif item.kind == "tool_call" and self._last:
            self._say_in_text(self._last)
            self._last = ""
        elif item.kind == "tool_result" and not item.detail.get("ok", True):
            first = item.content.strip().splitlines() or ["failed"]
            self._say_in_text(f"  {item.name}: {first[0]}")

    def line(self, event: bytes) -> None:
        """Print an encoded event."""
        self._out.write(escaped(event.decode()) + "\n")
        self._out.flush()

    def _say_in_text(self, text: str) -> None:
        """Say what JSON mode prints as an event."""
        if not self._json:
            self.say(text)

    def say(self, text: str) -> None:
        """Print on stderr."""
        self._err.write(text.rstrip() + "\n")
        self._err.flush()

    def finish(self, ending: Ending) -> int:
        """Print the answer. Returns the exit code."""
        if not self._json and self._last:
            self._out.write(self._last.rstrip() + "\n")
            self._out.flush()
        if ending.state != "done" and ending.reason not in self._errors:
            self.say(f"pinfold: {ending.reason or ending.state}")
        if ending.limit:
            return LIMIT
        return 0 if ending.state == "done" else 1


async def run(
    session: Session,
    prompt: Prompt,
    *,
    as_json: bool = False,
    schema: Mapping[str, Any] | None = None,
) -> int:
    """Send `prompt`, print what comes, wait until the session is idle. Returns the exit code.

    An answer that does not match `schema` is asked for once more; the second time it is a failure.
    Raises `BrokenPipeError` when the reader of the output goes away; the turn is then interrupted.
    """
    printer = Printer(session.interrupt, as_json=as_json, out=sys.stdout, err=sys.stderr)
    session.subscribe(printer.hear)
    if as_json:
        for line in await asyncio.to_thread(_opening, session.folder, session.opened_after):
            printer.line(line)
    else:
        # How to choose another model is nothing to say here.
        sys.stderr.write(
            f"session {session.id} · {session.choice_note.removesuffix(HOW).strip()}\n"
        )
    for damage in session.damage:
        printer.say(damage)
    if cold := await session.cold():
        printer.say(cold)
    prompt = await _fitted(session, prompt, printer)
    if schema is not None:
        session.reply_by(schema)
        prompt = reply_schema.asking(prompt, schema)
    ending = await session.send(prompt.text, prompt.pasted)
    if schema is not None and ending.state == "done" and not ending.limit:
        ending = await _obeying(session, ending, schema)
    await session.idle()
    if printer.broken is not None:
        raise printer.broken
    return printer.finish(ending)


async def _obeying(session: Session, ending: Ending, schema: Mapping[str, Any]) -> Ending:
    """`ending`, or that of a second try where its answer does not match `schema`."""
    wrong = reply_schema.violation(ending.answer, schema)
    if not wrong:
        return ending
    again = f"Your reply does not obey the schema: {wrong}. Reply again, with JSON alone."
    ending = await session.send(again, [(0, len(again))])
    wrong = reply_schema.violation(ending.answer, schema) if ending.state == "done" else ""
    return replace(ending, state="failed", reason=f"the reply: {wrong}") if wrong else ending


async def _fitted(session: Session, prompt: Prompt, printer: Printer) -> Prompt:
    """`prompt`; if it takes too much of the window, one that points to files. Raises `OSError`."""
    size = await session.large.measure(prompt)
    if size is None:
        return prompt
    large, model = session.large, session.model
    smaller = await (large.attach(prompt) if model.tools else large.cut(prompt))
    if model.tools:
        how = "the model sees its beginning and reads the rest there."
    else:
        how = f"{model.name} has no tools to read it with: it sees only the beginning and the end."
    printer.say(
        f"The prompt takes about {size.tokens:,} tokens, over a quarter of the window of "
        f"{size.window:,}. Whole in {', '.join(map(str, smaller.files))}; {how}"
    )
    return smaller.prompt


def _opening(folder: Path, after: int) -> list[bytes]:
    """The lines of the first event, which has the session's id, and of all after number `after`."""
    with Journal.open(folder, partial(datetime.now, UTC), read_only=True) as journal:
        pairs = zip(journal.whole_lines(), journal.read(), strict=True)
        return [line for line, event in pairs if event.seq == 1 or event.seq > after]
