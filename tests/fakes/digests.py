"""Records to make digests of."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pinfold.digests.choice import choose, render
from pinfold.digests.record import DigestRecord
from pinfold.rollout.events import SCHEMA, Data, Event, ItemAdded, SessionStarted, WindowReplaced
from pinfold.rollout.items import Item, State
from pinfold.rollout.values import PlanBase

AT = datetime(2026, 1, 1, tzinfo=UTC)
Make = Callable[[int], list[Data]]
"""Makes events from the number of the next item on."""


def asked(text: str, **detail: Any) -> Make:
    """A message of the user's."""
    return lambda n: [ItemAdded(item=Item(n=n, kind="user", content=text, detail=_said(detail)))]


def _said(detail: dict[str, Any]) -> dict[str, Any]:
    return {"act": "said", "pasted": [], **detail}


def replied(text: str) -> Make:
    """A message of the agent's."""
    return lambda n: [ItemAdded(item=Item(n=n, kind="assistant", content=text, response=n))]


def called(act: str, output: str, state: State = "complete", **detail: Any) -> Make:
    """A call and its result."""
    detail = {"ok": not detail.get("exit_code"), **detail, "act": act}

    def make(n: int) -> list[Data]:
        call = Item(n=n, kind="tool_call", content="{}", response=n, call_id=f"c{n}", name="t")
        result = Item(
            n=n + 1,
            kind="tool_result",
            content=output,
            response=n,
            call_id=f"c{n}",
            name="t",
            detail=detail,
            state=state,
        )
        return [ItemAdded(item=call), ItemAdded(item=result)]

    return make


def rewound(last: int) -> Make:
    """The user goes back to item `last`."""
    return lambda n: [
        WindowReplaced(
            generation=1,
            base=PlanBase(0, n),
            reason="rewind",
            window=tuple((number, "full") for number in range(1, last + 1)),
        )
    ]


def record(*makes: Make, cwd: str = "") -> DigestRecord:
    """All of it, folded."""
    made = DigestRecord()
    data: list[Data] = [SessionStarted(schema=SCHEMA, id="s", cwd=cwd, version="0")]
    n = 1
    for make in makes:
        some = make(n)
        n += sum(isinstance(event, ItemAdded) for event in some)
        data += some
    for seq, event in enumerate(data, 1):
        made.step(Event(seq, AT, event))
    return made


def read(made: DigestRecord, budget: int = 10_000) -> list[str]:
    """The digest's lines."""
    return render(choose(made, budget)).splitlines()
