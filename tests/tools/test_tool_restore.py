"""Files go back to the bytes before a span of the session, and no further."""

from pathlib import Path
from typing import Any

import pytest

from pinfold.ports.tool import Observation, ToolContext, ToolError
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.events import ArtifactObserved
from pinfold.tools import workspace
from pinfold.tools.restore import SpanChange, changes, plan, undo


def event(seen: Observation, item: int | None = 1) -> ArtifactObserved:
    return ArtifactObserved(
        uri=seen.uri, kind=seen.kind, op=seen.op, hash=seen.hash, backup=seen.backup, item=item
    )


async def span(run: Any, *calls: tuple[str, dict[str, str]]) -> list[SpanChange]:
    """What these calls do, as a span."""
    seen: list[ArtifactObserved] = []
    for name, arguments in calls:
        seen += [event(observation) for observation in (await run(name, **arguments)).observations]
    return changes(seen)


def states(changed: list[SpanChange], context: ToolContext) -> dict[str, str]:
    return {
        state.change.uri: state.state for state in plan(changed, context.workspace, context.folder)
    }


EDIT_TWICE = (
    ("read_file", {"path": "a.py"}),
    ("edit_file", {"path": "a.py", "old_string": "one", "new_string": "two"}),
    ("edit_file", {"path": "a.py", "old_string": "two", "new_string": "three"}),
)
MAKE = ("write_file", {"path": "new/b.py", "content": "b\n"})
REMOVE = ("apply_patch", {"patch": "*** Begin Patch\n*** Delete File: c.py\n*** End Patch"})


@pytest.fixture
def files(work: Path) -> Path:
    (work / "a.py").write_text("one\n")
    (work / "a.py").chmod(0o755)
    (work / "c.py").write_text("c\n")
    return work


async def test_changes_of_a_span_are_undone_file_by_file(
    run: Any, files: Path, context: ToolContext
) -> None:
    changed = await span(run, *EDIT_TWICE, MAKE, REMOVE)
    assert [(change.uri, change.op) for change in changed] == [
        ("a.py", "update"),
        ("new/b.py", "create"),
        ("c.py", "delete"),
    ]
    undos = plan(changed, files, context.folder)
    assert [state.state for state in undos] == ["ready"] * 3
    outcome = undo(undos, files, context.folder)
    assert (files / "a.py").read_text() == "one\n"
    assert (files / "a.py").stat().st_mode & 0o777 == 0o755
    assert (files / "c.py").read_text() == "c\n"
    assert not (files / "new/b.py").exists()
    assert [(observation.uri, observation.op) for observation in outcome.observations] == [
        ("a.py", "update"),
        ("new/b.py", "delete"),
        ("c.py", "create"),
    ]
    kept = [observation.backup for observation in outcome.observations if observation.backup]
    assert [Blobs(context.folder).read(name) for name in kept] == [b"three\n", b"b\n"]
    assert states(changed, context) == dict.fromkeys(("a.py", "new/b.py", "c.py"), "same")


async def test_what_something_else_changed_is_named_and_left_unless_it_is_forced(
    run: Any, files: Path, context: ToolContext
) -> None:
    changed = await span(run, *EDIT_TWICE, MAKE)
    (files / "a.py").write_text("mine\n")
    (files / "new/b.py").unlink()
    assert states(changed, context) == {"a.py": "changed", "new/b.py": "same"}
    forced = plan(changed[:1], files, context.folder)
    outcome = undo(forced, files, context.folder)
    assert (files / "a.py").read_text() == "one\n"
    assert outcome.observations[0].backup == workspace.blob_hash(b"mine\n")


async def test_a_change_after_the_plan_stops_the_undoing_of_all(
    run: Any, files: Path, context: ToolContext
) -> None:
    undos = plan(await span(run, MAKE, *EDIT_TWICE), files, context.folder)
    (files / "a.py").write_text("mine\n")
    with pytest.raises(ToolError, match="changed by something else"):
        undo(undos, files, context.folder)
    assert (files / "a.py").read_text() == "mine\n"
    assert (files / "new/b.py").exists()


async def test_links_and_what_lies_outside_stay_untouched(
    run: Any, files: Path, context: ToolContext, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.py").write_text("b\n")
    changed = await span(run, MAKE, *EDIT_TWICE)
    (files / "new/b.py").unlink()
    (files / "new").rmdir()
    (files / "new").symlink_to(outside)
    (files / "a.py").rename(outside / "a.py")
    (files / "a.py").symlink_to(outside / "a.py")
    assert states(changed, context) == {"a.py": "impossible", "new/b.py": "impossible"}
    elsewhere = [
        event(Observation(uri, "file", "create", workspace.blob_hash(b"b\n")))
        for uri in (str(outside / "b.py"), "../outside/b.py")
    ]
    assert set(states(changes(elsewhere), context).values()) == {"impossible"}


async def test_bytes_that_were_not_kept_can_not_come_back(
    run: Any, files: Path, context: ToolContext
) -> None:
    foreign = [
        ArtifactObserved(uri="a.py", kind="file", op="update", item=1),
        ArtifactObserved(uri="c.py", kind="file", op="create", item=2),
    ]
    assert set(states(changes(foreign), context).values()) == {"impossible"}
    changed = await span(run, *EDIT_TWICE)
    blob = context.folder / "blobs" / (workspace.blob_hash(b"one\n") + ".zst")
    undos = plan(changed, files, context.folder)
    blob.write_bytes(b"rot")
    with pytest.raises(ToolError, match="damaged"):
        undo(undos, files, context.folder)
    blob.unlink()
    assert states(changed, context) == {"a.py": "impossible"}
    assert (files / "a.py").read_text() == "three\n"


def test_what_came_and_went_and_what_was_only_found_are_no_changes() -> None:
    def seen(op: Any, item: int | None = 1, **more: str) -> ArtifactObserved:
        return ArtifactObserved(uri="a", kind="file", op=op, item=item, **more)  # type: ignore[arg-type]

    assert changes([seen("create", hash="1"), seen("delete", backup="1")]) == []
    assert changes([seen("read", hash="1"), seen("list")]) == []
    # What an earlier undo put back is how the file was left, and nothing to undo.
    assert changes([seen("update", None, hash="1", backup="2")]) == []
    (change,) = changes(
        [
            seen("update", hash="2", backup="1"),
            seen("update", None, hash="1", backup="2"),
            seen("delete", None),
        ]
    )
    assert (change.before, change.after) == ("1", "1")
