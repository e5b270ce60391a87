"""Commands on the window: pins, marks, the goal, the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold.commands.action import Action, Run
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context
from pinfold.numbers import tokens
from pinfold.rollout import provenance
from pinfold.sanitize import one_line
from pinfold.settings import AUTOS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pinfold.agent.session import Session
    from pinfold.rollout.events import Pin
    from pinfold.window.actions import Act, Effect

DONE: dict[Act, str] = {"mask": "Masked", "fold": "Folded", "unfold": "Unfolded"}
WORDS = 300
"""Characters of a goal or request that are shown."""
ITEMS = Argument("items", kind="rest", metavar="ITEMS", needed=True)
QUOTES = ('""', "''", "“”", "„“", "«»")


# Pins


async def pin(context: Context, items: str = "") -> None:
    window = context.session.window
    pins = window.select(items)
    effect = await window.act("pin", pins)
    costs = dict(window.pins)
    own = sum(costs.get(place, 0) for place in pins)
    held = f"{tokens(effect.pinned)} tokens pinned, {_share(context.session, effect.pinned)}"
    if not own:
        said = "nothing in the window yet; what matches later will be kept"
    elif own == effect.pinned:
        said = held
    else:
        said = f"{tokens(own)} tokens; all pins: {held}"
    back = f" {_named(effect.back)} back in full: {_change(effect)}." if effect.back else ""
    _tell(context, f"Pinned {_named(pins)}: {said}.{back}", effect)


async def unpin(context: Context, items: str = "") -> None:
    window = context.session.window
    known = [place for place, _ in window.pins]
    if not known:
        raise CommandError("Nothing is pinned.")
    if not items:
        raise CommandError(f"Which pin? {_named(known)}; /unpin all removes them all.")
    pins = known if items == "all" else _known(items, known) or window.select(items)
    effect = await window.act("unpin", pins)
    held = {pin: by for pin in pins if isinstance(pin, int) and (by := window.pin_on(pin))}
    still = (
        f"{_named(held)} still held by the pin on {_named(set(held.values()))}, " if held else ""
    )
    left = f"pins still hold {tokens(effect.pinned)} tokens" if window.pins else "no pin is left"
    _tell(context, f"Unpinned {_named(pins)}: {still}{left}.", effect)


def _named(pins: Iterable[Pin]) -> str:
    from pinfold.window.pins import named  # reads archives, which no first paint has

    return named(pins)


def _known(name: str, known: Sequence[Pin]) -> list[Pin]:
    """The pin of that name, even if what it holds has left the window."""
    return [place for place in known if str(place) == name.removeprefix("#")]


async def pins(context: Context) -> None:
    session = context.session
    held = session.window.pins
    if not held:
        context.tell(
            "Nothing is pinned. /pin 12, 12..18, last or src/** keeps items in the window."
        )
        return
    rows = [(_named(run), tokens(cost)) for run, cost in _runs(held)]
    total = sum(cost for _, cost in held)
    name_width = max(len(name) for name, _ in rows)
    cost_width = max(len(cost) for _, cost in rows)
    lines = (f"  {name:<{name_width}}  {cost:>{cost_width}}" for name, cost in rows)
    head = f"Pins, oldest first: {tokens(total)} tokens, {_share(session, total)}"
    context.tell("\n".join((head, *lines)))


def _runs(held: Sequence[tuple[Pin, int]]) -> list[tuple[list[Pin], int]]:
    """Pins and their cost; neighbouring items are one run."""
    runs: list[tuple[list[Pin], int]] = []
    for place, cost in held:
        last = runs[-1][0][-1] if runs else None
        if isinstance(place, int) and isinstance(last, int) and place == last + 1:
            runs[-1][0].append(place)
            runs[-1] = (runs[-1][0], runs[-1][1] + cost)
        else:
            runs.append(([place], cost))
    return runs


# Marks


def _marking(act: Act) -> Run:
    async def run(context: Context, items: str = "") -> None:
        window = context.session.window
        effect = await window.act(act, window.numbers(items))
        back = "" if act == "unfold" else " /undo brings it back."
        _tell(context, f"{DONE[act]} {_named(effect.numbers)}: {_change(effect)}.{back}", effect)

    return run


def _change(effect: Effect) -> str:
    freed = effect.freed
    how = f"{tokens(freed)} tokens freed" if freed >= 0 else f"{tokens(-freed)} tokens more"
    return f"{how}, window {tokens(effect.before)} → {tokens(effect.after)}"


async def undo(context: Context) -> None:
    session = context.session
    before = session.reading().used
    what = await session.window.undo()
    after = session.reading().used
    change = f" Window {tokens(before)} → {tokens(after)} tokens." if after != before else ""
    context.tell(f"Undone: {what}.{change}")


# The goal


async def goal(context: Context, text: str = "") -> None:
    session = context.session
    if text:
        new = "" if text == "clear" else _unquoted(text)
        if not new and text != "clear":
            raise CommandError("/goal needs text. /goal clear goes back to the first request.")
        await session.window.set_goal(new)
    context.tell(_goal(session))


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if text[:1] + text[1:][-1:] in QUOTES else text


def _goal(session: Session) -> str:
    now = session.window.goal
    if not now:
        return "There is no goal yet: your first request will be it. /goal TEXT sets one."
    items = session.items
    asked = provenance.request(items)
    first = provenance.words(asked) if asked is not None else ""
    latest = next((item for item in reversed(items) if item.kind == "user"), None)
    lines = [f"Goal{', your first request' if now == first else ''}: {_words(now)}"]
    if latest is not None and latest.content != now:
        lines.append(f"Current task, #{latest.n}: {_words(latest.content)}")
    return "\n".join(lines)


def _words(text: str) -> str:
    from textwrap import shorten

    return shorten(one_line(text), WORDS, placeholder=" …")


# The threshold


async def threshold(context: Context, when: str = "") -> None:
    session = context.session
    if when:
        try:
            session.set_threshold(when)
        except ValueError as error:
            raise CommandError(str(error)) from error
    context.tell(_threshold(session))


def _threshold(session: Session) -> str:
    reading = session.reading()
    at = int(session.threshold * reading.usable)
    where = (
        f"{session.threshold:.0%} of the {tokens(reading.usable)} tokens a request can use, "
        f"so {tokens(at)}"
    )
    if session.auto == "off":
        return f"Threshold: off. /threshold auto or ask sets it to {where}."
    if session.auto_paused:
        from pinfold.compaction.guards import RESUMES

        return f"Threshold: {where} ({session.auto}, paused as it failed). {RESUMES}"
    return f"Threshold: {where} ({session.auto}). The window has {tokens(reading.used)}."


# Words


def _share(session: Session, count: int) -> str:
    share = count / max(1, session.model.context_window)
    return f"{f'{share:.0%}' if share >= 0.01 else 'under 1%'} of the window"


def _tell(context: Context, line: str, effect: Effect) -> None:
    """Print what was done, and what was not."""
    lines = [line, *(f"Not {sentence}." for sentence in effect.left)]
    if effect.warning:
        lines.append(effect.warning)
    context.tell("\n".join(lines), "warning" if effect.warning else "info")


def _unpin_choices(context: Context) -> Sequence[str]:
    # No numbers: with Enter, a longer one would replace what is typed.
    held = [str(place) for place, _ in context.session.window.pins if isinstance(place, str)]
    return [*held, "all"]


ACTIONS = (
    Action(
        "pin",
        "Keep in the window: 12, 12..18, last, src/**",
        "window",
        ("pin",),
        (Argument("items", kind="rest", metavar="ITEMS", needed=True, offers=lambda _: ("last",)),),
        run=pin,
    ),
    Action(
        "unpin",
        "Remove pins",
        "window",
        ("unpin",),
        (Argument("items", kind="rest", metavar="ITEMS|all", needed=True, offers=_unpin_choices),),
        run=unpin,
    ),
    Action("pins", "List the pins and what they cost", "window", ("pins",), run=pins),
    Action(
        "mask",
        "Hide tool output from the model",
        "window",
        ("mask",),
        (ITEMS,),
        run=_marking("mask"),
    ),
    Action(
        "fold",
        "Collapse items to one line",
        "window",
        ("fold",),
        (ITEMS,),
        run=_marking("fold"),
    ),
    Action(
        "unfold",
        "Bring masked and folded items back",
        "window",
        ("unfold",),
        (ITEMS,),
        run=_marking("unfold"),
    ),
    Action("undo", "Undo the last change to the window", "window", ("undo",), run=undo),
    Action(
        "goal",
        "Show or set what the session is for",
        "window",
        ("goal",),
        (Argument("text", kind="rest", metavar="TEXT|clear"),),
        run=goal,
    ),
    Action(
        "threshold",
        "Show or set it: 0.7, ask, auto, off",
        "window",
        ("threshold",),
        (Argument("when", kind="rest", offers=lambda _: AUTOS),),
        run=threshold,
    ),
)
