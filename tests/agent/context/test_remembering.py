"""Memories in a session: told once, cited without a trace in the reply, read without a card."""

import json
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from fakes.agent import MODEL, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.agent.updates import Streamed
from pinfold.memories.reader import MemoryReader
from pinfold.ports.approver import Decision
from pinfold.ports.provider import TextDelta
from pinfold.rollout.events import ContextSet, MemoryUsed

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SESSION = "0198ab12-1234-7000-8000-000000000001"
BLOCK = "<memory_citations>\nmemory_summary.md:1-1 | tests\n</memory_citations>"
SAID = "Run make test.\n\n- It takes < 2 minutes.\n<memory is no tag.\n\nThat is all."
LARGE = replace(MODEL, context_window=200_000)


def memories(root: Path, says: str = "Run make test.") -> Options:
    home = root / "memory-home"
    (home / "memories").mkdir(parents=True)
    (home / "sessions" / "2026" / "02" / "28" / SESSION).mkdir(parents=True)
    (home / "memories" / "memory_summary.md").write_text(f"- rule: {says} [{SESSION}#7]\n")
    return Options(memories=MemoryReader(home, lambda: NOW))


def streamed(heard: list[object]) -> str:
    deltas = [value.delta for value in heard if isinstance(value, Streamed)]
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def test_memories_are_told_from_the_first_request_on_and_stay_what_they_were(
    tmp_path: Path,
) -> None:
    options = memories(tmp_path)
    on = await stage(tmp_path, [says("a"), says("b")], options=options, model=LARGE)
    await on.say("hi")
    (tmp_path / "memory-home" / "memories" / "memory_summary.md").write_text("- other\n")
    await on.say("again")
    first, second = (request.context for request in on.provider.requests)
    assert first == second
    assert "1 rule: Run make test. [0198ab12-1234#7]" in first.remembered
    assert len(on.events_of(ContextSet)) == 1
    await on.session.close()


async def test_the_user_folds_them_and_takes_them_in_again(tmp_path: Path) -> None:
    on = await stage(
        tmp_path, [says("a"), says("b"), says("c")], options=memories(tmp_path), model=LARGE
    )
    await on.say("hi")
    assert "Folded the memories" in await on.session.window.fold_memories(folded=True)
    await on.say("again")
    assert dict(on.session.reading().segments).get("memories") is None
    await on.session.window.fold_memories(folded=False)
    await on.say("and again")
    one, two, three = (request.context.remembered for request in on.provider.requests)
    assert one == three != two == ""
    await on.session.close()


async def test_a_small_model_and_an_empty_folder_are_told_nothing(tmp_path: Path) -> None:
    small = replace(LARGE, tools=False)
    on = await stage(tmp_path, [says("a")], options=memories(tmp_path), model=small)
    await on.say("hi")
    assert on.provider.requests[0].context.memories is None
    await on.session.close()


async def test_a_citation_leaves_the_reply_and_is_counted_once(tmp_path: Path) -> None:
    options = memories(tmp_path)
    script = [says(f"{SAID}\n\n{BLOCK}"), says("b")]
    on = await stage(tmp_path, script, options=options, model=LARGE)
    await on.say("how do we run the tests here?")
    reply = on.session.items[-1]
    assert reply.content == streamed(on.heard).rstrip() == SAID
    assert reply.detail["memory_citations"] == BLOCK
    (used,) = on.events_of(MemoryUsed)
    assert (used.item, used.via) == (reply.n, "citation")
    assert (used.sources, used.sessions) == ((f"{SESSION}#7",), (SESSION,))
    await on.say("thanks")
    assert [item.content for item in on.provider.requests[1].items][1] == SAID
    await on.session.close()


async def test_without_memories_a_block_is_text_like_any_other(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says(f"It looks so:\n{BLOCK}")])
    await on.say("show me the block")
    assert on.session.items[-1].content == streamed(on.heard) == f"It looks so:\n{BLOCK}"
    await on.session.close()


async def test_memory_files_are_read_without_a_card_and_nothing_beside_them(
    tmp_path: Path,
) -> None:
    options = memories(tmp_path)
    home = tmp_path / "memory-home"
    (home / "memories.db").touch()
    script = [
        calls(
            ("c1", "read_file", json.dumps({"path": f"{home}/memories/memory_summary.md"})),
            ("c2", "grep", json.dumps({"pattern": "make", "path": f"{home}/memories"})),
        ),
        calls(("c3", "read_file", json.dumps({"path": f"{home}/memories.db"}))),
        says("done"),
    ]
    on = await stage(tmp_path, script, Decision("no"), options=options, model=LARGE)
    await on.say("look")
    assert [question.call_id for question in on.user.asked] == ["c3"]
    used = on.events_of(MemoryUsed)
    assert {event.read for event in used} == {(("summary", "memory_summary.md"),)}
    assert all(event.via == "read" for event in used)
    await on.session.close()
