"""Cards: a tool call and its result as one block."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from pinfold.numbers import duration
from pinfold.rollout.acts import edited, is_quiet, plan
from pinfold.rollout.arguments import parsed
from pinfold.rollout.items import Item
from pinfold.sanitize import clean, clean_output, one_line
from pinfold.tui.plan_line import STEP_SIGNS
from pinfold.tui.transcript import agents
from pinfold.tui.transcript.diffs import counts, diff_lines
from pinfold.tui.transcript.entries import TranscriptEntry, agent_of
from pinfold.tui.transcript.lines import TranscriptLine, clip, indent
from pinfold.tui.transcript.looks import Looks
from pinfold.tui.transcript.pictures import picture_rows
from pinfold.tui.transcript.rows import (
    HEAD,
    LEAD,
    TAIL,
    numbered,
    plain_rows,
    printed_rows,
    shorten,
)
from pinfold.tui.transcript.states import LOOKS, SIGNS, State
from pinfold.window.titles import title_of

if TYPE_CHECKING:
    from pinfold.agent.children.status import ChildStatus

DIFF = 14
"""Rows of a diff that a closed card shows."""
DESCRIBED = 20
"""Cells of an agent's task that go before its figures."""
LIVE = 6
"""Rows of output shown while a tool runs."""
_KEPT = 20_000
"""Characters of live output kept: the whole of it comes with the result."""
_ENDING = re.compile(r"(?:\A|\n)\[exit code -?\d+[^\]\n]*\]\s*\Z")
_REFUSED = re.compile(r"\AThe user refused this call\.(?: They said: )?")
"""What the model reads of a refusal; the card's head says it to people."""
_HEADER = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Exit code|Process exited with code|Original token count"
    r"|Total output lines)\b[^\n]*\n)+(?:Output:(?:\n|\Z))?"
)
"""What Codex puts above the output of a command."""
_LONG = 500
"""Characters from which a call that streams in tells its size."""


