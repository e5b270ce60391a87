"""`pinfold eval --gate RULES.toml`: whether sessions keep what they must, for CI."""

import argparse
import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import json

from pinfold import __version__, paths
from pinfold.adopt import detect
from pinfold.adopt.adoption import NotASession
from pinfold.agent.clock import CLOCK
from pinfold.agent.context import instructions
from pinfold.agent.requests.writing import Writer
from pinfold.atomic_files import failure, write_atomic
from pinfold.commands.arguments import CommandError
from pinfold.evaluation.gate import reports
from pinfold.evaluation.gate.keeping import RuleCheck
from pinfold.evaluation.gate.outcome import (
    Baseline,
    RuleOutcome,
    Verdict,
    baseline_of,
    read_baseline,
)
from pinfold.evaluation.gate.rules import GateRule, GateRules, RulesError, parse
from pinfold.evaluation.gate.trying import tried_with
from pinfold.evaluation.terminal import WIDTH
from pinfold.host.app_context import AppContext, WrongUse
from pinfold.host.models import connect
from pinfold.host.prices import prices
from pinfold.host.prompts import overrides
from pinfold.many import gate as many_gate
from pinfold.many.evaluation import counter
from pinfold.many.named import NamedSession, named
from pinfold.many.run import outcomes
from pinfold.many.work import SessionWork
from pinfold.numbers import plural
from pinfold.output import print_json, print_table, warn
from pinfold.sanitize import one_line
from pinfold.tokens.counter import Counter
from pinfold.tokens.prices import price_of
from pinfold.wiring import many
from pinfold.wiring.gate_sources import CommitFiles, WorkingFiles

OPTIONS = (
    "min_headroom_tokens",
    "max_tail_messages",
    "keep_roles",
    "keep_files_glob",
    "user_message_tokens",
)
"""Settings of `[compact]` that a rule's compaction uses."""


def gate(ctx: AppContext, arguments: argparse.Namespace) -> int:
    """Run the rules, print what is lost, write the reports asked for. Returns the exit code.

    Raises `WrongUse` where the rules can't be read or no session matches, `ProviderError`,
    `CommandError`, `OSError`.
    """
    path = paths.typed(arguments.gate)
    try:
        source: WorkingFiles | CommitFiles = WorkingFiles(path)
        compact, prompts = ctx.settings.compact, overrides(ctx)
        if arguments.against:
            source = CommitFiles(path, arguments.against)
            compact, prompts = source.compact(), source.prompts()
        rules = parse(source.file(), source.file, arguments.gate)
        sessions = {rule.name: _sessions(rule, path) for rule in (*rules.offline, *rules.model)}
        baseline = _baseline(arguments, path)
    except RulesError as error:
        raise WrongUse(one_line(str(error))) from error
    options = {name: getattr(compact, name) for name in OPTIONS} | {"prompts": prompts}
    run = _Run(ctx, arguments, rules, options, sessions, baseline)
    begun = CLOCK.now()
    run.offline()
    if arguments.with_model:
        asyncio.run(run.with_model())
    elif rules.model:
        use = "uses" if len(rules.model) == 1 else "use"
        rules_left = plural(len(rules.model), "rule")
        warn(f"{rules_left} {use} a model and did not run: --with-model runs them.")
    outcome = RuleOutcome(__version__, begun, tuple(run.verdicts), tuple(run.unread))
    _show(arguments, outcome)
    return 0 if outcome.passed else 1


