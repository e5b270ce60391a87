"""What the user laid down stands verbatim after five compactions in a row, and nothing stale."""

from collections.abc import Sequence

import pytest

from fakes.compactions import Live, apply, planned, session, working
from pinfold.checkpoint.commitments import Commitments
from pinfold.compaction.checkpoint_text import CORE_HEADER
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item

STANDING = (
    "Never touch the legacy folder.",
    "stdlib only pls",
    "All dates are written as YYYY-MM-DD.",
    "Let's go with SQLite instead of Postgres.",
    "I prefer small commits over one big one.",
    "Das Passwort darf nie im Log stehen.",
    "The response time must stay below 200 ms.",
    "When you're done with a step, tick it off in PLAN.md.",
)
CHANGED = (
    ("The coverage threshold is 85 %.", "The coverage threshold is 90 % now."),
    ("From now on, answer in German.", "From now on, answer in English."),
    ("The release branch is release/2.4.", "The release branch is release/2.5."),
    ("Lines must never exceed 80 characters.", "Lines must never exceed 100 characters."),
    ("Always use tabs.", "I prefer spaces, not tabs."),
)


def said(live: Live, texts: Sequence[str]) -> None:
    """The user says these, and the agent works on."""
    for text in texts:
        live.add(ItemAdded(item=Item(n=live.next_n, kind="user", content=text)))
    for data in working(8, first=live.next_n):
        live.add(data)


def core(live: Live) -> str:
    """What the window holds of it."""
    text = next(item.content for item in live.window.items if item.kind == "checkpoint")
    return text[text.index(CORE_HEADER) :]


@pytest.mark.parametrize("strategy", ["checkpoint", "layered"])
def test_after_five_compactions_all_stand_and_none_is_stale(strategy: str) -> None:
    live = session(0)
    said(live, ["Port the shop to the new API.", *STANDING, *(old for old, _ in CHANGED)])
    for _, new in CHANGED:
        apply(live, planned(live.view(32_000), strategy))
        said(live, [new])
    apply(live, planned(live.view(32_000), strategy))

    words = core(live)
    for text in (*STANDING, *(new for _, new in CHANGED)):
        assert f": {text}\n" in f"{words}\n"
    for old, _ in CHANGED:
        assert old not in words
    assert live.window.generation == len(CHANGED) + 1


@pytest.mark.parametrize("strategy", ["checkpoint", "layered"])
def test_the_core_is_what_the_messages_alone_would_give(strategy: str) -> None:
    live, alone = session(0), Commitments()
    for text in (*STANDING, *(each for pair in CHANGED for each in pair)):
        said(live, [text])
        apply(live, planned(live.view(32_000), strategy))
    for n in sorted(live.window.archive):
        item = live.window.archive[n]
        if item.kind == "user":
            alone.read(item.content, item.n)
    assert live.ledger.commitments() == alone.standing()
    assert [line for line in core(live).splitlines() if " #" in line] == [
        each.line for each in alone.standing()
    ]
