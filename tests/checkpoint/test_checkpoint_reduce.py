"""The reducer: bounded, the same however it was fed, and never silently wrong."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import checkpoints as make
from fakes.any_events import any_data
from fakes.checkpoints import event, reduced
from pinfold.checkpoint import caps, persist
from pinfold.checkpoint.model import CheckpointV1
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.view import view_v1
from pinfold.rollout import codec
from pinfold.rollout.events import ArtifactObserved, Data, GoalSet, ItemAdded, TurnStarted
from pinfold.rollout.items import Item
from pinfold.rollout.memory import Dependency, Evidence

many = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
OLD, NEW = "a" * 40, "b" * 40


@many
@given(st.lists(any_data, max_size=60), st.data())
def test_live_and_rebuilt_are_the_same(data: list[Data], draw: st.DataObject) -> None:
    live = CheckpointState()
    looked = draw.draw(st.sets(st.integers(1, 60)))
    for seq, written in enumerate(data, 1):
        live.step(event(seq, written))
        if seq in looked:  # a reader changes nothing
            live.snapshot()
    rebuilt = CheckpointState()
    for seq, written in enumerate(data, 1):
        rebuilt.step(codec.decode(codec.encode(event(seq, written))))
    assert persist.encode(live.snapshot()) == persist.encode(rebuilt.snapshot())


@many
@given(st.lists(any_data, max_size=60), st.integers(0, 5))
def test_bounds_hold_for_any_events(data: list[Data], repeat: int) -> None:
    checkpoint = reduced(data * (repeat + 1)).snapshot()
    assert checkpoint.seq == len(data) * (repeat + 1)
    assert_bounded(checkpoint)


def test_bounds_hold_when_everything_overflows() -> None:
    data: list[Data] = []
    for number in range(400):
        data += [
            make.file(f"{number}/" + "p" * 600, OLD),
            make.fact(f"key{number}", "v" * 500, Dependency(f"{number}/" + "p" * 600, OLD)),
            make.decision(f"d{number}", "w" * 500),
            make.said(number, "t" * 5000),
        ]
    data.append(make.plan(*["s" * 500] * 100))
    checkpoint = reduced(data).snapshot()
    assert_bounded(checkpoint)
    assert len(checkpoint.facts) == caps.MAX_FACTS_TOTAL
    assert len(checkpoint.artifacts) == caps.MAX_ARTIFACTS_TOTAL
    assert len(persist.encode(checkpoint)) < 500_000


def assert_bounded(checkpoint: CheckpointV1) -> None:
    assert len(checkpoint.facts) <= caps.MAX_FACTS_TOTAL
    assert len(checkpoint.decisions) <= caps.MAX_DECISIONS_TOTAL
    assert len(checkpoint.plan.steps) <= caps.MAX_PLAN_STEPS_TOTAL
    assert len(checkpoint.recent_artifacts) <= caps.MAX_RECENT_ARTIFACTS
    assert len(checkpoint.artifacts) <= caps.MAX_ARTIFACTS_TOTAL
    assert set(checkpoint.recent_artifacts) <= set(checkpoint.artifacts)
    texts = [step.text for step in checkpoint.plan.steps]
    texts += [fact.value for fact in checkpoint.facts.values()]
    texts += [decision.decision for decision in checkpoint.decisions]
    texts += [checkpoint.task.text] if checkpoint.task else []
    assert all(len(text) <= caps.MAX_VALUE_CHARS and "\n" not in text for text in texts)
    assert all(len(key) <= caps.MAX_NAME_CHARS for key in checkpoint.facts)
    assert all(len(fact.depends_on) <= caps.MAX_DEPENDENCIES for fact in checkpoint.facts.values())
    assert all(len(uri) <= caps.MAX_URI_CHARS for uri in checkpoint.artifacts)


@many
@given(st.lists(any_data, max_size=60))
def test_a_fact_is_valid_only_while_every_dependency_is_what_it_was(data: list[Data]) -> None:
    checkpoint = reduced(data).snapshot()
    for fact in checkpoint.facts.values():
        seen = [checkpoint.artifacts.get(dependency.uri) for dependency in fact.depends_on]
        known = all(
            artifact is not None and artifact.hash is not None and artifact.hash == dependency.hash
            for artifact, dependency in zip(seen, fact.depends_on, strict=True)
        )
        assert fact.status == ("VALID" if known else "SUSPECT")


def test_an_edit_a_delete_and_the_old_bytes_again() -> None:
    data: list[Data] = [make.file("a.py", OLD), make.fact("k", "v", Dependency("a.py", OLD))]
    states = []
    for change in (
        TurnStarted(turn=1),
        make.file("a.py", NEW, op="update"),
        make.file("a.py", OLD, op="update"),
        make.file("a.py", None, op="delete"),
        make.file("a.py", OLD, op="create"),
        make.file("a.py", None, op="list"),
    ):
        data.append(change)
        states.append(reduced(data).snapshot().facts["k"].status)
    assert states == ["VALID", "SUSPECT", "VALID", "SUSPECT", "VALID", "VALID"]


def test_a_fact_that_no_hash_was_known_for_is_suspect() -> None:
    data = [
        make.file("a.py", None),
        make.fact("k", "v", Dependency("a.py")),
        make.file("a.py", OLD),
    ]
    assert reduced(data).snapshot().facts["k"].status == "SUSPECT"


def test_the_oldest_written_fact_goes_first() -> None:
    data = [make.fact(f"k{number:02}", "v") for number in range(caps.MAX_FACTS_TOTAL)]
    data += [make.fact("k00", "again"), make.fact("new", "v")]
    facts = reduced(data).snapshot().facts
    assert "k00" in facts
    assert "k01" not in facts
    assert len(facts) == caps.MAX_FACTS_TOTAL


def test_the_oldest_decision_goes_first() -> None:
    data = [make.decision(f"d{n}", "x") for n in range(1, caps.MAX_DECISIONS_TOTAL + 2)]
    state = reduced(data)
    assert next(iter(state.decisions())) == "d2"
    assert state.decided == caps.MAX_DECISIONS_TOTAL + 1


def test_artifacts_that_facts_depend_on_go_last() -> None:
    data: list[Data] = [make.file("kept.py", OLD), make.fact("k", "v", Dependency("kept.py", OLD))]
    data += [make.file(f"{number}.py", OLD) for number in range(caps.MAX_ARTIFACTS_TOTAL)]
    checkpoint = reduced(data).snapshot()
    assert "kept.py" in checkpoint.artifacts
    assert "0.py" not in checkpoint.artifacts
    assert checkpoint.facts["k"].status == "VALID"
    data.append(make.fact("k", "stands on nothing"))
    data.append(make.file("one more.py", OLD))
    assert "kept.py" not in reduced(data).snapshot().artifacts


def test_recent_artifacts_are_unique_and_the_newest_stands_last() -> None:
    data = [make.file(f"{number}.py", OLD) for number in range(20)]
    data += [make.file("5.py", NEW), make.file("docs", None, op="list")]
    recent = reduced(data).snapshot().recent_artifacts
    assert recent[-1] == "5.py"
    assert len(recent) == len(set(recent)) == caps.MAX_RECENT_ARTIFACTS


def test_an_output_is_recent_only_where_nothing_else_names_its_call() -> None:
    data = [
        *make.result(1, "c1"),
        make.file("a.py", OLD, 1),
        make.output("c1", OLD, 1),
        *make.result(2, "c2"),
        make.output("c2", OLD, 2),
        *make.result(3, "c3", "memory_apply"),
        make.output("c3", OLD, 3),
    ]
    checkpoint = reduced(data).snapshot()
    assert checkpoint.recent_artifacts == ("a.py", "call:c2")
    assert set(checkpoint.artifacts) == {"a.py", "call:c1", "call:c2", "call:c3"}


def test_the_task_is_the_last_message_whatever_the_goal() -> None:
    def task(*data: Data) -> tuple[str, str] | None:
        made = reduced(data).snapshot().task
        return (made.text, made.evidence.ref) if made else None

    first, second = make.said(1, "first"), make.said(4, "the second\nhas lines")
    reply = ItemAdded(item=Item(n=5, kind="assistant", content="no"))
    assert task() is None
    assert task(first, second, reply) == ("the second has lines", "#4")
    assert task(first, make.said(6, " ")) == ("first", "#1")
    assert task(GoalSet(text="ship")) is None
    assert task(first, GoalSet(text="ship")) == ("first", "#1")


@pytest.mark.parametrize(
    ("said", "is_task"),
    [
        ("go on", False),
        ("yes, please don't", False),
        ("Push!", False),
        ("继续吧", False),
        ("now ship all of it", True),
        ("fix parser.py", True),
        ("issue 12", True),
        ("run `push`", True),
        ("say 'no'", True),
        ("修复登录错误", True),
    ],
)
def test_a_message_that_only_tells_to_go_on_leaves_the_task(said: str, is_task: bool) -> None:
    found = reduced(
        [make.said(1, "go on"), make.said(2, "Fix the login page."), make.said(7, said)]
    )
    task = found.snapshot().task
    assert task is not None
    assert task.text == (said if is_task else "Fix the login page.")
    assert task.evidence.ref == ("#7" if is_task else "#2")


def test_json_is_as_the_proposal_has_it() -> None:
    data = [
        make.said(3, "fix it"),
        make.file("b.py", OLD),
        make.command("pytest -q", NEW),
        make.fact("k", "v", Dependency("b.py", OLD)),
        make.decision("d1", "use x"),
        make.plan("one", "two", done=("1",)),
    ]
    user = {"source": "user", "ref": "#1"}
    assert msgspec.json.decode(persist.encode(reduced(data).snapshot())) == {
        "schemaVersion": 1,
        "seq": 6,
        "task": {"text": "fix it", "evidence": {"source": "user", "ref": "#3"}},
        "plan": {
            "steps": [{"id": "1", "text": "one"}, {"id": "2", "text": "two"}],
            "done": {"1": True, "2": False},
            "evidence": user,
        },
        "decisions": [
            {
                "decisionId": "d1",
                "decision": "use x",
                "rationale": "it is simpler",
                "evidence": user,
            }
        ],
        "artifacts": {
            "b.py": {"uri": "b.py", "kind": "file", "hash": OLD, "lastObservedSeq": 2},
            "cmd:pytest -q": {
                "uri": "cmd:pytest -q",
                "kind": "command",
                "hash": NEW,
                "lastObservedSeq": 3,
            },
        },
        "facts": {
            "k": {
                "value": "v",
                "evidence": user,
                "dependsOn": [{"uri": "b.py", "hash": OLD}],
                "status": "VALID",
            }
        },
        "recentArtifacts": ["b.py", "cmd:pytest -q"],
    }


def planned(n: int, *steps: tuple[str, str], **detail: object) -> ItemAdded:
    """The result of a call that brought a plan, whoever's."""
    told = [{"text": text, "status": status} for text, status in steps]
    detail = {"act": "plan", "plan": told, **detail}
    return ItemAdded(item=Item(n=n, kind="tool_result", call_id=f"c{n}", detail=detail))


