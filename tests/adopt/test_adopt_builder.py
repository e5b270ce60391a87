"""The builder: whatever it is fed, what it yields is a rollout with whole pairs."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pinfold.adopt.builder import Builder
from pinfold.adopt.pairs import NO_RESULT
from pinfold.rollout import codec, events, values
from pinfold.rollout.context import Context
from pinfold.rollout.events import ItemAdded, RequestFinished, WindowReplaced
from pinfold.rollout.items import Item, Kind
from pinfold.rollout.values import Usage
from pinfold.window.window import Window
from pinfold.wire.atoms import atoms

AT = datetime(2026, 3, 1, tzinfo=UTC)
IDS = st.sampled_from([None, "", "a", "b", "a~1", "call_2"])
KINDS = st.sampled_from(
    ["user", "assistant", "reasoning", "tool_call", "tool_call", "tool_result", "tool_result"]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("item"), KINDS, IDS, st.integers(0, 3)),
        st.tuples(st.just("response")),
        st.tuples(st.just("turn")),
        st.tuples(st.just("usage"), st.integers(0, 3)),
        st.tuples(
            st.just("replace"),
            st.lists(
                st.one_of(
                    st.integers(-1, 20),
                    st.tuples(KINDS, IDS, st.integers(0, 3)),
                    st.tuples(st.just("match"), KINDS, IDS),
                ),
                max_size=12,
            ),
        ),
    ),
    max_size=40,
)


def built() -> Builder:
    return Builder("codex", "f.jsonl")


def added(builder: Builder, kind: Kind, content: str, **fields: Any) -> int:
    return builder.item(AT, Item(n=0, kind=kind, content=content, **fields))


def items_of(builder: Builder) -> list[Item]:
    return [
        event.data.item for event in builder.finish().events if isinstance(event.data, ItemAdded)
    ]


@given(STEPS)
def test_no_window_ever_has_a_broken_pair_and_nothing_is_lost(steps: list[tuple]) -> None:
    builder = built()
    fed: list[str] = []
    for step in steps:
        match step:
            case ("item", kind, call_id, response):
                fed.append(f"text {len(fed) % 5}")
                added(builder, kind, fed[-1], call_id=call_id, response=response)
            case ("response",):
                builder.response()
            case ("turn",):
                builder.turn(AT)
            case ("usage", response):
                builder.usage(AT, Usage(input=1), response=response)
            case ("replace", entries):
                window: list[int | Item] = []
                for entry in entries:
                    match entry:
                        case int():
                            window.append(entry)
                        case ("match", kind, call_id):
                            found = builder.match(kind, "text 1", call_id)
                            window += [] if found is None else [found]
                        case (kind, call_id, response):
                            new = Item(n=0, kind=kind, call_id=call_id, response=response)
                            window.append(new)
                builder.replace(AT, window)
    adoption = builder.finish()
    assert [event.seq for event in adoption.events] == list(range(1, len(adoption.events) + 1))
    projected = Window()
    for event in adoption.events:
        if isinstance(event.data, WindowReplaced):
            atoms(projected.items)
            assert event.data.base == values.PlanBase(projected.generation, event.seq - 1)
        elif isinstance(event.data, RequestFinished):
            assert 1 <= event.data.through_seq < event.seq
        projected.step(event)
        assert codec.decode(codec.encode(event)) == event
    atoms(projected.items)
    assert list(projected.forms) == builder.window
    contents = "\n".join(item.content for item in items_of(builder))
    assert all(text in contents for text in fed)


def test_a_result_takes_the_response_and_the_name_of_its_call() -> None:
    builder = built()
    added(builder, "tool_call", "{}", call_id="a", name="ls", response=builder.response())
    added(builder, "tool_call", "{}", call_id="a", name="cat", response=builder.response())
    added(builder, "tool_result", "x", call_id="a")
    result = items_of(builder)[-1]
    assert (result.response, result.call_id, result.name) == (2, "a", "cat")


def test_calls_of_one_response_with_the_same_id_are_told_apart() -> None:
    builder = built()
    response = builder.response()
    for name in ("ls", "cat"):
        added(builder, "tool_call", "{}", call_id="a", name=name, response=response)
    for output in ("of ls", "of cat"):
        added(builder, "tool_result", output, call_id="a")
    items = items_of(builder)
    assert [item.call_id for item in items[:2]] == [item.call_id for item in items[2:]]
    assert items[0].call_id != items[1].call_id
    assert [item.name for item in items[2:]] == ["ls", "cat"]


def test_a_call_without_a_result_is_closed_right_behind_itself() -> None:
    builder = built()
    builder.turn(AT)
    added(builder, "tool_call", "{}", call_id="a", name="ls")
    added(builder, "user", "go on")
    builder.usage(AT, Usage(input=9), response=1)
    adoption = builder.finish()
    items = [event.data.item for event in adoption.events if isinstance(event.data, ItemAdded)]
    assert [item.kind for item in items] == ["tool_call", "tool_result", "user"]
    assert (items[1].state, items[1].content, items[1].turn) == ("unknown", NO_RESULT, 1)
    ended = adoption.events[-1].data
    assert isinstance(ended, events.TurnFinished)
    assert ended.state == "interrupted"


def test_a_result_without_a_call_stands_as_context() -> None:
    builder = built()
    added(builder, "tool_result", "lost output", call_id="gone")
    (item,) = items_of(builder)
    assert (item.kind, item.call_id, item.response) == ("context", None, 0)
    assert "lost output" in item.content


def test_a_replacement_matches_newest_first_and_inserts_the_rest() -> None:
    builder = built()
    first = added(builder, "user", "go on")
    second = added(builder, "user", "go on")
    assert builder.match("user", "go on") == second
    assert builder.match("user", "go on") == first
    assert builder.match("user", "go on") is None
    builder.replace(AT, [first, Item(n=0, kind="summary", content="So far.")], meta={"x": 1})
    assert builder.match("user", "go on") == second
    replaced = next(
        event.data for event in builder.finish().events if isinstance(event.data, WindowReplaced)
    )
    assert replaced.window == ((1, "full"), (3, "full"))
    assert [item.n for item in replaced.inserted] == [3]
    assert (replaced.generation, replaced.reason, replaced.meta) == (1, "adopted", {"x": 1})


def test_a_call_that_stays_brings_its_result_along() -> None:
    builder = built()
    call = added(builder, "tool_call", "{}", call_id="a")
    result = added(builder, "tool_result", "x", call_id="a")
    builder.replace(AT, [call])
    assert builder.window == [call, result]


def test_a_result_that_stays_alone_becomes_context() -> None:
    builder = built()
    added(builder, "tool_call", "{}", call_id="a")
    result = added(builder, "tool_result", "x", call_id="a")
    builder.replace(AT, [result])
    (n,) = builder.window
    assert builder.items[n].kind == "context"
    assert "x" in builder.items[n].content


def test_new_neighbours_that_a_model_wrote_are_one_response() -> None:
    builder = built()
    builder.replace(
        AT,
        [
            Item(n=0, kind="assistant", content="I look."),
            Item(n=0, kind="tool_call", call_id="a"),
            Item(n=0, kind="tool_result", call_id="a"),
            Item(n=0, kind="assistant", content="Done."),
        ],
    )
    assert [builder.items[n].response for n in builder.window] == [1, 1, 1, 2]


def test_context_and_model_are_told_once_until_they_change() -> None:
    builder = built()
    for _ in range(2):
        builder.context(AT, Context(instructions="Be brief."))
        builder.model(AT, "openai", "gpt-5.5", 258_400)
    builder.model(AT, "openai", "gpt-4o")
    adoption = builder.finish()
    kinds = [type(event.data).__name__ for event in adoption.events]
    assert kinds == ["SessionStarted", "ContextSet", "ModelChanged", "ModelChanged"]
    assert [
        (event.data.context_window, event.data.window_source)
        for event in adoption.events
        if isinstance(event.data, events.ModelChanged)
    ] == [(258_400, "server"), (128_000, "table")]


def test_what_was_said_first_of_the_session_holds() -> None:
    builder = built()
    builder.start(AT, cwd="/p")
    builder.start(AT, session="one", cwd="/q")
    builder.start(AT, session="two")
    adoption = builder.finish()
    assert (adoption.session, adoption.cwd) == ("one", "/p")
    first = adoption.events[0].data
    assert isinstance(first, events.SessionStarted)
    assert first.adopted == values.AdoptedFrom("codex", "f.jsonl", "one")
