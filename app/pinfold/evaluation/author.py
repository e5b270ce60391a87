"""Writes a conversation from a dialogue and a seed, as the events that it would leave in a rollout:
marks taken out, values put in, with filler and tool traffic between, up to a share of the budget.

It comes in stretches; a compaction follows each.
"""

import json
import re
from collections import deque
from dataclasses import dataclass
from random import Random

from pinfold.evaluation.dialogues import Dialogue, DialogueLine, Exchange, chatter
from pinfold.evaluation.filler import FillerWriter, ToolUse, digest
from pinfold.evaluation.script import Count, Script
from pinfold.evaluation.truth import ChangingFact, TrueStatement, Truth, Values
from pinfold.rollout.events import ArtifactObserved, Data
from pinfold.rollout.memory import Source

MOST_COMPACTIONS = 5
USER_SHARE = 3.1
"""The user's text before the first compaction, as a multiple of the budget."""
LATER_SHARE = 1.1
"""The same between two compactions."""
RAMBLING = 0.4
"""The share of the user's important messages that say other things as well."""
_MARK = re.compile(
    r"<(?P<kind>goal|rule|decision|question|answered|fact|next)(?: (?P<key>[^:<>]+))?: "
    r"(?P<text>[^<>]*)>"
)


@dataclass(frozen=True)
class Stretch:
    """The events up to a compaction."""

    events: tuple[Data, ...]
    truth: Truth
    """At its end."""
    user_tokens: int


@dataclass(frozen=True)
class ComposedConversation:
    dialogue: Dialogue
    stretches: tuple[Stretch, ...]


def compose(
    dialogue: Dialogue, seed: int, *, compactions: int, budget: int, count: Count
) -> ComposedConversation:
    """The same for the same arguments. `count` measures tokens."""
    author = _Author(dialogue, seed, budget, count)
    return ComposedConversation(
        dialogue, tuple(author.stretch(number) for number in range(compactions))
    )


class _Author:
    """Writes the stretches of one conversation, in order."""

    def __init__(self, dialogue: Dialogue, seed: int, budget: int, count: Count) -> None:
        self._dialogue = dialogue
        self._rng = Random(f"{dialogue.name} {seed}")  # noqa: S311  not for secrets
        self._chatter = chatter(dialogue.language)
        self._filler = FillerWriter(self._rng, self._chatter)
        self._values = Values(self._rng)
        self._script = Script(count)
        self._budget = budget
        self._statements: dict[str, dict[str, TrueStatement]] = {}
        """By kind and key, except facts."""
        self._facts: dict[str, ChangingFact] = {}
        """By key; also every other statement that was replaced."""
        self._files: list[str] = []

    def stretch(self, number: int) -> Stretch:
        script = self._script
        script.begin()
        share = USER_SHARE if number == 0 else LATER_SHARE
        exchanges = deque(self._dialogue.stretches[number])
        every = len(exchanges)
        wanted = int(share * self._budget)
        while exchanges or script.user_tokens < wanted:
            due = every - len(exchanges) <= every * script.user_tokens / wanted
            if exchanges and due:
                self._add_exchange(exchanges.popleft())
            else:
                self._fill()
        script.ask(self._rng.choice(self._chatter.last))
        script.say("", [ToolUse("list_dir", json.dumps({"path": "."}), "docs\nvendor\nexamples")])
        return Stretch(tuple(script.taken()), self._truth(), script.user_tokens)

    def _truth(self) -> Truth:
        def all_of(kind: str) -> tuple[TrueStatement, ...]:
            return tuple(self._statements.get(kind, {}).values())

        *past, step = all_of("next")
        return Truth(
            goal=all_of("goal")[-1],
            next=step,
            past=tuple(past),
            constraints=all_of("rule"),
            decisions=all_of("decision"),
            facts=tuple(self._facts.values()),
            questions=all_of("question"),
            files=tuple(self._files),
        )

    # What is said and done

    def _add_exchange(self, exchange: Exchange) -> None:
        for at, line in enumerate(exchange):
            self._line(line, rambling=at == 0 and self._rng.random() < RAMBLING)
        if exchange[-1].by == "user":
            self._script.say(self._filler.reply())

    def _line(self, line: DialogueLine, *, rambling: bool) -> None:
        about, text = self._values.fill(line.about).text, self._stated(line.text)
        match line.by:
            case "user" if rambling:
                self._script.ask(f"{self._filler.prose(1)} {text} {self._filler.prose(2)}")
            case "user":
                self._script.ask(text)
            case "agent":
                self._script.say(text)
            case "tool":
                self._show(about, text)
            case "write":
                self._files.append(about)
                self._write(about)
            case "record" if about == "decision":
                self._record(kind="decision", decision=text, rationale=self._filler.reply())
            case "record":
                self._show("cat notes.txt", text)
                self._record("tool_output", kind="fact", key=about, value=text)

    def _write(self, path: str) -> None:
        seen = ArtifactObserved(uri=path, kind="file", op="create", hash=digest(self._rng))
        given = json.dumps({"path": path, "content": self._filler.code(8)})
        self._script.say("", [ToolUse("write_file", given, f"Wrote {path}, 8 lines.", seen)])

    def _show(self, command: str, output: str) -> None:
        """The agent runs a command that prints `output` among other lines."""
        shown = f"{self._filler.code(6)}\n{output}\n{self._filler.code(6)}"
        self._script.say("", [ToolUse("shell", json.dumps({"command": command}), shown)])

    def _record(self, source: Source = "user", **proposal: object) -> None:
        """The agent records something, citing the newest item of that source."""
        self._script.remember({**proposal, "evidence": {"source": source, "ref": "latest"}})
        self._script.say(self._filler.reply())

    def _fill(self) -> None:
        self._script.ask(self._filler.message())
        uses = [self._filler.use() for _ in range(self._rng.randrange(0, 3))]
        if uses:
            self._script.say("", uses)
        self._script.say(self._filler.reply())

    # What is true from there on

    def _stated(self, text: str) -> str:
        """The text without its marks; what they state is true from here on."""
        parts: list[str] = []
        end = 0
        for mark in _MARK.finditer(text):
            parts.append(self._values.fill(text[end : mark.start()]).text)
            said = self._values.fill(mark["text"])
            self._hold(mark["kind"], mark["key"] or "", said)
            parts.append(said.text)
            end = mark.end()
        return "".join([*parts, self._values.fill(text[end:]).text])

    def _hold(self, kind: str, key: str, said: TrueStatement) -> None:
        match kind:
            case "fact":
                self._change(key, said)
            case "answered":
                del self._statements["question"][key]
            case _:
                every = self._statements.setdefault(kind, {})
                if key in every:
                    self._facts.setdefault(key, ChangingFact(key, every[key]))
                    self._change(key, said)
                every[key or said.text] = said

    def _change(self, key: str, said: TrueStatement) -> None:
        known = self._facts.get(key)
        self._facts[key] = ChangingFact(key, said) if known is None else known.changed(said)
