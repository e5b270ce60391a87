"""`pinfold compact` and `pinfold checkpoint`, of a session or of any file.

Only strategies that need a model ask one.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct, structs

from pinfold import headless, paths
from pinfold.agent.clock import CLOCK
from pinfold.agent.options import share_of
from pinfold.agent.requests.connection import Connection
from pinfold.agent.session import Session
from pinfold.checkpoint import persist
from pinfold.checkpoint.known import Known
from pinfold.checkpoint.view import view_v1
from pinfold.commands import compact_text
from pinfold.commands.compact import wished
from pinfold.compaction import engine
from pinfold.compaction.loss import Loss, loss_of
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.report import DryRunReport, completion, report_of
from pinfold.compaction.strategies.registry import registry
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions
from pinfold.digests.choice import choose, render
from pinfold.host.app_context import AppContext, WrongUse, app_context
from pinfold.host.models import connect, connect_summarizer
from pinfold.host.prompts import overrides
from pinfold.host.sessions import open_session, own_folder, plan_options
from pinfold.output import print_json
from pinfold.providers.silent import Silent
from pinfold.rollout.events import ModelChanged
from pinfold.rollout.journal import ROLLOUT, Journal
from pinfold.rollout.scan import scan
from pinfold.sanitize import one_line
from pinfold.settings import strategy_named
from pinfold.tokens.counter import Counter
from pinfold.wiring.progress import Steps
from pinfold.wiring.sources import Folded, SessionSource, find, model_of, wire_api_of

_NAMED = 100
"""Characters of a lost text on a line."""


class Outcome(Struct, frozen=True):
    """What `--json` prints."""

    applied: bool
    generation: int
    """Of the next window."""
    report: DryRunReport
    loss: Loss


class Below(Struct, frozen=True):
    """What `--json` prints when the window is below `--auto-compact-threshold`."""

    applied: bool
    used: int
    source: str
    threshold: int


@dataclass(frozen=True, slots=True)
class _Wish:
    strategy: str
    options: PlanOptions
    model: str | None


def compact(arguments: argparse.Namespace) -> int:
    """Show the next window, or apply it. Raises `Refused` when nothing can be compacted."""
    ctx = app_context(arguments)
    source = find(ctx, arguments)
    if isinstance(source.at, Path):
        ctx = own_folder(ctx, source.at, else_here=True)
    elif not arguments.dry_run:
        print(
            "pinfold: files are never changed, so this is a dry run; to compact it, adopt it "
            f"first: pinfold adopt {source.name}",
            file=sys.stderr,
        )
    wish = _wish(ctx, arguments)
    if (below := _below(ctx, source, wish, arguments.auto_compact_threshold)) is not None:
        print(msgspec.json.encode(below).decode() if arguments.json else _not_compacted(below))
        return 0
    if isinstance(source.at, Path) and not arguments.dry_run:
        outcome, plan = asyncio.run(_applied(ctx, source.at, wish))
    elif _asks_model(wish):
        outcome, plan = asyncio.run(_drafted(ctx, source, wish))
    else:
        outcome, plan = _planned(ctx, source, wish)
    if arguments.json:
        print_json(outcome)
        return 0
    for line in _outcome_lines(outcome, arguments):
        print(line)
    if outcome.applied and not arguments.text:
        print()
        print(completion(plan))
        before = outcome.generation - 1
        print(f"Restore the old window with: pinfold restore {source.name} {before}")
    return 0


def _wish(ctx: AppContext, arguments: argparse.Namespace) -> _Wish:
    """The settings, changed by the command line."""
    mode = arguments.strategy or ctx.settings.compact.mode
    options = wished(
        replace(plan_options(ctx.settings.compact), prompts=overrides(ctx)), vars(arguments)
    )
    return _Wish(strategy_named(mode), options, getattr(arguments, "model", None))


def _below(
    ctx: AppContext, source: SessionSource, wish: _Wish, threshold: str | None
) -> Below | None:
    """The gauge, if the window is below the threshold. Raises `WrongUse`, `JournalError`."""
    if threshold is None:
        return None
    try:
        share = share_of(threshold)
    except ValueError as error:
        raise WrongUse(f"--auto-compact-threshold: {error}") from error
    reading = Folded(ctx, source, wish.model).reading()
    least = int(share * reading.usable)
    if reading.used >= least:
        return None
    return Below(False, reading.used, reading.source, least)


def _not_compacted(below: Below) -> str:
    return (
        f"Not compacted: the window has {below.used:,} tokens ({below.source}), and the threshold "
        f"is {below.threshold:,}."
    )


def _asks_model(wish: _Wish) -> bool:
    found = registry().strategies.get(wish.strategy)
    return found is not None and found.needs_model


def _planned(ctx: AppContext, source: SessionSource, wish: _Wish) -> tuple[Outcome, CompactionPlan]:
    folded = Folded(ctx, source, wish.model)
    folded.projections.catch_up()
    view = folded.projections.view(folded.model)
    plan = engine.plan_with(wish.strategy, view, Material(), wish.options)
    report, loss = report_of(view, plan), loss_of(view, plan)
    return Outcome(False, plan.base.generation + 1, report, loss), plan


async def _drafted(
    ctx: AppContext, source: SessionSource, wish: _Wish
) -> tuple[Outcome, CompactionPlan]:
    """A dry run with a model: on a copy, because its requests are journalled."""
    with TemporaryDirectory(prefix="pinfold-") as place:
        lines = b"".join(line + b"\n" for line in source.lines())
        await asyncio.to_thread((Path(place) / ROLLOUT).write_bytes, lines)
        async with opened(ctx, Path(place), wish.model) as session:
            session.files.elsewhere = True
            session.subscribe(Steps().hear)
            draft = await session.compaction.draft(wish.strategy, wish.options)
            loss = await session.compaction.loss(draft)
    return Outcome(False, draft.plan.base.generation + 1, draft.report, loss), draft.plan


async def _applied(ctx: AppContext, folder: Path, wish: _Wish) -> tuple[Outcome, CompactionPlan]:
    async with opened(ctx, folder, wish.model) as session:
        if _asks_model(wish):
            session.subscribe(Steps().hear)
        draft = await session.compaction.run(wish.strategy, wish.options)
        loss = await session.compaction.loss(draft)
    return Outcome(True, draft.plan.base.generation + 1, draft.report, loss), draft.plan


@asynccontextmanager
async def opened(ctx: AppContext, folder: Path, model: str | None = None) -> AsyncIterator[Session]:
    """A session to write to, its window counted exactly. It has no model, except the one that
    compacts, which is connected when needed. Raises `JournalError`, `SessionHeld`."""
    summarizer = partial(connect if model else connect_summarizer, ctx)
    with Journal.open(folder, CLOCK.now, read_only=True) as journal:
        ctx = structs.replace(ctx, cwd=Path(journal.started.cwd))
        info = model_of(ctx, tuple(scan(journal, ModelChanged)), model)
    counter = Counter(info.encoding, paths.cache_folder())
    await asyncio.to_thread(counter.load)
    connection = Connection(Silent(), info, wire_api_of(ctx, info.provider), "")
    session = await open_session(
        ctx,
        headless.no_terminal,
        lambda: Journal.open(folder, CLOCK.now),
        connection=connection,
        tools=(),
        counter=counter,
        summarizer=summarizer,
    )
    try:
        yield session
    finally:
        await session.close()


def _outcome_lines(outcome: Outcome, arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.text:
        for inserted in outcome.report.inserted:
            yield from inserted.text.split("\n")
    else:
        yield from compact_text.lines(outcome.report, verbose=arguments.verbose)
        yield ""
        yield from _lost_lines(outcome.loss)


def _lost_lines(loss: Loss) -> Iterator[str]:
    if not loss:
        yield loss.without_lines
        return
    yield "Lost from the window, kept in the archive:"
    for lost in loss.named:
        yield f"  {lost.kind:<10}  {one_line(lost.text, _NAMED)} (#{lost.item})"
    for kind, count in loss.more.items():
        yield f"  {kind:<10}  {count:,} more"


def checkpoint(arguments: argparse.Namespace) -> int:
    """Print the checkpoint and the digest at the end of a session."""
    if arguments.digest < 0:
        raise WrongUse("--digest takes a number of tokens, 0 or more")
    ctx = app_context(arguments)
    source = find(ctx, arguments)
    known = Known()
    for event in source.events():
        known.step(event)
    if arguments.json:
        print_json(persist.encode(known.checkpoint))
        return 0
    print(view_v1(known.checkpoint), end="")
    if text := render(choose(known.record, arguments.digest)):
        print()
        print(text.rstrip("\n"))
    return 0