@dataclass
class _Run:
    ctx: AppContext
    arguments: argparse.Namespace
    rules: GateRules
    compact: dict[str, Any]
    """Settings that all rules share."""
    sessions: dict[str, list[NamedSession]]
    """By rule."""
    baseline: Baseline | None
    verdicts: list[Verdict] = field(default_factory=list)
    unread: dict[str, None] = field(default_factory=dict)
    """Names of sessions that can't be read, in order."""

    def offline(self) -> None:
        # On this machine nothing leaves it, and a rule may name what looks like a secret.
        redact = bool(self.arguments.cluster) and self.arguments.redact
        for rule in self.rules.offline:
            work = SessionWork("gate", self._settings(rule), redact)
            files = self.sessions[rule.name]
            with many.kept(None, "") as results:
                report = many.worked(self.arguments, work, files, results)
                for session, data in outcomes(report, files, results):
                    self._judge(rule, session, many_gate.kept(data))
            if report.interrupted:
                raise CommandError("interrupted: the rules did not all run.")
            self.unread |= dict.fromkeys(_name(files[at]) for at in report.failed)

    async def with_model(self) -> None:
        """Raises `ProviderError`, `OSError`."""
        connection = await connect(self.ctx, getattr(self.arguments, "model", None))
        model = connection.model
        price = price_of(model.provider, model.name, prices(self.ctx.settings))
        counted = Counter(model.encoding, paths.cache_folder())
        await asyncio.to_thread(counted.load)
        writer = Writer(connection.provider, model, counted, CLOCK, price=price)
        own = instructions.own_instructions(model)
        try:
            for rule in self.rules.model:
                for session in self.sessions[rule.name]:
                    try:
                        events = detect.read(Path(session.path)).events
                    except NotASession as error:
                        warn(str(error))
                        self.unread[_name(session)] = None
                        continue
                    settings, runs = self._settings(rule), self.rules.runs
                    kept = await tried_with(writer, own, events, settings, counter(), runs)
                    self._judge(rule, session, kept)
        finally:
            await connection.provider.close()

    def _settings(self, rule: GateRule) -> dict[str, Any]:
        own = {"strategy": rule.strategy, "budget": rule.budget, "compact": self.compact}
        return own | self.rules.needs(rule)

    def _judge(self, rule: GateRule, session: NamedSession, kept: RuleCheck) -> None:
        name = _name(session)
        since = self.baseline.since(rule, name, kept) if self.baseline else {}
        self.verdicts.append(Verdict(rule.name, name, rule.at_least, kept, since))


def _sessions(rule: GateRule, path: Path) -> list[NamedSession]:
    """Raises `RulesError`."""
    wanted = str(path.parent / rule.sessions)

    def by_id(_: str) -> Path:
        raise FileNotFoundError

    try:
        found = named([wanted], by_id)
    except OSError as error:
        raise RulesError(f"The rule “{rule.name}”: no session matches {rule.sessions}.") from error
    if not all(Path(session.path).is_file() for session in found):
        raise RulesError(f"The rule “{rule.name}”: no session matches {rule.sessions}.")
    return found


def _baseline(arguments: argparse.Namespace, path: Path) -> Baseline | None:
    """The one named, else the one to be overwritten, else the one beside the rules."""
    asked: Path | None = arguments.baseline
    file = asked or arguments.write_baseline or path.with_suffix(".baseline.json")
    try:
        return read_baseline(file.read_bytes(), str(file))
    except FileNotFoundError as error:
        if asked is not None:
            raise RulesError(f"{file} does not exist.") from error
        return None


def _name(session: NamedSession) -> str:
    """Its name in reports and baselines: always valid text."""
    return one_line(session.stem)


def _show(arguments: argparse.Namespace, outcome: RuleOutcome) -> None:
    """Raises `CommandError`."""
    if arguments.json:
        print_json(outcome, indented=True)
    else:
        print_table(reports.table(outcome), width=WIDTH)
    written = json.format(json.encode(baseline_of(outcome)), indent=1) + b"\n"
    for path, content in (
        (arguments.junit, reports.junit(outcome)),
        (arguments.markdown, reports.markdown(outcome).encode()),
        (arguments.write_baseline, written),
    ):
        if path is None:
            continue
        try:
            write_atomic(path, content)
        except OSError as error:
            raise CommandError(failure(path, error)) from error
