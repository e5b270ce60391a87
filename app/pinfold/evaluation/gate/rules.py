"""The rules of a gate, as they are written in TOML.

    [[rule]]
    name = "the release"
    sessions = "sessions/*.jsonl"
    strategy = "checkpoint"
    budget = 8000
    keeps = ["port 8443", "path:src/x.py", "decision:#12", "exam:release.toml"]
    at_least = 1.0

Rules that use a model stand under `[model]`, as `[[model.rule]]`; `runs` says how often each runs.
"""

import tomllib
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from pinfold.compaction.strategies.registry import registry
from pinfold.settings import strategy_named
from pinfold.settings_check import complaint

EXAM = "exam:"
LEAST_BUDGET, MOST_BUDGET = 500, 128_000
"""Tokens."""

Share = Annotated[float, Meta(gt=0, le=1)]
Text = Annotated[str, Meta(min_length=1)]
Read = TypeVar("Read", bound=Struct)


class RulesError(Exception):
    """The rules can't be read; `str()` says why."""


class GateQuestion(Struct, frozen=True, forbid_unknown_fields=True):
    """A question of an exam."""

    question: Text
    answers: Annotated[tuple[Text, ...], Meta(min_length=1)]
    """The texts that a window must all contain."""


class GateRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What sessions must keep."""

    name: Text
    sessions: Text
    """A file, folder or pattern, relative to the rules' folder."""
    keeps: Annotated[tuple[Text, ...], Meta(min_length=1)]
    strategy: str = "checkpoint"
    budget: Annotated[int, Meta(ge=LEAST_BUDGET, le=MOST_BUDGET)] = 8_000
    """Tokens of the window after the compaction."""
    at_least: Share = 1.0
    """The share that must be kept."""


class _Model(Struct, frozen=True, forbid_unknown_fields=True):
    runs: Annotated[int, Meta(ge=1, le=50)] = 3
    rule: tuple[GateRule, ...] = ()


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[GateRule, ...] = ()
    model: _Model = _Model()


class _Exam(Struct, frozen=True, forbid_unknown_fields=True):
    question: Annotated[tuple[GateQuestion, ...], Meta(min_length=1)]


class GateRules(Struct, frozen=True):
    """All rules of a file, checked."""

    offline: tuple[GateRule, ...]
    model: tuple[GateRule, ...]
    runs: int
    exams: Mapping[str, tuple[GateQuestion, ...]]
    """By the name of their file."""

    def needs(self, rule: GateRule) -> dict[str, Any]:
        """What the window must keep, as plain data: `keeps`, and the `questions` of its exams."""
        named = [line.removeprefix(EXAM) for line in rule.keeps if line.startswith(EXAM)]
        questions = [question for name in named for question in self.exams[name]]
        return {
            "keeps": [line for line in rule.keeps if not line.startswith(EXAM)],
            "questions": msgspec.to_builtins(questions),
        }


def parse(text: str, exam: Callable[[str], str], name: str = "the rules") -> GateRules:
    """`exam` reads a file of questions. Raises `RulesError`, `OSError`."""
    file = _read(text, _File, name)
    rules = (*file.rule, *file.model.rule)
    if not rules:
        raise RulesError(f"{name} has no [[rule]].")
    names = [rule.name for rule in rules]
    if twice := next((one for one in names if names.count(one) > 1), None):
        raise RulesError(f"{name} has two rules named “{twice}”.")
    exams: dict[str, tuple[GateQuestion, ...]] = {}
    for rule in rules:
        _check(rule, with_model=rule in file.model.rule)
        for line in rule.keeps:
            if line.startswith(EXAM):
                wanted = line.removeprefix(EXAM)
                exams[wanted] = _read(exam(wanted), _Exam, wanted).question
    return GateRules(file.rule, file.model.rule, file.model.runs, exams)


def _check(rule: GateRule, *, with_model: bool) -> None:
    """Raises `RulesError`."""
    known = registry().strategies
    strategy = known.get(strategy_named(rule.strategy))
    if strategy is None:
        raise RulesError(
            f"The rule “{rule.name}” names the strategy {rule.strategy}; there are: "
            f"{', '.join(known)}."
        )
    if strategy.needs_model and not with_model:
        raise RulesError(
            f"The rule “{rule.name}” uses {rule.strategy}, which asks a model: write it as "
            "[[model.rule]]."
        )
    for line in rule.keeps:
        if (wrong := _problem(line)) is not None:
            raise RulesError(f"The rule “{rule.name}” keeps “{line}”: {wrong}.")


def _problem(line: str) -> str | None:
    """What is wrong with a line of `keeps`."""
    kind, colon, rest = line.partition(":")
    if not colon or kind not in {"path", "decision", "exam"}:
        return None
    if not rest.strip():
        return f"nothing follows {kind}:"
    if kind == "decision" and not rest.removeprefix("#").isdecimal():
        return "decision: takes the number of an item, such as decision:#12"
    return None


def _read(text: str, kind: type[Read], name: str) -> Read:
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise RulesError(f"{name} is nested too deeply.") from None
    except ValueError as error:
        raise RulesError(f"{name} is not valid TOML: {error}") from error
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise RulesError(f"{name}: {complaint(data, kind) or error}") from error
