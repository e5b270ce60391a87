"""Four agents at once, whatever happens in whatever order: nothing is lost, all figures add up."""

import asyncio
import tempfile
from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakes.agent import Stage, User
from fakes.agents import task, troupe
from fakes.provider import Step, calls, says
from pinfold.agent.options import Options
from pinfold.agent.state import State
from pinfold.ports.approver import Decision, Question
from pinfold.ports.errors import RequestRejected
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ChildFinished, ChildStarted, Data, ItemAdded, RequestFinished
from pinfold.rollout.items import CHILD
from pinfold.rollout.journal import Journal, JournalError
from pinfold.tokens.prices import Price, Spend
from pinfold.window.refused import Refused

PRICES = {"scripted/scripted-1": Price(1.0, 2.0)}
LARGE = ModelInfo("scripted-1", "scripted", 200_000, "config")
KINDS = ("toils", "dies", "halts", "wants")
WRITE = '{"path": "asked", "content": "x"}'
HAPPENINGS = (
    *(f"{kind} {n}" for kind in KINDS for n in (1, 2)),
    "cancel",
    "answer",
    "compact",
    "compact",
    "prompt",
    "interrupt",
)
"""What may happen, in any order: a gate of an agent opens, or somebody does something."""


class SlowUser(User):
    """Answers once told to."""

    def __init__(self, decision: Decision) -> None:
        super().__init__()
        self.decision = decision
        self.may_answer = asyncio.Event()

    async def __call__(self, question: Question) -> Decision:
        self.asked.append(question)
        await self.may_answer.wait()
        return self.decision


class Play:
    """One run: four agents of the kinds, in the background or not, and what happens meanwhile."""

    def __init__(self, background: Sequence[bool], allows: bool) -> None:
        self.background = background
        self.user = SlowUser(Decision("yes" if allows else "no"))
        self.gates = {f"{kind} {n}": asyncio.Event() for kind in KINDS for n in (1, 2)}
        self.on: Stage

    def parts(self) -> dict[str, list[list[Step]]]:
        look, write = ("l", "list_dir", "{}"), ("w", "write_file", WRITE)
        found: dict[str, list[list[Step]]] = {}
        for kind in KINDS:
            first, second = self.gates[f"{kind} 1"], self.gates[f"{kind} 2"]
            last: list[Step] = [RequestRejected("boom")] if kind == "dies" else says(f"{kind} over")
            call = calls(write if kind == "wants" else look)
            found[kind] = [[first, *call], [second, *last]]
        return found

    async def run(self, root: Path, order: Sequence[tuple[str, int]]) -> None:
        made = calls(
            *(
                task(f"c{n}", kind, background=background)
                for n, (kind, background) in enumerate(zip(KINDS, self.background, strict=True))
            )
        )
        script = [made, *(says(f"reply {n}") for n in range(9))]
        on = self.on = await troupe(
            root, script, self.parts(), model=LARGE, user=self.user, options=Options(prices=PRICES)
        )
        on.session.send("start four. " * 99)
        await on.until(lambda: len(on.session.children.known) == len(KINDS))
        for happening, turns in order:
            for _ in range(turns):
                await asyncio.sleep(0)
            await self.happen(happening)
        for gate in (*self.gates.values(), self.user.may_answer):
            gate.set()
        await on.session.idle()
        await on.until(lambda: not on.session.children.running)
        ending = await on.session.send("what became of them?")
        assert ending.state == "done"

    async def happen(self, what: str) -> None:
        session = self.on.session
        match what:
            case "cancel":
                for child in session.children.running:
                    if child.started.description == "halts":
                        session.children.stop(child.number, "the user stopped it")
            case "answer":
                self.user.may_answer.set()
            case "compact":
                with suppress(Refused):  # a turn is running, or there is nothing to compact
                    await session.compact("checkpoint")
            case "prompt":
                session.send("meanwhile")
            case "interrupt":
                session.interrupt()
            case gate:
                self.gates[gate].set()


def own_spend(events: Sequence[Data]) -> Spend:
    spend = Spend()
    for data in events:
        if isinstance(data, RequestFinished) and data.usage is not None:
            spend.add(data.provider, data.model, data.usage)
    return spend


async def check(play: Play, root: Path) -> None:
    session, events = play.on.session, play.on.events()
    started = {data.child: data for data in events if isinstance(data, ChildStarted)}
    ends = [data for data in events if isinstance(data, ChildFinished)]
    # Each agent has one end, and it is the right one.
    assert Tally(end.child for end in ends) == Tally(started.keys())
    for end in ends:
        kind = started[end.child].description
        assert end.state in ("done", "interrupted", "failed")
        if kind == "dies":
            assert end.state != "done"
        # What it says it took is what its own rollout says, and its items are all there.
        try:
            own = [event.data for event in await session.children.events(started[end.child])]
        except JournalError:  # it was stopped before it began
            own = []
        assert end.models == own_spend(own).models
        assert end.items == sum(isinstance(data, ItemAdded) for data in own)
        if kind == "wants":
            wrote = (root / "work" / "asked").exists()
            assert wrote == (end.files == ("asked",))
            assert not wrote or play.user.decision.verdict == "yes"
    # The family's tokens are the sum, which is what the model was asked for.
    total = own_spend(events)
    for end in ends:
        total.take(end.models)
    assert session.reading().cost == total.total(PRICES)
    # Each call has one result, and the end of each in the background is told once.
    items = [data.item for data in events if isinstance(data, ItemAdded)]
    made = Tally(item.call_id for item in items if item.kind == "tool_call")
    assert made == Tally(item.call_id for item in items if item.kind == "tool_result")
    context = [item for item in items if item.kind == "context"]
    told = Tally(item.detail[CHILD] for item in context if CHILD in item.detail)
    assert told == Tally(n for n, child in started.items() if child.background)
    # What was folded while it happened is what a new reader folds.
    state = State()
    with Journal.open(session.folder, play.on.clock.now, read_only=True) as journal:
        for event in journal.read():
            state.step(event)
    assert (state.children, state.finished) == (started, {end.child: end for end in ends})
    assert not state.unreported_children


@settings(max_examples=10)
@given(
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.booleans(),
    st.permutations(HAPPENINGS),
    st.lists(st.sampled_from((0, 3, 40, 300)), min_size=len(HAPPENINGS), max_size=len(HAPPENINGS)),
)
@example([True] * 4, True, HAPPENINGS, [100] * len(HAPPENINGS))
@example([False] * 4, False, HAPPENINGS, [30] * len(HAPPENINGS))
def test_nothing_is_lost(
    background: list[bool], allows: bool, order: list[str], turns: list[int]
) -> None:
    async def play(root: Path) -> None:
        one = Play(background, allows)
        try:
            await one.run(root, list(zip(order, turns, strict=True)))
            await check(one, root)
        finally:
            await one.on.session.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))
