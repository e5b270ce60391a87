"""`pinfold export`: a session, or a file, as a document."""

import argparse
import sys
from pathlib import Path

from pinfold.agent.state import State
from pinfold.commands.arguments import CommandError
from pinfold.commands.export import Wish, document, opening, replaced, save, scope_named, wish
from pinfold.export.transcript import ExportedItem, Transcript
from pinfold.host.app_context import AppContext, WrongUse, app_context
from pinfold.output import print_bytes
from pinfold.rollout.events import SessionStarted
from pinfold.window.window import Window
from pinfold.wiring.sources import Source, find, model_of


def command(arguments: argparse.Namespace) -> int:
    """Write to the file that is named, else to one with a name of its own.

    Without a format and a file the rollout goes to standard output, as it does for `--out -`.
    """
    ctx = app_context(arguments)
    asked, screen = _wish(arguments)
    source = find(ctx, arguments)
    lines = source.lines() if asked.format == "jsonl" else ()
    made = document(asked, _transcript(ctx, source), lines)
    if not screen:
        print(save(made, asked, Path.cwd()))
        return 0
    print_bytes(made.content)
    if made.secrets:
        print(f"pinfold: {replaced(made.secrets)}", file=sys.stderr)
    return 0


def _wish(arguments: argparse.Namespace) -> tuple[Wish, bool]:
    """What was asked for, and whether it goes to standard output."""
    out: str | None = arguments.out
    screen = out == "-" or (out is None and arguments.format is None)
    name = arguments.format or ("jsonl" if screen else None)
    scope = scope_named(window=arguments.window, all=arguments.all)
    try:
        asked = wish(
            name, None if screen or out is None else Path(out), scope, redact=arguments.redact
        )
    except CommandError as error:
        raise WrongUse(str(error)) from error
    return asked, screen


def _transcript(ctx: AppContext, source: Source) -> Transcript:
    every = tuple(source.events())
    window, state = Window(), State()
    for event in every:
        window.step(event)
        state.step(event)
    started = (event.data.cwd for event in every if isinstance(event.data, SessionStarted))
    archive = window.archive
    items = [archive[n] for n in archive]
    return Transcript(
        opening=opening(items),
        session=state.id,
        cwd=next(started, ""),
        model=model_of(ctx, every),
        context=state.context.context,
        entries=[
            ExportedItem(item, archive.at(item.n), window.form(item.n), window.is_pinned(item.n))
            for item in items
        ],
        window=window.items,
        boundaries=tuple(window.boundaries),
    )
