"""A conversation from a template, which says what is stated when.

Its first stretch holds the goal, most of what the user lays down, and every fact with its first
change. Later ones add a constraint, decisions, changes, files and another next step.
"""

from collections.abc import Iterator
from functools import partial
from typing import Literal

from pinfold.evaluation.author import Author, Beat
from pinfold.evaluation.script import Count
from pinfold.evaluation.templates import By, Template, language
from pinfold.evaluation.truth import Fact, Statement, Truth

Said = Literal["constraints", "decisions", "questions", "next"]


class Templated(Author):
    def __init__(self, template: Template, seed: int, budget: int, count: Count) -> None:
        self._phrases = language(template.language)
        super().__init__(template.name, seed, self._phrases, budget, count)
        self._template = template
        self._goal = self._values.fill(template.goal)
        self._said: dict[Said, list[Statement]] = {
            "constraints": [],
            "decisions": [],
            "questions": [],
            "next": [],
        }
        self._facts: list[Fact] = []
        self._files: list[str] = []

    def truth(self) -> Truth:
        *past, step = self._said["next"]
        return Truth(
            goal=self._goal,
            next=step,
            past=tuple(past),
            constraints=tuple(self._said["constraints"]),
            decisions=tuple(self._said["decisions"]),
            facts=tuple(self._facts),
            questions=tuple(self._said["questions"]),
            files=tuple(self._files),
        )

    # What matters

    def beats(self, number: int) -> Iterator[Beat]:
        template = self._template
        first = number == 0
        if first:
            yield self._open
            yield from (partial(self._fact, fact, change=False) for fact in range(3))
        yield from self._decisions(number)
        if first:
            yield partial(self._constraint, 2)
        if number == 1:
            yield partial(self._constraint, 3)
        yield self._file
        if number < len(template.questions):
            yield partial(self._question, number)
        yield partial(self._next, number)
        if first:
            yield from (partial(self._fact, fact, change=True) for fact in range(3))
            yield self._file
            yield self._file
        else:
            yield partial(self._fact, (number - 1) % 3, change=True)

    def _open(self) -> None:
        first = [self._state("constraints", self._template.constraints[at]) for at in (0, 1)]
        rules = "\n".join(f"- {each.text}" for each in first)
        told = f"{self._phrases.background} {self._filler.prose(2)}"
        self._user(f"{self._goal.text}\n\n{rules}\n\n{told}")
        self._script.say(self._filler.reply(), [self._filler.use()])

    def _constraint(self, number: int) -> None:
        said = self._state("constraints", self._template.constraints[number])
        self._user(f"{self._filler.prose(2)} {said.text} {self._filler.prose(1)}")
        self._script.say(self._filler.reply())

    def _decisions(self, number: int) -> Iterator[Beat]:
        made = self._template.decisions
        kinds = ((made.user, self._decide), (made.agent, self._agree), (made.recorded, self._note))
        for kind, (texts, beat) in enumerate(kinds):
            if number == 0:
                yield partial(beat, texts[0])
            elif number == kind + 1:
                yield partial(beat, texts[1])

    def _decide(self, text: str) -> None:
        said = self._state("decisions", text)
        self._user(f"{self._filler.prose(2)}\n\n{said.text}")
        self._script.say(self._filler.reply())

    def _agree(self, text: str) -> None:
        said = self._state("decisions", text)
        self._user(self._filler.message())
        self._script.say(f"{self._phrases.proposal} {said.text}", [self._filler.use()])
        self._user(self._rng.choice(self._phrases.agreed))
        self._script.say(self._filler.reply())

    def _note(self, text: str) -> None:
        said = self._state("decisions", text)
        self._user(self._filler.message())
        self.record(kind="decision", decision=said.text, rationale=self._filler.reply())

    def _fact(self, number: int, *, change: bool) -> None:
        template = self._template.facts[number]
        said = self._values.fill(template.text)
        told = said.text
        if change:
            self._facts[number] = self._facts[number].changed(said)
            told = f"{self._rng.choice(self._phrases.changed)} {said.text}"
        else:
            self._facts.append(Fact(template.label, said))
        self._tell(template.by, template.label, told, said)

    def _tell(self, by: By, label: str, told: str, said: Statement) -> None:
        match by:
            case "user":
                self._user(f"{self._filler.prose(3)} {told}")
                self._script.say(self._filler.reply())
            case "tool":
                self._user(self._filler.message())
                self.show(self._phrases.config, "make settings", said.text)
            case "recorded":
                self._user(f"{self._filler.prose(3)} {told}.")
                self.record(kind="fact", key=label, value=said.text)

    def _question(self, number: int) -> None:
        said = self._state("questions", self._template.questions[number])
        told = f"{self._phrases.open} {said.text}"
        if number == 0:
            self._user(f"{self._filler.prose(2)} {told}")
            self._script.say(self._filler.reply())
        else:
            self._user(self._filler.message())
            self._script.say(told)

    def _next(self, number: int) -> None:
        said = self._state("next", self._template.next[number])
        if number % 3 == 1:
            self._user(f"{self._filler.prose(2)} {self._phrases.then_user} {said.text}.")
            self._script.say(self._filler.reply())
            return
        self._user(self._filler.message())
        if number % 3 == 0:
            self._script.say(f"{self._phrases.then} {said.text}.")
        else:
            self.record(kind="plan", steps=[{"id": f"s{number}", "text": said.text}])

    def _file(self) -> None:
        rng, template = self._rng, self._template
        path = f"{rng.choice(template.folders)}/{self._values.draw('name')}{template.ending}"
        self._files.append(path)
        self._user(self._filler.message())
        self.write(path)
        self._script.say(self._filler.reply())

    # How it is said

    def _state(self, kind: Said, text: str) -> Statement:
        said = self._values.fill(text)
        self._said[kind].append(said)
        return said

    def _user(self, text: str) -> None:
        self._script.ask(text)
