"""Commands on the model and on what it may do."""

from pinfold.commands.action import Action
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context
from pinfold.settings import MODES

MEANING = {
    "read-only": "reading runs without asking, commands in a sandbox that writes nothing; no edits",
    "ask": "reading runs without asking; edits and commands ask",
    "workspace": "edits in this folder run without asking, and commands in their sandbox",
    "full": "everything runs without asking, with no sandbox",
}


CYCLE = {
    "ask": "edits and commands ask first",
    "workspace": "edits in this folder run without asking",
    "read-only": "nothing may be written",
}
"""What one key goes through. `full` has no sandbox, so it has to be typed."""


def next_mode(mode: str) -> str:
    """The approval mode after `mode` in the cycle."""
    modes = [*CYCLE]
    return modes[(modes.index(mode) + 1) % len(modes)] if mode in CYCLE else modes[0]


async def model(context: Context, name: str = "") -> None:
    from pinfold.ports.errors import ProviderError

    session = context.session
    if name:
        try:
            await session.set_model(name)
        except ProviderError as error:
            raise CommandError(str(error)) from error
    now = session.model
    context.tell(
        f"Model: {now.name} from {now.provider}. {session.choice_note}\n"
        f"Context window: {now.context_window:,} tokens ({now.window_source})."
        + ("" if name else "\nAnother one: /model NAME or /model PROVIDER/NAME.")
    )


async def approvals(context: Context, mode: str = "") -> None:
    session = context.session
    if mode:
        session.set_approvals(mode)
        context.tell(f"Approvals: {mode}: {MEANING[mode]}.")
        return
    lines = (
        f"{'→' if one == session.approvals else ' '} {one:<9}  {MEANING[one]}" for one in MODES
    )
    context.tell("\n".join(("What runs without asking; change it with /approvals MODE:", *lines)))


ACTIONS = (
    Action(
        "model",
        "Show or change the model",
        "model",
        ("model",),
        (Argument("name", kind="rest"),),
        run=model,
    ),
    Action(
        "approvals",
        "Show or change what runs without asking",
        "model",
        ("approvals",),
        (Argument("mode", kind="rest", metavar="MODE", choices=MODES),),
        run=approvals,
    ),
)
