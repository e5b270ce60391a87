"""What was remembered goes with the call that remembered it."""

from pathlib import Path

from fakes.checkpoints import fact, output
from fakes.sessions import item, ticking
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.rollout.events import MemoryRefused
from pinfold.rollout.store import SessionStore


def test_a_fork_remembers_what_its_last_item_recorded(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    with store.create(Path("/w"), "0", ticking()) as parent:
        parent.append(
            item(1, content="prompt"),
            item(2, "tool_call", response=1, call_id="c"),
            item(3, "tool_result", response=1, call_id="c"),
            fact("kept", "yes"),
            MemoryRefused(payload="{}", reason="no"),
            output("c", "a" * 40, 3),
            item(4, content="next"),
            fact("later", "no"),
        )
        fork, _ = store.fork(parent.folder, 3, ticking())
    state = CheckpointState()
    with fork:
        for event in fork.read():
            state.step(event)
    checkpoint = state.snapshot()
    assert set(checkpoint.facts) == {"kept"}
    assert set(checkpoint.artifacts) == {"call:c"}
