"""`/compact`: see the next window, or make it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pinfold.commands.action import Action, CommandError
from pinfold.commands.context import Context
from pinfold.settings import strategy_named

if TYPE_CHECKING:
    import argparse

    from pinfold.agent.compaction.preparing import Preparing
    from pinfold.agent.steering.steering import Steering
    from pinfold.compaction.loss import Loss

WRONG_TARGET = "--target is a share of the usable window: above 0, at most 1."
SHOWN = 6
"""Lost things that are named after a compaction."""


def _usage() -> str:
    return (
        "/compact [--dry-run] [--strategy S] [--focus TEXT] [--keep-files GLOB,GLOB] "
        "[--keep-roles R,R] [--max-tail N] [--min-headroom N] [--target X] "
        "[--auto-compact-threshold X] [--remember] [--compare] [--verbose]"
    )


def _parsed(argument: str) -> argparse.Namespace:
    import argparse
    import shlex
    from functools import partial

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise CommandError(f"/compact: {message}. {_usage()}")

    parser = Parser(prog="/compact", add_help=False, allow_abbrev=False)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--strategy")
    parser.add_argument("--focus")
    parser.add_argument("--keep-files", action="extend", type=globs)
    parser.add_argument("--keep-roles", type=roles)
    parser.add_argument("--max-tail", type=partial(_at_least, 1))
    parser.add_argument("--min-headroom", type=partial(_at_least, 0))
    parser.add_argument("--target", type=float)
    parser.add_argument("--auto-compact-threshold")
    parser.add_argument("--remember", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    try:
        words = shlex.split(argument)
    except ValueError as error:
        raise CommandError(f"/compact: {error}.") from error
    return parser.parse_args(words)


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(f"must be a whole number, at least {least}")
    return number


def roles(text: str) -> tuple[str, ...]:
    """The roles that a text names; `none` is none. Raises `ArgumentTypeError`."""
    from argparse import ArgumentTypeError

    from pinfold.compaction.roles import ROLES

    found = tuple(dict.fromkeys(role for role in text.replace(",", " ").split() if role != "none"))
    if unknown := [role for role in found if role not in ROLES]:
        raise ArgumentTypeError(f"{unknown[0]} is none of {', '.join(ROLES)}, none")
    return found


def globs(text: str) -> list[str]:
    """The globs of a list; commas in braces belong to a glob."""
    found, depth = [""], 0
    for character in text:
        depth = max(0, depth + (character == "{") - (character == "}"))
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [glob.strip() for glob in found if glob.strip()]


async def compact(context: Context, argument: str) -> None:
    from dataclasses import replace

    asked = _parsed(argument)
    session = context.session
    compaction = session.compaction
    if asked.strategy:
        asked.strategy = strategy_named(asked.strategy)
    if asked.strategy and asked.strategy not in compaction.strategies:
        known = ", ".join(compaction.strategies)
        raise CommandError(f"There is no strategy {asked.strategy}. There are: {known}.")
    changes = {
        "max_tail_messages": asked.max_tail,
        "min_headroom_tokens": asked.min_headroom,
        "target_pct": asked.target,
        "keep_files_glob": None if asked.keep_files is None else tuple(asked.keep_files),
        "keep_roles": asked.keep_roles,
        "headroom_given": None if asked.min_headroom is None else True,
        "roles_given": None if asked.keep_roles is None else True,
        "focus": asked.focus,
    }
    options = replace(
        compaction.options,
        **{name: change for name, change in changes.items() if change is not None},
    )
    if not 0 < options.target_pct <= 1:
        raise CommandError(WRONG_TARGET)
    if asked.auto_compact_threshold:
        try:
            session.set_threshold(asked.auto_compact_threshold)
        except ValueError as error:
            raise CommandError(str(error)) from error
    if asked.remember:
        compaction.keep_defaults(asked.strategy or compaction.strategy, options)
        context.tell(f"Remembered until the session ends: {_options(argument)}")
    if asked.compare:
        from pinfold.commands.compact_compare import compare

        await compare(context, options)
        return
    if asked.dry_run:
        context.preview(asked.strategy or compaction.strategy, options)
        return
    draft = await session.compact(asked.strategy, options)
    if draft is None:
        context.tell("Interrupted: the window is what it was.")
        return
    loss = await compaction.loss(draft)
    if asked.verbose:
        from pinfold.commands import compact_text

        context.tell("\n".join(compact_text.lines(draft.report, verbose=True)))
    context.tell(f"{await _lost(session.window, loss)} /undo brings the old window back.")


def _options(argument: str) -> str:
    """What was typed, less what holds for this once."""
    import shlex

    once = ("--remember", "--dry-run", "--compare", "--verbose")
    return shlex.join(word for word in shlex.split(argument) if word not in once)


async def _lost(window: Steering, loss: Loss) -> str:
    if not loss:
        return "All that the old window said still stands in the new one."
    import asyncio

    from pinfold.commands.lost_text import abouts, listed

    named = loss.named[:SHOWN]
    items = await asyncio.to_thread(abouts, window, named)
    rest = len(loss.named) - len(named) + sum(loss.more.values())
    more = f"; and {rest:,} more" if rest else ""
    return f"No longer in the window, but in the archive: {listed(named, items)}{more}."


async def prepare(context: Context, argument: str) -> None:
    session = context.session
    preparing, compaction = session.preparing, session.compaction
    if argument not in ("", "on", "off"):
        raise CommandError("/prepare takes on or off; without either it switches.")
    preparing.switch(on=argument == "on" if argument else not preparing.wanted)
    context.tell(_prepared(preparing, compaction.strategy, session.auto))


def _prepared(preparing: Preparing, strategy: str, auto: str) -> str:
    from pinfold.compaction.strategies.registry import traits

    if not preparing.wanted:
        left = " The one that is ready still serves." if preparing.state == "ready" else ""
        return f"No summary is written in the background.{left} /prepare turns it on."
    said = (
        "Before the window is full, a summary is written in the background, to be there in time. "
        "It costs tokens, and the digest, which costs none, usually keeps more."
    )
    if auto == "off":
        return f"{said} But nothing is compacted by itself: /threshold auto changes that."
    if not traits(strategy).takes_prepared:
        return f"{said} But only layered makes use of it, and this session compacts by {strategy}."
    return said


ACTIONS = (
    Action(
        "compact",
        "Make room in the window; --dry-run shows how",
        "window",
        ("compact",),
        "[--dry-run] [--strategy S]",
        run=compact,
        choices=lambda _: (
            *("--dry-run", "--compare", "--focus", "--remember", "--strategy", "--verbose"),
        ),
    ),
    Action(
        "prepare",
        "Write summaries in the background, or no longer",
        "window",
        ("prepare",),
        "[on|off]",
        keys="f4",
        run=prepare,
        choices=lambda _: ("on", "off"),
    ),
)
