"""`/compact`: shows the next window, or applies it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pinfold.commands.action import Action, opens
from pinfold.commands.arguments import Argument, CommandError, whole
from pinfold.commands.context import Context
from pinfold.settings import strategy_named

if TYPE_CHECKING:
    from pinfold.agent.compaction.preparing import Preparing
    from pinfold.agent.steering.steering import Steering
    from pinfold.compaction.loss import Loss
    from pinfold.compaction.view import PlanOptions

SHOWN = 6
"""Lost texts that are named after a compaction."""


def _roles(text: str) -> tuple[str, ...]:
    """The roles that a text names; `none` is none."""
    from pinfold.compaction.roles import ROLES

    named = tuple(dict.fromkeys(role for role in text.replace(",", " ").split() if role != "none"))
    if unknown := [role for role in named if role not in ROLES]:
        raise ValueError(f"{unknown[0]} is not one of {', '.join(ROLES)}, none")
    return named


def _globs(text: str) -> list[str]:
    """The globs of a list; commas in braces belong to a glob."""
    found, depth = [""], 0
    for character in text:
        depth = max(0, depth + (character == "{") - (character == "}"))
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [glob.strip() for glob in found if glob.strip()]


def _target(text: str) -> float:
    try:
        target = float(text)
    except ValueError:
        target = 0.0
    if not 0 < target <= 1:
        raise ValueError("must be a share of the usable window: above 0, at most 1")
    return target


SHARED = (
    Argument("--dry-run", "only show what it would do", kind="flag"),
    Argument(
        "--strategy",
        "prune, checkpoint, layered; snapshot, handoff and remote ask a model (-m, else the one "
        "of [compact], else of [model]), and checkpoint takes their place where it fails",
        "S",
    ),
    Argument("--focus", "what the model should focus on", "TEXT"),
    Argument(
        "--keep-files",
        "files whose newest read and edit to keep",
        "GLOB,GLOB",
        read=_globs,
        many="extend",
    ),
    Argument(
        "--keep-roles", "what snapshot keeps: tool, diff, decision, or none", "R,R", read=_roles
    ),
    Argument("--max-tail", "newest messages to keep", "N", read=whole(1)),
    Argument("--min-headroom", "tokens to leave free", "N", read=whole(0)),
    Argument("--target", "share of the usable window to aim at", "X", read=_target),
    Argument(
        "--auto-compact-threshold",
        "the share of what a request may have at which the window is compacted; `pinfold compact` "
        "does nothing below it",
        "X",
    ),
    Argument("--verbose", "a line for every item, even in long runs", kind="flag"),
)
"""What `/compact` and `pinfold compact` take."""
_FIELDS = {
    "target": "target_pct",
    "max_tail": "max_tail_messages",
    "min_headroom": "min_headroom_tokens",
    "keep_files": "keep_files_glob",
    "keep_roles": "keep_roles",
    "focus": "focus",
}
"""Plan options, by argument."""


def wished(options: PlanOptions, given: Mapping[str, Any]) -> PlanOptions:
    """`options`, changed by the arguments of `SHARED` that were given."""
    from dataclasses import replace

    values = {_FIELDS[name]: given[name] for name in _FIELDS if given.get(name) is not None}
    if "keep_files_glob" in values:
        values["keep_files_glob"] = tuple(values["keep_files_glob"])
    return replace(
        options,
        **values,
        headroom_given=options.headroom_given or "min_headroom_tokens" in values,
        roles_given=options.roles_given or "keep_roles" in values,
    )


async def compact(
    context: Context,
    *,
    dry_run: bool,
    strategy: str | None,
    auto_compact_threshold: str | None,
    remember: bool,
    compare: bool,
    verbose: bool,
    words: Sequence[str],
    **given: Any,
) -> None:
    session = context.session
    given["focus"] = " ".join(filter(None, (given["focus"], *words))) or None
    compaction = session.compaction
    strategy = strategy and strategy_named(strategy)
    if strategy and strategy not in compaction.strategies:
        known = ", ".join(compaction.strategies)
        raise CommandError(f"There is no strategy {strategy}. There are: {known}.")
    options = wished(compaction.options, given)
    if auto_compact_threshold:
        try:
            session.set_threshold(auto_compact_threshold)
        except ValueError as error:
            raise CommandError(str(error)) from error
    if remember:
        compaction.keep_defaults(strategy or compaction.strategy, options)
        shown = {"strategy": strategy, "auto_compact_threshold": auto_compact_threshold, **given}
        context.tell(f"Remembered until the session ends: {_options(shown)}")
    if compare:
        from pinfold.commands.compact_compare import compare as compare_all

        await compare_all(context, options)
        return
    if dry_run:
        context.preview(strategy or compaction.strategy, options)
        return
    draft = await session.compact(strategy, options)
    if draft is None:
        context.tell("Interrupted: the window is unchanged.")
        return
    loss = await compaction.loss(draft)
    if verbose:
        from pinfold.commands import compact_text

        context.tell("\n".join(compact_text.lines(draft.report, verbose=True)))
    context.tell(f"{await _lost(session.window, loss)} /undo brings the old window back.")


def _options(given: Mapping[str, Any]) -> str:
    """As they are typed."""
    import shlex

    words: list[str] = []
    for name, value in given.items():
        if value is not None:
            many = isinstance(value, tuple | list)
            words += [f"--{name.replace('_', '-')}", ",".join(value) if many else str(value)]
    return shlex.join(words)


async def _lost(window: Steering, loss: Loss) -> str:
    if not loss:
        return loss.without_lines
    import asyncio

    from pinfold.commands.lost_text import abouts, listed

    named = loss.named[:SHOWN]
    items = await asyncio.to_thread(abouts, window, named)
    rest = len(loss.named) - len(named) + sum(loss.more.values())
    more = f"; and {rest:,} more" if rest else ""
    return f"Lost from the window, kept in the archive: {listed(named, items)}{more}."


async def prepare(context: Context, switch: str = "") -> None:
    session = context.session
    preparing, compaction = session.preparing, session.compaction
    preparing.switch(on=switch == "on" if switch else not preparing.wanted)
    context.tell(_prepared(preparing, compaction.strategy, session.auto))


def _prepared(preparing: Preparing, strategy: str, auto: str) -> str:
    from pinfold.compaction.strategies.registry import traits

    if not preparing.wanted:
        left = " The one that is ready will still be used." if preparing.state == "ready" else ""
        return f"Background summaries are off.{left} /prepare turns them on."
    said = (
        "Background summaries are on: one is written before the window fills up. It costs tokens; "
        "the digest costs none and usually keeps more."
    )
    if auto == "off":
        return f"{said} But automatic compaction is off: /threshold auto turns it on."
    if not traits(strategy).takes_prepared:
        return f"{said} But only layered uses it, and this session compacts with {strategy}."
    return said


ACTIONS = (
    Action(
        "compact",
        "Make room in the window; --dry-run shows how",
        "window",
        ("compact",),
        (
            Argument("words", metavar="FOCUS", kind="prose"),
            *SHARED,
            Argument("--remember", "use this until the session ends", kind="flag"),
            Argument("--compare", "compare all strategies", kind="flag"),
        ),
        run=compact,
    ),
    Action(
        "prepare",
        "Turn background summaries on or off",
        "window",
        ("prepare",),
        (Argument("switch", kind="rest", choices=("on", "off")),),
        keys="f4",
        run=prepare,
    ),
    Action(
        "core",
        "See and change what is repeated after every compaction",
        "window",
        ("core",),
        run=opens("core"),
    ),
    Action(
        "eval",
        "Compare what strategies would keep of this session",
        "window",
        ("eval",),
        run=opens("eval"),
    ),
)
