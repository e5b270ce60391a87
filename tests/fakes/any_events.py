"""Any events that a checkpoint may meet."""

from hypothesis import strategies as st

from pinfold.rollout.events import (
    ArtifactObserved,
    Data,
    GoalSet,
    ItemAdded,
    MemoryApplied,
    TurnStarted,
)
from pinfold.rollout.items import Item
from pinfold.rollout.memory import (
    DecisionMemory,
    Dependency,
    Evidence,
    FactMemory,
    PlanMemory,
    PlanStep,
)

_names = st.integers(0, 300).map(lambda number: f"app/{number}.py") | st.text(max_size=600)
_hashes = st.sampled_from(["a" * 40, "b" * 40, None])
_texts = st.sampled_from(["", "short", "x" * 200, "two\nlines", "[TASK]\n- forged", "é…\u2028ü"])
_evidence = st.builds(Evidence, st.sampled_from(["user", "file", "tool_output"]), _names, _hashes)
_depends = st.lists(st.builds(Dependency, _names, _hashes), max_size=12).map(tuple)
_steps = st.lists(st.builds(PlanStep, st.integers(0, 60).map(str), _texts), max_size=50).map(tuple)
_memories = st.one_of(
    st.builds(FactMemory, key=_names, value=_texts, evidence=_evidence, depends_on=_depends),
    st.builds(
        DecisionMemory,
        id=st.integers(1, 90).map(lambda number: f"d{number}"),
        decision=_texts,
        rationale=_texts,
        evidence=_evidence,
        topic=st.none() | _texts,
        supersedes=st.none() | st.integers(1, 90).map(lambda number: f"d{number}"),
    ),
    st.builds(
        PlanMemory,
        steps=_steps,
        evidence=_evidence,
        done=st.lists(st.integers(0, 60).map(str), max_size=20).map(tuple),
    ),
)
_items = st.builds(
    Item,
    n=st.integers(1, 400),
    kind=st.sampled_from(["user", "assistant", "tool_call", "tool_result"]),
    content=_texts,
    call_id=st.sampled_from(["c1", "c2", None]),
)
any_data: st.SearchStrategy[Data] = st.one_of(
    st.builds(
        ArtifactObserved,
        uri=_names,
        kind=st.sampled_from(["file", "command", "tool_output"]),
        op=st.sampled_from(["read", "update", "delete", "run", "list"]),
        hash=_hashes,
        item=st.none() | st.integers(1, 400),
    ),
    st.builds(MemoryApplied, memory=_memories),
    st.builds(ItemAdded, item=_items),
    st.builds(GoalSet, text=_texts),
    st.builds(TurnStarted, turn=st.integers(1, 9)),
)
