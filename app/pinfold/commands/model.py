"""Commands on the model and on approvals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.action import Action
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context

if TYPE_CHECKING:
    from pinfold.tokens.prices import Price

MEANING = {
    "read-only": "reading runs without asking, commands in a read-only sandbox; no edits",
    "ask": "reading and commands that only read run without asking; edits and other commands ask",
    "workspace": "edits in this folder run without asking, and commands in their sandbox",
    "full": "everything runs without asking, with no sandbox",
    "plan": "as read-only; the agent makes a plan, which you accept before it works",
}


CYCLE = {
    "ask": "edits and commands ask first",
    "workspace": "edits in this folder run without asking",
    "read-only": "nothing can be written",
    "plan": "the agent reads and makes a plan",
}
"""Modes that Shift+Tab cycles through. `full` has no sandbox, so it must be typed."""


def next_mode(mode: str) -> str:
    """The approval mode after `mode` in the cycle."""
    modes = [*CYCLE]
    return modes[(modes.index(mode) + 1) % len(modes)] if mode in CYCLE else modes[0]


DEFAULT_EFFORT = "default"


async def model(context: Context, name: str = "") -> None:
    from pinfold.ports.errors import ProviderError

    if not name:
        context.open("models")
        return
    session = context.session
    try:
        await session.set_model(name)
    except ProviderError as error:
        raise CommandError(str(error)) from error
    now, choice = session.model, session.choice
    lines = [
        f"Model: {now.name} from {now.provider}. {session.choice_note}",
        f"Context window: {now.context_window:,} tokens ({now.window_source}).",
    ]
    if choice.price:
        lines.append(f"Price: {price_said(choice.price)}.")
    if choice.efforts:
        levels = ", ".join(choice.efforts)
        lines.append(f"Effort: {choice.effort or DEFAULT_EFFORT}; it takes {levels} (/effort).")
    context.tell("\n".join(lines))


def price_said(price: "Price") -> str:
    """A price and where it comes from."""
    cached = "" if price.cached is None else f", ${price.cached:g} cached"
    source = price.source or "[prices] of your config file"
    return f"${price.input:g} in{cached}, ${price.output:g} out per 1M tokens, from {source}"


async def effort(context: Context, level: str = "") -> None:
    if not level:
        context.open("effort")
        return
    choice = context.session.choice
    wanted = level.lower()
    try:
        await choice.think(None if wanted == DEFAULT_EFFORT else wanted)
    except ValueError as error:
        raise CommandError(f"{error} /effort {DEFAULT_EFFORT} leaves it to the model.") from error
    known = "" if choice.efforts else " No documentation says whether this model takes it."
    context.tell(f"Effort: {wanted}, from the next request on.{known if choice.effort else ''}")


def _levels(context: Context) -> Sequence[str]:
    return (DEFAULT_EFFORT, *context.session.choice.efforts)


async def plan(context: Context) -> None:
    set_approvals(context, "ask" if context.session.approvals == "plan" else "plan")


async def approvals(context: Context, mode: str = "") -> None:
    if not mode or (mode == "full" and context.session.approvals != "full"):
        context.open("approvals", mode)
    else:
        set_approvals(context, mode)


def set_approvals(context: Context, mode: str) -> None:
    """Change what runs without asking, and say what it is now."""
    context.session.set_approvals(mode)
    context.tell(f"Approvals: {mode}: {MEANING[mode]}.")


ACTIONS = (
    Action(
        "model",
        "Choose the model",
        "model",
        ("model",),
        (Argument("name", kind="rest"),),
        run=model,
    ),
    Action(
        "effort",
        "Choose how hard the model thinks",
        "model",
        ("effort",),
        (Argument("level", kind="rest", metavar="LEVEL", offers=_levels),),
        run=effort,
    ),
    Action("plan_mode", "Begin or end plan mode", "model", ("plan",), run=plan),
    Action(
        "approvals",
        "Choose what runs without asking",
        "model",
        ("approvals",),
        (Argument("mode", kind="rest", metavar="MODE", choices=tuple(MEANING)),),
        run=approvals,
    ),
)
