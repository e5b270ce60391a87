"""A conversation from a dialogue, with its marks taken out and its values put in."""

import re
from collections.abc import Iterator
from functools import partial

from pinfold.evaluation.author import Author, Beat
from pinfold.evaluation.dialogues import Dialogue, Exchange, Line, chatter
from pinfold.evaluation.script import Count
from pinfold.evaluation.truth import Fact, Statement, Truth

_MARK = re.compile(
    r"<(?P<kind>goal|rule|decision|question|answered|fact|next)(?: (?P<key>[^:<>]+))?: "
    r"(?P<text>[^<>]*)>"
)

RAMBLING = 0.4
"""Of the user's messages that matter, how many say other things as well."""


class Told(Author):
    def __init__(self, dialogue: Dialogue, seed: int, budget: int, count: Count) -> None:
        super().__init__(dialogue.name, seed, chatter(dialogue.language), budget, count)
        self._dialogue = dialogue
        self._said: dict[str, dict[str, Statement]] = {}
        """By kind and key, without facts."""
        self._facts: dict[str, Fact] = {}
        """And whatever else has been replaced."""
        self._files: list[str] = []

    def beats(self, number: int) -> Iterator[Beat]:
        for exchange in self._dialogue.stretches[number]:
            yield partial(self._tell, exchange)

    def truth(self) -> Truth:
        def said(kind: str) -> tuple[Statement, ...]:
            return tuple(self._said.get(kind, {}).values())

        *past, step = said("next")
        return Truth(
            goal=said("goal")[-1],
            next=step,
            past=tuple(past),
            constraints=said("rule"),
            decisions=said("decision"),
            facts=tuple(self._facts.values()),
            questions=said("question"),
            files=tuple(self._files),
        )

    def _tell(self, exchange: Exchange) -> None:
        for at, line in enumerate(exchange):
            self._line(line, rambling=at == 0 and self._rng.random() < RAMBLING)
        if exchange[-1].by == "user":
            self._script.say(self._filler.reply())

    def _line(self, line: Line, *, rambling: bool) -> None:
        about, text = self._values.fill(line.about).text, self._stated(line.text)
        match line.by:
            case "user" if rambling:
                self._script.ask(f"{self._filler.prose(1)} {text} {self._filler.prose(2)}")
            case "user":
                self._script.ask(text)
            case "agent":
                self._script.say(text)
            case "tool":
                self.show("", about, text)
            case "write":
                self._files.append(about)
                self.write(about)
            case "record" if about == "decision":
                self.record(kind="decision", decision=text, rationale=self._filler.reply())
            case "record":
                self.show("", "cat notes.txt", text)
                self.record("tool_output", kind="fact", key=about, value=text)

    def _stated(self, text: str) -> str:
        """The text as it is said; what its marks say holds from here on."""
        parts: list[str] = []
        end = 0
        for mark in _MARK.finditer(text):
            parts.append(self._values.fill(text[end : mark.start()]).text)
            said = self._values.fill(mark["text"])
            self._hold(mark["kind"], mark["key"] or "", said)
            parts.append(said.text)
            end = mark.end()
        return "".join([*parts, self._values.fill(text[end:]).text])

    def _hold(self, kind: str, key: str, said: Statement) -> None:
        match kind:
            case "fact":
                self._change(key, said)
            case "answered":
                del self._said["question"][key]
            case _:
                every = self._said.setdefault(kind, {})
                if key in every:
                    self._facts.setdefault(key, Fact(key, every[key]))
                    self._change(key, said)
                every[key or said.text] = said

    def _change(self, key: str, said: Statement) -> None:
        known = self._facts.get(key)
        self._facts[key] = Fact(key, said) if known is None else known.changed(said)
