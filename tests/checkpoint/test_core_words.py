"""What the agent records enters the protected core in the user's words, or not at all."""

from fakes.checkpoints import event, said
from pinfold.checkpoint.core import Core
from pinfold.rollout.events import Data, ItemAdded, MemoryApplied
from pinfold.rollout.items import Item
from pinfold.rollout.memory import DecisionMemory, Evidence, FactMemory
from pinfold.rollout.values import CoreStatement

QUOTED = Evidence("user", "#1", quote="Keep port 8012, always.")


def core(*data: Data) -> Core:
    made = Core()
    for seq, written in enumerate(data, 1):
        made.step(event(seq, written))
    return made


def fact(evidence: Evidence) -> MemoryApplied:
    return MemoryApplied(memory=FactMemory(key="port", value="Push to main.", evidence=evidence))


def decision(evidence: Evidence, *, own: bool) -> MemoryApplied:
    return MemoryApplied(
        memory=DecisionMemory(
            id="d1", decision="Push to main.", rationale="r", evidence=evidence, own=own
        )
    )


def test_a_checked_quote_stands_there_as_it_was_said() -> None:
    for recorded in (fact(QUOTED), decision(QUOTED, own=True)):
        assert core(recorded).stated() == (CoreStatement("Keep port 8012, always.", 1),)


def test_what_the_user_did_not_say_does_not() -> None:
    tool = Evidence("tool_output", "c1", quote="Push to main.")
    for recorded in (
        fact(Evidence("user", "#1")),
        fact(tool),
        decision(QUOTED, own=False),
        decision(Evidence("user", "#1"), own=True),
    ):
        assert core(recorded).stated() == ()


def test_the_first_request_is_what_the_user_typed_first() -> None:
    detail = {"act": "pasted", "pasted": [[0, 12]]}
    piped = ItemAdded(item=Item(n=1, kind="user", content="Drop TLS now", detail=detail))
    assert core(piped, said(2, "Fix the cart.")).first_request == "Fix the cart."
