"""`pinfold eval --gate RULES.toml`: whether sessions keep what they must, for CI."""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
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
from pinfold.settings import CompactSettings
from pinfold.tokens.counter import Counter
from pinfold.tokens.prices import price_of
from pinfold.wiring import many
from pinfold.wiring.gate_sources import CommitFiles, GateFiles, WorkingFiles

OPTIONS = (
    "min_headroom_tokens",
    "max_tail_messages",
    "keep_roles",
    "keep_files_glob",
    "user_message_tokens",
)
"""Of `[compact]`, that a rule's compaction takes."""


def gate(ctx: AppContext, arguments: argparse.Namespace) -> int:
    """Run the rules, print what is lost, write what was asked for. Returns the exit code.

    Raises `WrongUse` where the rules can't be read or no session matches, `ProviderError`,
    `CommandError`, `OSError`.
    """
    path = paths.typed(arguments.gate)
    try:
        source: GateFiles = WorkingFiles(path)
        compact, prompts = ctx.settings.compact, overrides(ctx)
        if arguments.against:
            source = commit = CommitFiles(path, arguments.against)
            compact, prompts = commit.compact(), commit.prompts()
        rules = parse(source.rules(), source.exam, arguments.gate)
        sessions = {rule.name: _sessions(rule, path) for rule in (*rules.offline, *rules.model)}
        baseline = _baseline(arguments, path)
    except RulesError as error:
        raise WrongUse(one_line(str(error))) from error
    settings = _plain(compact, prompts)
    begun = CLOCK.now()
    verdicts, unread = _offline(arguments, rules, settings, sessions, baseline)
    if arguments.with_model:
        with_model = _with_model(ctx, arguments, rules, settings, sessions, baseline)
        answered, not_read = asyncio.run(with_model)
        verdicts += answered
        unread += (name for name in not_read if name not in unread)
    elif rules.model:
        use = "uses" if len(rules.model) == 1 else "use"
        rules_left = plural(len(rules.model), "rule")
        warn(f"{rules_left} {use} a model and did not run: --with-model runs them.")
    outcome = RuleOutcome(__version__, begun, tuple(verdicts), tuple(unread))
    _show(arguments, outcome)
    return 0 if outcome.passed else 1


def _plain(compact: CompactSettings, prompts: dict[str, str]) -> dict[str, Any]:
    """Settings that all rules share, as plain data."""
    return {name: getattr(compact, name) for name in OPTIONS} | {"prompts": prompts}


def _of_rule(rules: GateRules, rule: GateRule, compact: dict[str, Any]) -> dict[str, Any]:
    of_rule = {"strategy": rule.strategy, "budget": rule.budget, "compact": compact}
    return of_rule | rules.needs(rule)


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
    """The one named, else the one that is to be written anew, else the one beside the rules."""
    asked: Path | None = arguments.baseline
    file = asked or arguments.write_baseline or path.with_suffix(".baseline.json")
    try:
        return read_baseline(file.read_bytes(), str(file))
    except FileNotFoundError as error:
        if asked is not None:
            raise RulesError(f"{file} does not exist.") from error
        return None


def _verdict(
    rule: GateRule, session: NamedSession, kept: RuleCheck, baseline: Baseline | None
) -> Verdict:
    name = _name(session)
    since = baseline.since(rule, name, kept) if baseline else {}
    return Verdict(rule.name, name, rule.at_least, kept, since)


def _name(session: NamedSession) -> str:
    """As reports and baselines have it: text, whatever bytes the file's name is made of."""
    return one_line(session.stem)


def _offline(
    arguments: argparse.Namespace,
    rules: GateRules,
    compact: dict[str, Any],
    sessions: dict[str, list[NamedSession]],
    baseline: Baseline | None,
) -> tuple[list[Verdict], list[str]]:
    verdicts: list[Verdict] = []
    unread: dict[str, None] = {}
    # On this machine nothing leaves it, and a rule may name what looks like a secret.
    redact = bool(arguments.cluster) and arguments.redact
    for rule in rules.offline:
        work = SessionWork("gate", _of_rule(rules, rule, compact), redact)
        files = sessions[rule.name]
        with many.kept(None, "") as results:
            report = many.worked(arguments, work, files, results)
            for session, data in outcomes(report, files, results):
                verdicts.append(_verdict(rule, session, many_gate.kept(data), baseline))
        if report.interrupted:
            raise CommandError("interrupted: the rules did not all run.")
        unread |= dict.fromkeys(_name(files[at]) for at in report.failed)
    return verdicts, list(unread)


async def _with_model(
    ctx: AppContext,
    arguments: argparse.Namespace,
    rules: GateRules,
    compact: dict[str, Any],
    sessions: dict[str, list[NamedSession]],
    baseline: Baseline | None,
) -> tuple[list[Verdict], list[str]]:
    """Raises `ProviderError`, `OSError`."""
    connection = await connect(ctx, getattr(arguments, "model", None))
    model = connection.model
    price = price_of(model.provider, model.name, prices(ctx.settings))
    counted = Counter(model.encoding, paths.cache_folder())
    await asyncio.to_thread(counted.load)
    writer = Writer(connection.provider, model, counted, CLOCK, price=price)
    own = instructions.own_instructions(model)
    verdicts: list[Verdict] = []
    unread: dict[str, None] = {}
    try:
        for rule, session in _pairs(rules.model, sessions):
            try:
                events = detect.read(Path(session.path)).events
            except NotASession as error:
                warn(str(error))
                unread[_name(session)] = None
                continue
            settings = _of_rule(rules, rule, compact)
            kept = await tried_with(writer, own, events, settings, counter(), rules.runs)
            verdicts.append(_verdict(rule, session, kept, baseline))
    finally:
        await connection.provider.close()
    return verdicts, list(unread)


def _pairs(
    rules: Sequence[GateRule], sessions: dict[str, list[NamedSession]]
) -> Iterator[tuple[GateRule, NamedSession]]:
    for rule in rules:
        for session in sessions[rule.name]:
            yield rule, session


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
