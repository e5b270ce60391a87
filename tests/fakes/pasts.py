"""A session that has been compacted twice, without any strategy: what stands is what is said."""

from fakes.checkpoints import example, said
from fakes.compactions import working
from fakes.live_session import LiveSession, live_session
from fakes.preview import make_session
from pinfold.rollout.events import ItemAdded, WindowReplaced
from pinfold.rollout.items import Form, Item
from pinfold.rollout.values import PlanBase, Sizes
from pinfold.window.window import Window

SUMMARY = "Parts 1 to 4 are faster. The port of part 4 is 8004."


def replaced(
    window: Window, reason: str, strategy: str, gone: range, *inserted: Item
) -> WindowReplaced:
    """The window after `window`: without the items `gone`, `inserted` before all others."""
    stays = [(n, form) for n, form in window.forms.items() if n not in gone]
    forms: list[tuple[int, Form]] = [*((item.n, "full") for item in inserted), *stays]
    return WindowReplaced(
        generation=window.generation + 1,
        base=PlanBase(window.generation, window.seq),
        reason=reason,
        strategy=strategy,
        window=tuple(forms),
        inserted=inserted,
        tokens=Sizes(before=100 * len(window), after=100 * len(forms)),
    )


def make_past(*, twice: bool = True) -> LiveSession:
    """#1 to #40; the first 32 went at the threshold; then a turn, and one went by hand."""
    session = make_session(5)
    summary = Item(n=41, kind="checkpoint", content=SUMMARY)
    session.append(
        replaced(session.record.window, "threshold", "checkpoint", range(1, 33), summary)
    )
    if twice:
        for data in working(1, first=42):
            session.append(data.item if isinstance(data, ItemAdded) else data)
        session.append(replaced(session.record.window, "manual", "prune", range(33, 41)))
    return session


def make_remembering() -> LiveSession:
    """A session with a plan, decisions and facts, of which some are suspect."""
    session = live_session(gauge=None)
    begun, _, *rest = example()
    first, last = said(1, "Fix the login."), said(11, "Always run the tests. Keep port 8080.")
    for data in (begun, first, *rest, last):
        session.append(data.item if isinstance(data, ItemAdded) else data)
    return session
