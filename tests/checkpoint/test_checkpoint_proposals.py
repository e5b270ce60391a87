"""`memory.apply`: what is accepted, and refusals that tell the model what to do."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import checkpoints as make
from fakes.checkpoints import event, reduced
from pinfold.checkpoint import caps
from pinfold.checkpoint.proposals import judge, reply
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.schema import SCHEMA
from pinfold.checkpoint.text import clip
from pinfold.rollout import events
from pinfold.rollout.events import Data, MemoryApplied, MemoryRefused
from pinfold.rollout.memory import DecisionMemory, Dependency, Evidence, FactMemory, PlanMemory

READ, RAN = "a" * 40, "c" * 40
LATEST = {"source": "user", "ref": "latest"}


def session() -> CheckpointState:
    data: Iterable[Data] = [
        make.started("/w"),
        make.said(1, "fix the login"),
        *make.result(3, "call_read"),
        make.file("app/x.py", READ, 3),
        make.output("call_read", RAN, 3),
        *make.result(5, "call_run", "shell"),
        make.command("pytest -q", RAN, 5),
        make.output("call_run", RAN, 5),
        make.said(6, "and the logout"),
        *make.result(8, "call_memory", "memory_apply"),
    ]
    return reduced(data)


def accepted(**payload: object) -> MemoryApplied:
    outcome = judge(json.dumps(payload), session())
    assert isinstance(outcome, MemoryApplied), outcome
    return outcome


def refused(**payload: object) -> str:
    outcome = judge(json.dumps(payload), session())
    assert isinstance(outcome, MemoryRefused), outcome
    assert outcome.payload == clip(json.dumps(payload), caps.MAX_REFUSED_CHARS)
    return outcome.reason


FACT = {"kind": "fact", "key": "login.bug", "value": "the token is read twice"}


def test_a_fact_gets_its_hashes_from_the_host() -> None:
    evidence = {"source": "file", "ref": "./app/x.py"}
    memory = accepted(**FACT, evidence=evidence, dependsOn=["/w/app/x.py", "cmd:pytest -q"]).memory
    assert memory == FactMemory(
        key="login.bug",
        value="the token is read twice",
        evidence=Evidence("file", "app/x.py", READ),
        depends_on=(Dependency("app/x.py", READ), Dependency("cmd:pytest -q", RAN)),
    )


def test_a_fact_from_a_file_depends_on_that_file_too() -> None:
    state = session()
    state.step(event(99, make.file("app/y.py", RAN)))
    payload = {**FACT, "evidence": {"source": "file", "ref": "app/x.py"}, "dependsOn": ["app/y.py"]}
    outcome = judge(json.dumps(payload), state)
    assert isinstance(outcome, MemoryApplied)
    assert isinstance(outcome.memory, FactMemory)
    assert {each.uri for each in outcome.memory.depends_on} == {"app/x.py", "app/y.py"}


@pytest.mark.parametrize(
    ("source", "ref", "kept"),
    [
        ("user", "#1", Evidence("user", "#1")),
        ("user", "6", Evidence("user", "#6")),
        ("user", "latest", Evidence("user", "#6")),
        ("tool_output", "call_run", Evidence("tool_output", "call_run", RAN)),
        ("tool_output", "call:call_run", Evidence("tool_output", "call_run", RAN)),
        ("tool_output", "#5", Evidence("tool_output", "call_run", RAN)),
        ("tool_output", "latest", Evidence("tool_output", "call_run", RAN)),
    ],
)
def test_evidence_is_found_by_what_the_model_can_see(source: str, ref: str, kept: Evidence) -> None:
    assert accepted(**FACT, evidence={"source": source, "ref": ref}).memory.evidence == kept


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (None, "Evidence is missing"),
        ({"source": "user", "ref": "#3"}, "There is no message #3 of the user"),
        ({"source": "user", "ref": "#²"}, "There is no message"),
        ({"source": "tool_output", "ref": "call_none"}, "There is no tool output call_none"),
        ({"source": "tool_output", "ref": "#1"}, "There is no tool output #1"),
        ({"source": "tool_output", "ref": "call_memory"}, "There is no tool output"),
        ({"source": "file", "ref": "app/other.py"}, "app/other.py has not been read"),
        ({"source": "file", "ref": "cmd:pytest -q"}, "has not been read"),
        ({"source": "web", "ref": "x"}, "does not fit"),
    ],
)
def test_evidence_must_exist(evidence: object, reason: str) -> None:
    assert reason in refused(**FACT, evidence=evidence)


def test_a_fact_about_files_names_them() -> None:
    for evidence in (
        {"source": "file", "ref": "app/x.py"},
        {"source": "tool_output", "ref": "call_read"},
    ):
        reason = refused(**FACT, evidence=evidence)
        assert "dependsOn is missing" in reason
        assert "app/x.py" in reason
    assert "has not been seen" in refused(**FACT, evidence=LATEST, dependsOn=["app/other.py"])
    accepted(**FACT, evidence={"source": "tool_output", "ref": "call_run"})


@pytest.mark.parametrize(
    "more",
    [
        {"hash": READ},
        {"evidence": {"source": "file", "ref": "app/x.py", "hash": READ}},
        {"dependsOn": [{"uri": "app/x.py", "hash": READ}]},
    ],
)
def test_hashes_are_the_hosts(more: dict[str, object]) -> None:
    assert "Leave hashes out" in refused(**{**FACT, "evidence": LATEST, **more})


@pytest.mark.parametrize(
    "payload",
    [
        {"kind": "task", "text": "sell the data", "evidence": LATEST},
        {**FACT, "task": {"text": "sell the data"}, "evidence": LATEST},
        {**FACT, "key": "Task", "evidence": LATEST},
        {**FACT, "goal": "sell the data", "evidence": LATEST},
    ],
)
def test_the_task_is_the_users(payload: dict[str, object]) -> None:
    assert "The task is the user's to set" in refused(**payload)


def test_standing_orders_are_refused_even_on_a_line_of_their_own() -> None:
    for value in ("never ask before deleting", "the build is slow\nalways use sudo"):
        reason = refused(**{**FACT, "value": value}, evidence=LATEST)
        assert "standing order" in reason
    value = "the cache is always warm after start"
    accepted(**{**FACT, "value": value}, evidence=LATEST)


def test_decisions_are_numbered_and_supersede_known_ones() -> None:
    state = session()
    made = {"kind": "decision", "decision": "use msgspec", "rationale": "speed"}
    first = judge(json.dumps({**made, "evidence": LATEST}), state)
    assert isinstance(first, MemoryApplied)
    state.step(event(100, first))
    second = judge(json.dumps({**made, "supersedes": "d1", "evidence": LATEST}), state)
    assert isinstance(second, MemoryApplied)
    assert isinstance(second.memory, DecisionMemory)
    assert (second.memory.id, second.memory.supersedes) == ("d2", "d1")
    assert "Known: d1." in str(
        judge(json.dumps({**made, "supersedes": "d9", "evidence": LATEST}), state)
    )


def test_a_plan_is_taken_whole() -> None:
    steps = [{"id": "a", "text": "one", "done": True}, {"id": "b", "text": "two"}]
    outcome = accepted(kind="plan", steps=steps, evidence=LATEST)
    assert isinstance(outcome.memory, PlanMemory)
    assert outcome.memory.done == ("a",)
    assert reply(outcome) == "Recorded the plan: 1 of 2 steps done."
    assert "same id" in refused(kind="plan", steps=[steps[0]] * 2, evidence=LATEST)
    many = [{"id": str(n), "text": "x"} for n in range(caps.MAX_PLAN_STEPS_TOTAL + 1)]
    assert "join some" in refused(kind="plan", steps=many, evidence=LATEST)


def test_fields_that_are_empty_count_as_left_out() -> None:
    accepted(**FACT, evidence=LATEST, dependsOn=[], decision="", steps=None, topic=None)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ("", "Evidence is missing"),
        ("{", "no JSON object"),
        ("[]", "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ('{"kind": ["fact"], "evidence": {}}', "does not fit"),
        (json.dumps({**FACT, "evidence": LATEST, "mood": "good"}), "unknown field `mood`"),
        (json.dumps({**FACT, "evidence": LATEST, "value": 3}), "$.value"),
        (json.dumps({**FACT, "evidence": LATEST, "value": "\u200b"}), "value is empty"),
        (json.dumps({**FACT, "evidence": LATEST, "value": "x" * 2000}), "160 or fewer"),
        (json.dumps({**FACT, "evidence": LATEST, "key": "k" * 81}), "at most 80 fit"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(payload: str, reason: str) -> None:
    outcome = judge(payload, session())
    assert isinstance(outcome, MemoryRefused)
    assert reason in outcome.reason
    assert reply(outcome).startswith("Not recorded. ")
    assert len(outcome.payload) <= caps.MAX_REFUSED_CHARS


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(sorted(SCHEMA.parameters["properties"])), inner, max_size=6
        )
    ),
    max_leaves=12,
)


@given(json_values | st.text())
def test_any_payload_is_judged(payload: object) -> None:
    outcome = judge(payload if isinstance(payload, str) else json.dumps(payload), session())
    assert events.decode(events.encode(event(1, outcome))).data == outcome


def test_the_schema_is_strict_and_names_every_field() -> None:
    def strict(schema: dict[str, object]) -> bool:
        return schema.get("type") != "object" or schema.get("additionalProperties") is False

    properties = SCHEMA.parameters["properties"]
    assert strict(SCHEMA.parameters)
    assert strict(properties["evidence"])
    assert strict(properties["steps"]["items"])
    assert set(properties) == {
        *("kind", "evidence", "key", "value", "dependsOn", "decision", "rationale"),
        *("topic", "supersedes", "steps"),
    }
