"""The checkpoint as it stands in a window: what the digest does not say, and nothing empty."""

from datetime import UTC, datetime

import pytest
from benchmarks.files_listed import files_listed

from fakes import checkpoints as make
from pinfold.checkpoint.caps import ViewCaps
from pinfold.checkpoint.known import Known
from pinfold.checkpoint.window_view import how_to, window_view
from pinfold.digests.record import TurnEnd
from pinfold.rollout.events import ArtifactObserved, Data, ItemAdded, MemoryApplied
from pinfold.rollout.items import Item
from pinfold.rollout.memory import DecisionMemory, Evidence, PlanMemory, PlanStep

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def known(*data: Data) -> Known:
    made = Known()
    for seq, event in enumerate(data, 1):
        made.step(make.event(seq, event))
    return made


def view(made: Known, **more: object) -> str:
    return window_view(made, **more)  # type: ignore[arg-type]


def look(uri: str, hashed: str | None, op: str = "read") -> ArtifactObserved:
    """The disk, looked at outside of any item."""
    return ArtifactObserved(uri=uri, kind="file", op=op, hash=hashed)  # type: ignore[arg-type]


def test_files_say_whether_they_are_as_they_were_read() -> None:
    made = known(
        make.file("a.py", "1", 3),
        make.file("b.py", "1", 5),
        make.file("c.py", "1", 7),
        look("b.py", "2"),
        look("c.py", None, "delete"),
    )
    assert files_listed(view(made)) == {"a.py": "unchanged", "b.py": "changed", "c.py": "deleted"}
    made.step(make.event(9, look("b.py", "1")))
    assert files_listed(view(made))["b.py"] == "unchanged"


def _result(n: int, **detail: object) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind="tool_result", content="x", name="t", detail=detail))


def test_a_file_that_was_searched_or_read_in_part_is_not_called_unchanged() -> None:
    made = known(
        *(_result(3, act="read", searches=True), make.file("a.py", "1", 3)),
        *(_result(5, act="read", whole=False), make.file("b.py", "1", 5)),
        *(_result(7, act="read", whole=True), make.file("c.py", "1", 7)),
        *(_result(9, act="read", searches=True), make.file("c.py", "1", 9)),
        *(_result(11, act="edit", whole=False), make.file("d.py", "1", 11, "update")),
        look("a.py", "1"),
    )
    assert files_listed(view(made)) == {"c.py": "unchanged", "d.py": "unchanged"}
    assert "c.py #7" in view(made)
    made.step(make.event(30, _result(13, act="read", searches=True)))
    made.step(make.event(31, make.file("c.py", "2", 13)))
    assert files_listed(view(made)) == {"d.py": "unchanged"}


def test_a_file_of_unknown_hash_is_not_called_anything() -> None:
    assert view(known(make.file("a.py", None, 3))) == ""


def test_the_plan_names_the_item_that_updated_it() -> None:
    plan = PlanMemory(
        steps=(PlanStep("1", "Port the parser"), PlanStep("2", "Port the tests")),
        done=("1",),
        evidence=Evidence("user", "#4"),
    )
    told = view(known(MemoryApplied(memory=plan)))
    assert told == "[PLAN, updated at #4]\n- [x] Port the parser\n- [ ] Port the tests"


def test_a_decision_without_the_user_is_the_agents_and_none_is_said_twice() -> None:
    decision = DecisionMemory(
        id="d", decision="Use SQLite", rationale="one file", evidence=Evidence("file", "a.py")
    )
    made = known(make.file("a.py", None, 3), MemoryApplied(memory=decision))
    assert view(made) == "[DECISIONS]\n- Use SQLite — one file (the agent's, #3)"
    assert view(made, told={"use sqlite"}) == ""


def test_no_room_is_no_text() -> None:
    none = ViewCaps(**dict.fromkeys(ViewCaps.__struct_fields__[:-1], 0), max_value_chars=1)
    assert view(known(make.file("a.py", "1", 3)), caps=none) == ""


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (TurnEnd("done", AT), "The last turn was finished at 2026-01-02 03:04 UTC."),
        (TurnEnd("interrupted", AT), "The last turn was interrupted at 2026-01-02 03:04 UTC."),
        (TurnEnd("", AT), "The last turn is still running."),
        (None, 'or `recall {"id": n}`.'),
    ],
)
def test_the_note_says_how_the_last_turn_ended(ended: TurnEnd | None, told: str) -> None:
    assert how_to(None, ended).endswith(told)


def test_the_note_says_where_the_plan_stands() -> None:
    assert "The plan was last updated at #7; later lines may have finished steps." in how_to(
        7, None
    )
