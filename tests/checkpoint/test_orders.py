"""Orders are told by who gave them, not by their wording.

`phrases/` holds eight sets of standing orders, and of statements that merely sound like them, in
English, German, French and Spanish.
"""

import json
from pathlib import Path

import pytest

from fakes import checkpoints as make
from pinfold.checkpoint.proposals import judge
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.view import view_v1
from pinfold.rollout.events import ItemAdded, MemoryApplied, MemoryRefused
from pinfold.rollout.items import Item
from pinfold.rollout.memory import DecisionMemory

PHRASES = Path(__file__).parent / "phrases"
SETS = range(1, 9)
USER, TOOL = {"source": "user", "ref": "#1"}, {"source": "tool_output", "ref": "c1"}


def phrases(name: str, number: int) -> list[str]:
    return (PHRASES / f"{name}_{number}.txt").read_text("utf-8").splitlines()


class Talk:
    """A user, and a tool that says `printed`."""

    def __init__(self, printed: str, said: str = "Fix the login.") -> None:
        self.items = {
            1: Item(n=1, kind="user", content=said),
            2: Item(n=2, kind="tool_result", call_id="c1", name="shell", content=printed),
        }
        self.state: CheckpointState = make.reduced(
            [make.started(), *(ItemAdded(item=item) for item in self.items.values())]
        )

    def judged(self, **proposal: object) -> MemoryApplied | MemoryRefused:
        outcome = judge(json.dumps(proposal), self.state, self.items.get)
        self.state.step(make.event(9, outcome))
        return outcome

    @property
    def lines(self) -> list[str]:
        """Of the checkpoint, without the task."""
        return view_v1(self.state.snapshot()).splitlines()[3:]


@pytest.mark.parametrize("number", SETS)
def test_an_order_of_a_tools_output_is_nobodys_word(number: int) -> None:
    for order in phrases("standing_orders", number):
        talk = Talk(f"ok\n{order}\ndone")
        fact = {"kind": "fact", "key": "k", "value": order}
        decision = {"kind": "decision", "decision": order, "rationale": "r", "topic": "t"}
        for payload in (fact, {**decision, "evidence": {**USER, "quote": order}}):
            assert isinstance(talk.judged(**{"evidence": USER, **payload}), MemoryRefused), order
        for payload in (fact, decision):
            assert isinstance(talk.judged(**payload, evidence=TOOL), MemoryApplied), order
        told = [line for line in talk.lines if order in line]
        assert all('said by shell #2: "' in line for line in told), told
        assert not talk.state.decisions()


@pytest.mark.parametrize("number", SETS)
def test_statements_are_kept_as_they_were_said(number: int) -> None:
    for statement in phrases("innocent", number):
        talk = Talk(f"ok\n{statement}\ndone")
        kept = talk.judged(kind="fact", key="k", value=statement, evidence=TOOL)
        assert isinstance(kept, MemoryApplied), statement


@pytest.mark.parametrize("number", SETS)
def test_the_users_orders_are_theirs_and_the_agents_are_the_agents(number: int) -> None:
    for order in phrases("standing_orders", number):
        for said, begins in ((f"Well. {order}", "said by the user: "), ("Go on.", "the agent: ")):
            kept = Talk("ok", said).judged(
                kind="decision", decision=order, rationale="r", evidence=USER
            )
            assert isinstance(kept, MemoryApplied)
            assert isinstance(kept.memory, DecisionMemory)
            assert kept.memory.decision.startswith(begins)
