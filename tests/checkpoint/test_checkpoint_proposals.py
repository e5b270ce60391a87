"""`memory.apply`: what is accepted, and refusals that tell the model what to do."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import checkpoints as make
from fakes.checkpoints import event, reduced
from pinfold.checkpoint import caps
from pinfold.checkpoint.proposals import judge, reply, said_by
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.schema import SCHEMA
from pinfold.checkpoint.text import clip
from pinfold.rollout import codec
from pinfold.rollout.events import Data, ItemAdded, MemoryApplied, MemoryRefused
from pinfold.rollout.items import Item
from pinfold.rollout.memory import DecisionMemory, Dependency, Evidence, FactMemory, PlanMemory

READ, RAN = "a" * 40, "c" * 40
LATEST = {"source": "user", "ref": "latest", "quote": "and the logout"}
FIRST = {"source": "user", "ref": "#1"}


QUOTED = "# the token is read twice (port 8443)"
RESULT = "2 failed: the token is read twice"
CODE = "def login(): ...\n# the token is read twice (port 8443)\nmax_rows = 1500"
RAW = "Do not, I say, drop TLS. Keep “port  8443”!"
PASTE = "We decided to push to main."
TYPED = f"and the logout. {RAW}\n{PASTE}"
ITEMS = {
    1: Item(n=1, kind="user", content="fix the login: the token is read twice"),
    3: Item(n=3, kind="tool_result", call_id="call_read", name="read_file", content=CODE),
    5: Item(
        n=5,
        kind="tool_result",
        call_id="call_run",
        name="shell",
        content=f"$ pytest\n{RESULT}",
    ),
    6: Item(
        n=6,
        kind="user",
        content=TYPED,
        detail={"act": "said", "pasted": [[len(TYPED) - len(PASTE), len(TYPED)]]},
    ),
    4: Item(
        n=4,
        kind="tool_result",
        call_id="call_refused",
        name="shell",
        content="The user refused this call. They said: no force pushes",
        detail={"act": "refused", "words": "no force pushes"},
    ),
    8: Item(n=8, kind="tool_result", call_id="call_memory", name="memory_apply"),
}


def session() -> CheckpointState:
    data: Iterable[Data] = [
        make.started("/w"),
        *(ItemAdded(item=ITEMS[n]) for n in (1, 3)),
        make.file("app/x.py", READ, 3),
        make.output("call_read", RAN, 3),
        *(ItemAdded(item=ITEMS[n]) for n in (4, 5)),
        make.command("pytest -q", RAN, 5),
        make.output("call_run", RAN, 5),
        *(ItemAdded(item=ITEMS[n]) for n in (6, 8)),
    ]
    return reduced(data)


def judged(state: CheckpointState, **payload: object) -> MemoryApplied | MemoryRefused:
    return judge(json.dumps(payload), state, ITEMS.get)


def accepted(**payload: object) -> MemoryApplied:
    outcome = judged(session(), **payload)
    assert isinstance(outcome, MemoryApplied), outcome
    return outcome


def refused(**payload: object) -> str:
    outcome = judged(session(), **payload)
    assert isinstance(outcome, MemoryRefused), outcome
    assert outcome.payload == clip(json.dumps(payload), caps.MAX_REFUSED_CHARS)
    return outcome.reason


def value(**payload: object) -> str:
    memory = accepted(**payload).memory
    assert isinstance(memory, FactMemory)
    return memory.value


FACT = {"kind": "fact", "key": "login.bug", "value": "the token is read twice"}


def test_a_fact_gets_its_hashes_from_the_host() -> None:
    evidence = {"source": "file", "ref": "./app/x.py"}
    memory = accepted(**FACT, evidence=evidence, dependsOn=["/w/app/x.py", "cmd:pytest -q"]).memory
    assert memory == FactMemory(
        key="login.bug",
        value=f'said by app/x.py: "{QUOTED}"',
        evidence=Evidence("file", "app/x.py", READ, QUOTED),
        depends_on=(Dependency("app/x.py", READ), Dependency("cmd:pytest -q", RAN)),
    )


def test_a_fact_from_a_file_depends_on_that_file_too() -> None:
    state = session()
    state.step(event(99, make.file("app/y.py", RAN)))
    payload = {**FACT, "evidence": {"source": "file", "ref": "app/x.py"}, "dependsOn": ["app/y.py"]}
    outcome = judged(state, **payload)
    assert isinstance(outcome, MemoryApplied)
    assert isinstance(outcome.memory, FactMemory)
    assert {dependency.uri for dependency in outcome.memory.depends_on} == {"app/x.py", "app/y.py"}


@pytest.mark.parametrize(
    ("source", "ref", "kept"),
    [
        ("user", "#1", Evidence("user", "#1", None, "fix the login: the token is read twice")),
        ("user", "1", Evidence("user", "#1", None, "fix the login: the token is read twice")),
        ("tool_output", "call_run", Evidence("tool_output", "call_run", RAN, RESULT)),
        ("tool_output", "call:call_run", Evidence("tool_output", "call_run", RAN, RESULT)),
        ("tool_output", "#5", Evidence("tool_output", "call_run", RAN, RESULT)),
        ("tool_output", "latest", Evidence("tool_output", "call_run", RAN, RESULT)),
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
    assert "Leave out hashes" in refused(**{**FACT, "evidence": LATEST, **more})


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
    assert "Only the user sets the task" in refused(**payload)


# Who says so


@pytest.mark.parametrize(
    ("evidence", "said", "kept"),
    [
        (FIRST, "READ  twice", 'said by the user: "fix the login: the token is read twice"'),
        ({**LATEST, "quote": "drop TLS"}, "TLS", 'said by the user: "Do not, I say, drop TLS."'),
        (LATEST, "the logout", 'said by the user: "and the logout."'),
        ({"source": "user", "ref": "latest"}, "8443", 'said by the user: "Keep “port 8443”!"'),
        ({"source": "user", "ref": "#4"}, "no force", 'said by the user: "no force pushes"'),
        ({"source": "tool_output", "ref": "#5"}, "2 failed", f'said by shell #5: "{RESULT}"'),
    ],
)
def test_a_fact_is_what_was_said_and_who_said_it(
    evidence: dict[str, str], said: str, kept: str
) -> None:
    assert value(kind="fact", key="k", value=said, evidence=evidence) == kept


@pytest.mark.parametrize(
    ("evidence", "said", "reason"),
    [
        (FIRST, "drop TLS", "“drop TLS” is not in what the user typed in #1"),
        ({**LATEST, "quote": "we decided to push"}, "push", "what they pasted does not count"),
        ({**LATEST, "quote": "logout do"}, "logout", "Copy a quote word for word"),
        ({**LATEST, "quote": "Keep"}, "port 8444", "8444 of the value is not in the user"),
        ({"source": "user", "ref": "#5"}, "2 failed", "There is no message #5 of the user"),
        ({"source": "user", "ref": "#4"}, "The user refused", "is not in what the user"),
        ({"source": "tool_output", "ref": "#5"}, "all is well", "is not in shell #5"),
        ({"source": "file", "ref": "app/x.py"}, "max_rows = 15", "is not in app/x.py"),
    ],
)
def test_what_was_not_said_there_is_no_fact(
    evidence: dict[str, str], said: str, reason: str
) -> None:
    more = {"dependsOn": ["app/x.py"]} if evidence["source"] == "file" else {}
    assert reason in refused(kind="fact", key="k", value=said, evidence=evidence, **more)


def test_a_file_says_what_an_edit_left_in_it() -> None:
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n limit = 3\n-port = 8012\n+port = 8013\n"
    edit = Item(n=9, kind="tool_result", call_id="c9", name="edit_file", detail={"diff": diff})
    state = session()
    for data in (ItemAdded(item=edit), make.file("app/z.py", READ, 9, op="update")):
        state.step(event(100, data))
    fact = {"kind": "fact", "key": "port", "dependsOn": ["app/z.py"]}
    payload = {**fact, "evidence": {"source": "file", "ref": "app/z.py"}}

    def kept(said: str) -> MemoryApplied | MemoryRefused:
        return judge(json.dumps({**payload, "value": said}), state, {**ITEMS, 9: edit}.get)

    new = kept("port = 8013")
    assert isinstance(new, MemoryApplied)
    assert isinstance(new.memory, FactMemory)
    assert new.memory.value == 'said by app/z.py: "port = 8013"'
    assert isinstance(kept("limit = 3"), MemoryApplied)
    assert isinstance(kept("port = 8012"), MemoryRefused)


def test_no_fact_takes_the_place_of_the_users_words_but_theirs() -> None:
    state = session()
    fact = {"kind": "fact", "key": "port", "value": "8443"}
    user = {"source": "user", "ref": "#6"}
    state.step(event(100, judged(state, **fact, evidence=user)))
    tool = {**fact, "value": "2 failed", "evidence": {"source": "tool_output", "ref": "#5"}}
    outcome = judged(state, **tool)
    assert isinstance(outcome, MemoryRefused)
    assert "only the user's words can replace it" in outcome.reason
    again = judged(state, **{**fact, "value": "logout"}, evidence=user)
    assert isinstance(again, MemoryApplied)


def test_facts_of_tools_are_forgotten_before_the_users() -> None:
    state = session()
    user = {"source": "user", "ref": "#6"}
    fact = {"kind": "fact", "value": "8443", "evidence": user}
    state.step(event(100, judged(state, **fact, key="port")))
    tool = {"kind": "fact", "value": "2 failed", "evidence": {"source": "tool_output", "ref": "#5"}}
    for n in range(caps.MAX_FACTS_TOTAL):
        state.step(event(101 + n, judged(state, **tool, key=f"k{n}")))
    facts = state.snapshot().facts
    assert len(facts) == caps.MAX_FACTS_TOTAL
    assert "port" in facts
    assert "k0" not in facts
    assert not facts["port"].evidence.quote


def test_a_decision_without_words_of_the_user_is_the_agents() -> None:
    made = {"kind": "decision", "rationale": "it is safer"}
    own = accepted(**made, decision="use msgspec", evidence=FIRST).memory
    assert isinstance(own, DecisionMemory)
    assert (own.decision, own.rationale) == ("the agent: use msgspec", "it is safer")
    theirs = accepted(**made, decision="drop TLS", evidence={"source": "user", "ref": "#6"}).memory
    assert isinstance(theirs, DecisionMemory)
    assert theirs.decision == 'said by the user: "Do not, I say, drop TLS."'
    assert theirs.rationale == "the agent: it is safer"
    agreed = accepted(**made, decision="use msgspec", evidence=LATEST).memory
    assert isinstance(agreed, DecisionMemory)
    assert agreed.decision == 'the agent: use msgspec; said by the user: "and the logout."'
    lied = {"source": "user", "ref": "#1", "quote": "drop TLS"}
    assert "is not in" in refused(**made, decision="drop TLS", evidence=lied)


@pytest.mark.parametrize("source", ["tool_output", "file"])
def test_what_a_tool_or_a_file_says_decides_nothing(source: str) -> None:
    ref = {"tool_output": "#5", "file": "app/x.py"}[source]
    evidence = {"source": source, "ref": ref, "quote": "the token is read twice"}
    made = {"kind": "decision", "decision": "drop TLS", "rationale": "r", "topic": "TLS"}
    memory = accepted(**made, evidence=evidence).memory
    assert isinstance(memory, FactMemory)
    assert memory.key == "TLS"
    assert memory.value.startswith("said by ")
    assert "drop" not in memory.value
    del evidence["quote"]
    assert "is not in" in refused(**made, evidence=evidence)


def test_the_users_decision_is_superseded_by_their_words_alone() -> None:
    state = session()
    made = {"kind": "decision", "rationale": "r"}
    user = {"source": "user", "ref": "#6"}
    state.step(event(100, judged(state, **made, decision="drop TLS", evidence=user)))
    own = {**made, "decision": "use msgspec", "supersedes": "d1"}
    outcome = judged(state, **own, evidence=user)
    assert isinstance(outcome, MemoryRefused)
    assert "d1 is the user's" in outcome.reason
    assert isinstance(judged(state, **own, evidence=LATEST), MemoryApplied)
    for n in range(caps.MAX_DECISIONS_TOTAL + 1):
        mine = judged(state, **made, decision="use msgspec", evidence=user)
        state.step(event(101 + n, mine))
    assert next(iter(state.decisions().items())) == ("d1", True)


@given(st.text(st.sampled_from("ab .\n"), min_size=1, max_size=400), st.data())
def test_no_quote_is_longer_than_a_line_of_the_view(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : start + data.draw(st.integers(0, 40))]
    shown = said_by("the user", text, quote)
    assert len(shown) <= caps.MAX_VALUE_CHARS
    assert shown.startswith('said by the user: "')
    assert shown.endswith('"')


def test_decisions_are_numbered_and_supersede_known_ones() -> None:
    state = session()
    made = {"kind": "decision", "decision": "use msgspec", "rationale": "speed"}
    first = judged(state, **made, evidence=FIRST)
    assert isinstance(first, MemoryApplied)
    state.step(event(100, first))
    second = judged(state, **made, supersedes="d1", evidence=FIRST)
    assert isinstance(second, MemoryApplied)
    assert isinstance(second.memory, DecisionMemory)
    assert (second.memory.id, second.memory.supersedes) == ("d2", "d1")
    assert "Known: d1." in str(judged(state, **made, supersedes="d9", evidence=FIRST))


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
    for evidence in ({**FIRST, "quote": ""}, {**FIRST, "quote": None}):
        accepted(**FACT, evidence=evidence, dependsOn=[], decision="", steps=None, topic=None)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ("", "Evidence is missing"),
        ("{", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('{"kind": ["fact"], "evidence": {}}', "does not fit"),
        (json.dumps({**FACT, "evidence": LATEST, "mood": "good"}), "unknown field `mood`"),
        (json.dumps({**FACT, "evidence": LATEST, "value": 3}), "$.value"),
        (json.dumps({**FACT, "evidence": LATEST, "value": "\u200b"}), "value is empty"),
        (json.dumps({**FACT, "evidence": LATEST, "value": "x" * 2000}), "160 or fewer"),
        (json.dumps({**FACT, "evidence": LATEST, "key": "k" * 81}), "at most 80 fit"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(payload: str, reason: str) -> None:
    outcome = judge(payload, session(), ITEMS.get)
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
    given = payload if isinstance(payload, str) else json.dumps(payload)
    outcome = judge(given, session(), ITEMS.get)
    assert codec.decode(codec.encode(event(1, outcome))).data == outcome


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
