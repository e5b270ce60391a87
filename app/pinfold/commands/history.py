"""Commands on earlier windows, and on what pinfold remembers."""

from collections.abc import Sequence
from functools import partial

from pinfold.commands.action import Action, idle
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context, Level

DIGEST = 1_000
"""Tokens of the digest in `/checkpoint show`."""
_SHOWN = 100
"""Lines of a note in the transcript."""


async def history(context: Context, what: Sequence[str] = ()) -> None:
    from pinfold.commands import history_text

    window = context.session.window
    match list(what):
        case []:
            context.open("history")
        case ["show", *words] if words:
            one = _named(context, *words)
            lines = list(history_text.standing(window.standing(one)))
            context.tell(_note(context, lines, f"--show {one}"))
        case ["diff", first, second]:
            one, other = _named(context, first), _named(context, second)
            lines = list(history_text.differences(window.differences(one, other)))
            context.tell(_note(context, lines, f"--diff {one} {other}"))
        case ["restore", *words] if words:
            await _restore(context, _named(context, *words))
        case ["fork", *words] if words:
            await fork(context, _named(context, *words))
        case _:
            raise CommandError(
                "Use /history alone or with show G, diff G H, restore G, or fork G; G is a "
                "window's number, or when it was compacted, in UTC: 20260301T1230."
            )


async def _restore(context: Context, generation: int) -> None:
    from pinfold.commands.history_text import fits

    session = context.session
    said = await session.window.restore(generation)
    reading = session.reading()
    level: Level = "warning" if reading.used > reading.usable else "info"
    context.tell(f"{said} {fits(reading)} /undo undoes it.", level)


async def fork(context: Context, generation: int) -> None:
    """Fork the session at that window."""
    session = idle(context)
    await context.switch(partial(context.host.fork_window, session.folder, generation))
    context.tell(f"Forked from session {session.id} at its window {generation}.")


async def lost(context: Context) -> None:
    from pinfold.rollout.values import is_compaction

    made = (boundary for boundary in reversed(context.session.window.boundaries))
    newest = next((boundary for boundary in made if is_compaction(boundary.reason)), None)
    if newest is None:
        raise CommandError("Nothing has been compacted yet.")
    context.open("lost", str(newest.generation))


def _named(context: Context, *words: str) -> int:
    from pinfold.agent.compaction.window_files import named

    session = context.session
    return named(" ".join(words), session.window.boundaries, session.folder)


def _note(context: Context, lines: Sequence[str], option: str) -> str:
    """The lines, or the last `_SHOWN` of them."""
    if len(lines) <= _SHOWN:
        return "\n".join(lines)
    command = f"pinfold history {context.session.id} {option}"
    head = f"The last {_SHOWN} of {len(lines):,} lines; all of them: {command}"
    return "\n".join((head, *lines[-_SHOWN:]))


async def checkpoint(context: Context, what: str = "") -> None:
    if not what:
        context.open("checkpoint")
        return
    from pinfold.checkpoint.view import view_v1
    from pinfold.digests.choice import choose, render

    session = context.session
    known = await session.compaction.known()
    text = render(choose(known.record, DIGEST))
    context.tell(f"{view_v1(known.checkpoint)}\n{text}".rstrip())


ACTIONS = (
    Action(
        "history",
        "Earlier windows: show, compare, restore one, fork from it",
        "window",
        ("history",),
        (
            Argument(
                "what",
                kind="words",
                metavar="show|diff|restore|fork G",
                offers=lambda _: ("show", "diff", "restore", "fork"),
            ),
        ),
        run=history,
    ),
    Action(
        "lost",
        "Show what the last compaction lost, and restore it",
        "window",
        ("lost",),
        run=lost,
    ),
    Action(
        "checkpoint",
        "Show what pinfold remembers of this session",
        "window",
        ("checkpoint",),
        (Argument("what", kind="rest", choices=("show",)),),
        run=checkpoint,
    ),
)
