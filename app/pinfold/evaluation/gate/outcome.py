"""The outcome of a gate, compared with an earlier run."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec
from msgspec import Struct, field

from pinfold.evaluation.gate.keeping import RuleCheck
from pinfold.evaluation.gate.rules import GateRule, RulesError
from pinfold.numbers import plural


class Verdict(Struct, frozen=True):
    """The outcome of a rule on a session."""

    rule: str
    session: str
    at_least: float
    kept: RuleCheck
    since: Mapping[str, str] = field(default_factory=dict)
    """For each lost line: since when, if the baseline says."""

    @property
    def lost(self) -> bool:
        return bool(self.kept.not_run) or self.kept.share < self.at_least


class RuleOutcome(Struct, frozen=True):
    """A run of the gate."""

    version: str
    at: datetime
    verdicts: tuple[Verdict, ...]
    unread: tuple[str, ...] = ()
    """Sessions that can't be read, each with its reason."""

    @property
    def lost(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.lost]

    @property
    def passed(self) -> bool:
        return not self.lost and not self.unread


class Baseline(Struct, frozen=True):
    """An earlier run: by rule, session and line since when it is lost; empty if it was kept."""

    version: str
    at: str
    lines: dict[str, dict[str, dict[str, str]]]

    def since(self, rule: GateRule, session: str, kept: RuleCheck) -> dict[str, str]:
        """For each line that is lost now: since when."""
        before = self.lines.get(rule.name, {}).get(session, {})
        found: dict[str, str] = {}
        for line in kept.lines:
            if not line.kept and line.line in before:
                found[line.line] = before[line.line] or f"after {self.at}, {self.version}"
        return found


def baseline_of(outcome: RuleOutcome) -> Baseline:
    """The outcome as a baseline for later runs."""
    day = f"{outcome.at:%Y-%m-%d}"
    lines: dict[str, dict[str, dict[str, str]]] = {}
    for verdict in outcome.verdicts:
        lost = f"{day} or earlier, {outcome.version}"
        lines.setdefault(verdict.rule, {})[verdict.session] = {
            line.line: "" if line.kept else verdict.since.get(line.line, lost)
            for line in verdict.kept.lines
        }
    return Baseline(outcome.version, day, lines)


def read_baseline(text: bytes, name: str) -> Baseline:
    """Raises `RulesError`."""
    try:
        return msgspec.json.decode(text, type=Baseline)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RulesError(f"{name} is not a gate's baseline: {error}") from error


def missing(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """The lost lines, each with since when; empty if unknown."""
    for line in verdict.kept.lines:
        if not line.kept:
            what = f"{line.line} (missing: {line.why})" if line.why else line.line
            yield what, verdict.since.get(line.line, "")


def sentence(outcome: RuleOutcome) -> str:
    checks, lost = plural(len(outcome.verdicts), "check"), len(outcome.lost)
    if outcome.unread:
        sessions = plural(len(outcome.unread), "session")
        return f"Lost: {sessions} can't be read; {lost:,} of {checks} lost."
    return f"Lost: {lost:,} of {checks}." if lost else f"Passed: {checks}."