class Card(TranscriptEntry):
    """A tool call, what it printed, and its result."""

    def __init__(self, item: Item | None = None, name: str = "") -> None:
        super().__init__(item)
        self.result: Item | None = None
        self._name = name
        self._title = ""
        self._arguments = ""
        self._output = ""
        self._running = False
        self.agent: ChildStatus | None = None
        """The status of the agent that this call started."""

    @property
    def agent_number(self) -> int:
        return self.agent.number if self.agent is not None else agent_of(self.result)

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for item in (self.item, self.result) if item)

    @property
    def source(self) -> str:
        if self.result:
            return self.result.content
        return self._output or (self.item.content if self.item else self._arguments)

    @property
    def searched(self) -> str:
        subject = self._subject()
        head = f"{self.name}  {subject}  {self._facts(1_000)}"
        if self.agent is not None:
            return f"{head}\n{agents.text(self.agent, self.result)}"
        if diff := self._diff():
            return f"{head}\n{clean(diff)}"
        # What is not drawn comes last, so that the matches before it keep their order.
        rest = _other_values(subject, self.item.content if self.item else self._arguments)
        return f"{head}\n{clean_output(self._printed())}\n{clean(rest)}"

    @property
    def quiet(self) -> bool:
        if self.agent is not None:
            return self.closed and self.agent.running
        return self.closed and self._is_quiet and self.state != "failed"

    @property
    def _is_quiet(self) -> bool:
        """Whether a closed card is its head alone."""
        return self.result is not None and is_quiet(self.result)

    @property
    def name(self) -> str:
        if self.by_user:
            return "you"
        if self.agent is not None:
            return self.agent.name
        return (self.item.name if self.item else None) or self._name or "tool"

    @property
    def by_user(self) -> bool:
        """The user ran it: its output is context for the model, and there is no call."""
        return self.result is not None and self.result.kind == "context"

    @property
    def state(self) -> State:
        if self.agent is not None:
            return agents.STATES[self.agent.state]
        if self.result is None:
            if self.item is not None and self.item.state == "interrupted":
                return "interrupted"
            return "running" if self._running else "calling"
        detail = self.result.detail
        if detail.get("refused"):
            return "refused"
        if self.result.state != "complete" or detail.get("interrupted"):
            return "interrupted"
        return "failed" if detail.get("ok") is False else "ok"

    def add(self, name: str, arguments: str) -> None:
        """Take a streamed piece of the call."""
        self._name = self._name or name
        self._arguments += arguments

    def settle(self, item: Item) -> None:
        """Take the whole call in the stream's place."""
        self.item = item
        self._arguments = ""

    def start(self, title: str) -> None:
        """It runs."""
        self._title = title
        self._running = True

    def print(self, text: str) -> None:
        """Take live output."""
        self._output = (self._output + text)[-_KEPT:]

    def finish(self, result: Item) -> None:
        """Take the result, or a command that the user ran."""
        self.result = result
        self._output = ""
        self._running = False

    def estimate(self, width: int) -> int:
        if not self.closed:
            return 1 + super().estimate(width)
        if self.quiet:
            return 1 if self.agent is None else 2
        return 1 + min(HEAD + TAIL + 1, self.source.count("\n") + 1)

    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        drawn = self.agent is not None or not self.quiet
        body = self._body(width - LEAD - 1, looks) if drawn else []
        body += picture_rows(self.result, width - LEAD - 1, looks)
        if self.item is not None and self.result is not None:
            body = numbered(body, self.result.n)
        head = self._head(width, looks, opens=bool(body) or not drawn)
        return [head, *indent(body, [Segment("  ")])]

    def _head(self, width: int, looks: Looks, *, opens: bool) -> TranscriptLine:
        state = self.state
        style = getattr(looks, LOOKS[state])
        subject = self._subject()
        facts = self._facts(width - LEAD - cell_len(self.name) - DESCRIBED)
        # The dot shows where the user's own command ends.
        tail = f"{' ·' if self.by_user else ' '} {facts}" if facts else ""
        room = width - LEAD - 1 - cell_len(self.name) - 2 - cell_len(tail)
        segments = [
            Segment(f"{SIGNS[state]} ", style),
            Segment(one_line(self.name), looks.tool),
        ]
        if subject and room > 4:
            segments.append(Segment(f"  {clip(subject, room)}", looks.plain))
        if tail:
            bad = state in ("failed", "refused", "interrupted")
            segments.append(Segment(tail, style if bad else looks.dim))
        return TranscriptLine(segments, number=self.items[0].n if self.items else 0, toggles=opens)

    def _subject(self) -> str:
        if self.agent is not None:
            return one_line(self.agent.description)
        if self._running and self._title.startswith("$ "):  # the user may have edited it
            return one_line(self._title)
        written = self.item.content if self.item else self._arguments
        subject = title_of(edited(self.result) or written)
        if not subject and self.result is not None and (ran := self.result.detail.get("command")):
            return f"$ {one_line(str(ran))}"
        stated = self.result.detail.get("title") if self.result is not None else None
        return subject or one_line(self._title or str(stated or ""))

    def _facts(self, room: int) -> str:
        if self.agent is not None:
            return agents.facts(self.agent, room)
        state = self.state
        if self.result is None:
            if state == "calling" and len(self._arguments) >= _LONG:
                return f"{len(self._arguments):,} characters"
            return "" if state == "calling" else state
        detail = self.result.detail
        facts = ["edited by you"] if edited(self.result) else []
        if state == "ok":
            if diff := detail.get("diff"):
                added, removed = counts(str(diff))
                facts.append(f"+{added} −{removed}")
            elif self._is_quiet:
                lines = self.result.content.count("\n") + 1
                facts.append(f"{lines:,} line{'s' if lines != 1 else ''}")
        if (code := detail.get("exit_code")) is not None and state != "refused":
            facts.append(f"exit {code}")
        elif state != "ok":
            facts.append(state)
        if isinstance(seconds := detail.get("seconds"), int | float) and seconds >= 0.1:
            facts.append(f"{seconds:.1f}s" if seconds < 60 else duration(seconds))
        return " · ".join(facts)

    def _body(self, width: int, looks: Looks) -> list[TranscriptLine]:
        if self.agent is not None:
            return agents.body(self.agent, self.result, width, looks, closed=self.closed)
        if self.result is None:
            rows = clean_output(self._output).rstrip("\n").split("\n")[-LIVE:]
            return plain_rows(rows, width, looks.dim, whole=False) if self._output else []
        original = plain_rows(self._original(), width, looks.dim, whole=not self.closed)
        if diff := self._diff():
            lines = diff_lines(diff, width, looks)
            return original + (shorten(lines, DIFF, 0, looks) if self.closed else lines)
        return original + printed_rows(self._printed(), width, looks, closed=self.closed)

    def _original(self) -> list[str]:
        """What the model wrote in place of what ran; of much, where it is closed, one row."""
        if self.item is None or not (ran := parsed(edited(self.result))):
            return []
        wrote = parsed(self.item.content) or {}
        rows = [
            row
            for name, value in wrote.items()
            if value != ran.get(name)
            for row in clean(str(value)).split("\n")
        ]
        rows = [f"Before your edit: {row}" if not at else row for at, row in enumerate(rows)]
        return rows[:1] if self.closed else rows

    def _diff(self) -> str:
        """The change that it made."""
        diff = self.result.detail.get("diff") if self.result and self.state == "ok" else None
        return str(diff) if diff else ""

    def _printed(self) -> str:
        if self.result is None:
            return self._output
        if steps := plan(self.result):
            return "\n".join(f"{STEP_SIGNS[step.status]} {step.text}" for step in steps)
        content = self.result.content
        if self.state == "refused":
            said = _REFUSED.sub("", content, count=1)
            return f"You said: {said}" if said and said != content else said
        if ran := edited(self.result):  # the head says it
            content = content.removeprefix(f"[The user changed the arguments to {ran}]\n")
        if self.by_user:  # its first line tells the model what the head says
            content = content.partition("\n")[2]
        if "exit_code" not in self.result.detail:
            return content
        return _ENDING.sub("", _HEADER.sub("", content, count=1))


def _other_values(subject: str, arguments: str) -> str:
    """The values among `arguments` that the head does not show."""
    values = parsed(arguments)
    if values is None:
        return arguments
    return "\n".join(str(value) for value in values.values() if one_line(str(value)) not in subject)
