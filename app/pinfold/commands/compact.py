"""`/compact`: see the next window, or make it at once."""

import argparse
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from pinfold.commands.action import Action, CommandError
from pinfold.commands.context import Context

if TYPE_CHECKING:
    from pinfold.compaction.loss import Loss

WRONG_TARGET = "--target is a share of the usable window: above 0, at most 1."
SHOWN = 6
"""Lost things that are named after a compaction."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CommandError(f"/compact: {message}. {_usage()}")


def _usage() -> str:
    return (
        "/compact [--dry-run] [--strategy S] [--keep-files G] [--max-tail N] "
        "[--min-headroom N] [--target X] [--auto-compact-threshold X] [--compare] [--verbose]"
    )


def _parsed(argument: str) -> argparse.Namespace:
    parser = _Parser(prog="/compact", add_help=False, allow_abbrev=False)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--strategy")
    parser.add_argument("--keep-files", action="append")
    parser.add_argument("--max-tail", type=_at_least_one)
    parser.add_argument("--min-headroom", type=int)
    parser.add_argument("--target", type=float)
    parser.add_argument("--auto-compact-threshold")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    try:
        words = shlex.split(argument)
    except ValueError as error:
        raise CommandError(f"/compact: {error}.") from error
    return parser.parse_args(words)


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


async def compact(context: Context, argument: str) -> None:
    asked = _parsed(argument)
    session = context.session
    compaction = session.compaction
    if asked.strategy and asked.strategy not in compaction.strategies:
        known = ", ".join(compaction.strategies)
        raise CommandError(f"There is no strategy {asked.strategy}. There are: {known}.")
    if asked.auto_compact_threshold:
        try:
            session.set_threshold(asked.auto_compact_threshold)
        except ValueError as error:
            raise CommandError(str(error)) from error
    changes = {
        "max_tail_messages": asked.max_tail,
        "min_headroom_tokens": asked.min_headroom,
        "target_pct": asked.target,
        "keep_files_glob": tuple(asked.keep_files) if asked.keep_files else None,
    }
    options = replace(
        compaction.options, **{name: each for name, each in changes.items() if each is not None}
    )
    if not 0 < options.target_pct <= 1:
        raise CommandError(WRONG_TARGET)
    if asked.compare:
        context.tell(await _compared(context))
        return
    if asked.dry_run:
        context.preview(asked.strategy or compaction.strategy, options)
        return
    if session.phase != "idle":
        raise CommandError("A turn is running: press Esc first, or wait for its end.")
    draft = await compaction.draft(asked.strategy, options)
    loss = await compaction.loss(draft)
    await compaction.apply(draft)
    if asked.verbose:
        from pinfold.commands import compact_text

        context.tell("\n".join(compact_text.lines(draft.report, verbose=True)))
    context.tell(f"{_lost(loss)} /undo brings the old window back.")


def _lost(loss: "Loss") -> str:
    if not loss:
        return "All that the old window named still stands in the new one, or in its ledger."
    named = [f"{each.text[:60]} (#{each.item})" for each in loss.named[:SHOWN]]
    rest = len(loss.named) - len(named) + sum(loss.more.values())
    more = f" and {rest:,} more" if rest else ""
    return f"No longer in the window, but in the archive: {', '.join(named)}{more}."


async def _compared(context: Context) -> str:
    """A line on what each strategy would come to."""
    compaction = context.session.compaction
    rows = []
    for name in compaction.strategies:
        try:
            made = (await compaction.draft(name)).report
        except Exception as error:  # one that fails, a third party's perhaps, is told as such
            rows.append(f"  {name:<12} {error}")
        else:
            via = f" (by {made.strategy})" if made.strategy != name else ""
            rows.append(
                f"  {name:<12} {made.before:>9,} → {made.after:>9,} tokens, kept {made.kept:,}, "
                f"masked {made.masked:,}, archived {made.archived:,}, "
                f"headroom {made.headroom:,}{via}"
            )
    return "\n".join(("What each strategy would come to:", *rows))


ACTIONS = (
    Action(
        "compact",
        "Make room in the window; --dry-run shows how",
        "window",
        ("compact",),
        "[--dry-run] [--strategy S]",
        run=compact,
        choices=lambda _: ("--dry-run", "--compare", "--strategy", "--verbose"),
    ),
)