def test_a_plan_of_the_agent_is_the_plan_with_its_call_as_evidence() -> None:
    state = reduced([planned(7, ("Look", "done"), ("Leap", "in_progress"), ("Fall", "pending"))])
    plan = state.snapshot().plan
    assert [(step.id, step.text) for step in plan.steps] == [
        ("1", "Look"),
        ("2", "Leap"),
        ("3", "Fall"),
    ]
    assert plan.done == {"1": True, "2": False, "3": False}
    assert plan.in_progress == ("2",)
    assert plan.evidence == Evidence("tool_output", "c7")
    assert "- [x] Look (id=1)\n- [ ] Leap (id=2)\n- [ ] Fall (id=3)\n" in view_v1(state.snapshot())


def test_the_newest_plan_stands() -> None:
    proposed = make.plan("one", "two")
    brought = planned(7, ("Look", "done"))
    assert reduced([proposed, brought]).snapshot().plan.steps[0].text == "Look"
    assert reduced([brought, proposed]).snapshot().plan.steps[0].text == "one"
    assert reduced([brought, planned(8)]).snapshot().plan.steps == ()


def test_plans_that_are_no_plans_of_the_session_change_nothing() -> None:
    brought = planned(7, ("Look", "done"))
    for other in (
        planned(8, ("Aside", "done"), aside=True),
        planned(8, ("Refused", "done"), refused=True),
        *make.result(8, "c8"),
    ):
        assert reduced([brought, other]).snapshot().plan.steps[0].text == "Look"


def test_of_a_long_plan_the_open_steps_are_kept() -> None:
    old = [(f"old {n}", "done") for n in range(caps.MAX_PLAN_STEPS_TOTAL)]
    plan = reduced([planned(7, *old, ("Leap", "pending"))]).snapshot().plan
    assert len(plan.steps) == caps.MAX_PLAN_STEPS_TOTAL
    assert (plan.steps[0].text, plan.steps[-1].text) == ("old 1", "Leap")


def test_a_plan_is_no_artifact() -> None:
    brought = planned(7, ("Look", "done"))
    seen = ArtifactObserved(uri="call:c7", kind="tool_output", op="read", hash=OLD, item=7)
    assert reduced([brought, seen]).snapshot().recent_artifacts == ()
