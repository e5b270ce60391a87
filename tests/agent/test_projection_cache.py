"""The cache of the projections: never wrong, and gone where it does not fit."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.histories import START, histories
from fakes.windows import MODEL
from pinfold.agent import projection_cache
from pinfold.agent.projection_cache import NAME, WORTH, fold, pack, resume
from pinfold.agent.projections import Dump, Projections, folded
from pinfold.agent.record import SAVE_EVERY, Record
from pinfold.rollout.events import (
    SCHEMA,
    Data,
    ItemAdded,
    ItemsMarked,
    SessionStarted,
    TurnFinished,
)
from pinfold.rollout.items import Item
from pinfold.rollout.journal import ROLLOUT, Journal
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter

STARTED = SessionStarted(schema=SCHEMA, id="s", cwd="/", version="1")
LONG = "a line of output\n" * (WORTH // 16)


def counter() -> Counter:
    return Counter("none")


def seen(projections: Projections) -> dict[str, Any]:
    """All that can be known of projections."""
    window, gauge = projections.window, projections.gauge
    return {
        "state": projections.state,
        "end": (projections.seq, projections.offset),
        "shown": window.shown,
        "items": [window.item(n) for n in window.archive],
        "heads": [window.archive.head(n) for n in window.archive],
        "files": [window.archive.files(n) for n in window.archive],
        "partners": [window.partner(n) for n in window.archive],
        "forms": list(window.forms.items()),
        "pins": list(window.pins),
        "held": [window.is_pinned(n) for n in window.forms],
        "open": window.open_calls,
        "undo": window.undo.newest,
        "boundaries": window.boundaries,
        "generation": window.generation,
        "changed": (window.seq, window.changed_seq),
        "hidden": window.hidden(),
        "tokens": gauge.tokens,
        "full": [gauge.count_full(window.archive[n]) for n in window.archive],
        "reading": gauge.reading(MODEL),
    }


@settings(max_examples=15)
@given(histories())
def test_live_is_rebuilt_is_the_cache_and_the_rest(
    tmp_path_factory: pytest.TempPathFactory, data: list[Data]
) -> None:
    folder = tmp_path_factory.mktemp("s")
    with Journal.create(folder, STARTED, lambda: START) as journal:
        live = Projections(counter(), "chat")
        live.step(next(journal.read()))
        dumps = [msgspec.msgpack.encode(live.dump())]
        for event in data:
            live.step(journal.append(event)[0])
            dumps.append(msgspec.msgpack.encode(live.dump()))
        wanted = seen(live)
        for dump in (None, *dumps):
            decoded = None if dump is None else msgspec.msgpack.decode(dump, type=Dump)
            assert seen(fold(journal, counter(), "chat", decoded)) == wanted


@settings(max_examples=30)
@given(histories(), st.floats(0, 1))
def test_what_is_known_is_the_same_whenever_it_is_first_asked_for(
    tmp_path_factory: pytest.TempPathFactory, data: list[Data], share: float
) -> None:
    def known(projections: Projections) -> tuple[Any, ...]:
        known = projections.catch_up()
        return known.checkpoint, known.record.lines(), known.core.stated(), known.cwd

    with Journal.create(tmp_path_factory.mktemp("s"), STARTED, lambda: START) as journal:
        alone = folded(journal.read(), counter(), "chat")
        opened = Projections(counter(), "chat", journal=journal)
        asked = int(share * len(data))
        for at, written in enumerate(data):
            if at == asked:
                opened.catch_up()
            event = journal.append(written)[0]
            alone.step(event)
            opened.step(event)
        anew = Projections(counter(), "chat", journal=journal)
        assert known(opened) == known(alone) == known(anew)


def session(folder: Path) -> None:
    """A rollout that is worth a cache, with an item out of the window's sight."""
    with Journal.create(folder, STARTED, lambda: START) as journal:
        journal.append(
            ItemAdded(item=Item(n=1, kind="user", content="Read it.")),
            ItemAdded(item=Item(n=2, kind="tool_call", content="{}", call_id="a", response=1)),
            ItemAdded(item=Item(n=3, kind="tool_result", content=LONG, call_id="a", response=1)),
            ItemsMarked(items=((3, "masked"),)),
        )


def record(folder: Path) -> Record:
    return Record(Journal.open(folder, lambda: START), counter(), "chat")


@pytest.fixture
async def cached(tmp_path: Path) -> Path:
    """The folder of a session that was opened and closed."""
    folder = tmp_path / "s"
    session(folder)
    await record(folder).close()
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600
    return folder


def taken(folder: Path) -> bool:
    """Whether the cache is used; what is seen is right in any case."""
    with Journal.open(folder, lambda: START, read_only=True) as journal:
        resumed = resume(journal, counter(), "chat")
        assert seen(resumed) == seen(fold(journal, counter(), "chat", None))
        return resumed.saved > 0


async def test_a_session_leaves_a_cache_that_its_next_opening_takes(cached: Path) -> None:
    assert taken(cached)


async def test_what_came_after_the_cache_is_folded_from_the_journal(cached: Path) -> None:
    with Journal.open(cached, lambda: START) as journal:
        journal.append(ItemAdded(item=Item(n=4, kind="assistant", content="Done.", response=2)))
    assert taken(cached)
    assert [item.n for item in opened(cached).window.items] == [1, 2, 3, 4]


def opened(folder: Path) -> Projections:
    with Journal.open(folder, lambda: START, read_only=True) as journal:
        return resume(journal, counter(), "chat")


async def test_a_damaged_or_cut_off_cache_is_thrown_away(cached: Path) -> None:
    content = (cached / NAME).read_bytes()
    for at in (0, 40, -1):
        damaged = bytearray(content)
        damaged[at] ^= 4
        (cached / NAME).write_bytes(damaged)
        assert not taken(cached)
    for end in (0, 20, len(content) // 2, len(content) - 1):
        (cached / NAME).write_bytes(content[:end])
        assert not taken(cached)


async def test_the_cache_of_another_session_is_thrown_away(cached: Path) -> None:
    other = cached.with_name("other")
    with Journal.create(other, msgspec.structs.replace(STARTED, id="other"), lambda: START):
        pass
    with (cached / ROLLOUT).open("rb") as mine, (other / ROLLOUT).open("ab") as its:
        its.writelines(mine.readlines()[1:])
    shutil.copy(cached / NAME, other / NAME)
    assert not taken(other)


async def test_a_rollout_that_was_changed_under_its_cache_is_read_anew(cached: Path) -> None:
    path = cached / ROLLOUT
    path.write_bytes(path.read_bytes().replace(b"Read it.", b"Read me.", 1))
    assert not taken(cached)
    assert opened(cached).state.goal == "Read me."


async def test_a_rollout_that_was_only_touched_keeps_its_cache(cached: Path) -> None:
    os.utime(cached / ROLLOUT)
    assert taken(cached)


async def test_a_rollout_that_lost_its_end_is_read_anew(cached: Path) -> None:
    lines = (cached / ROLLOUT).read_bytes().splitlines(keepends=True)
    (cached / ROLLOUT).write_bytes(b"".join(lines[:-1]))
    assert not taken(cached)


@pytest.mark.parametrize("changed", ["SCHEMA", "__version__"])
async def test_the_cache_of_another_version_is_thrown_away(
    cached: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    monkeypatch.setattr(projection_cache, changed, "another")
    assert not taken(cached)


async def test_counts_of_another_encoding_are_counted_anew(cached: Path) -> None:
    with Journal.open(cached, lambda: START, read_only=True) as journal:
        dump = pack(opened(cached))
        assert dump is not None
        cached_counts = msgspec.msgpack.decode(dump, type=Dump)
        wrong = msgspec.structs.replace(
            cached_counts.gauge, encoding="another", tokens=[9, 9, 9], counts={1: 9}
        )
        foreign = msgspec.structs.replace(cached_counts, gauge=wrong)
        assert seen(fold(journal, counter(), "chat", foreign)) == seen(opened(cached))
        assert seen(fold(journal, counter(), "responses", foreign)) == seen(
            fold(journal, counter(), "responses", None)
        )


async def test_an_item_that_is_not_where_the_cache_says_ends_in_reading_anew(
    cached: Path,
) -> None:
    """As after a rollout that was mended by hand in the very moment it was stamped."""
    path = cached / ROLLOUT
    stamp = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"n":1,', b'"n":7,', 1))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert not taken(cached)


async def test_a_body_that_is_gone_is_told_and_not_made_up(cached: Path) -> None:
    resumed = opened(cached)
    resumed.window.archive.hold(())
    (cached / ROLLOUT).unlink()
    lost = resumed.window.archive[3]
    assert (lost.kind, lost.call_id, lost.state) == ("tool_result", "a", "unknown")
    assert "can't be read" in lost.content


async def test_a_cache_that_cannot_be_written_is_no_error(cached: Path) -> None:
    (cached / NAME).unlink()
    (cached / f"{NAME}.tmp").mkdir()
    await record(cached).close()
    assert not taken(cached)


async def test_short_and_read_only_sessions_leave_no_cache(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "s", STARTED, lambda: START):
        pass
    await record(tmp_path / "s").close()
    session(tmp_path / "t")
    journal = Journal.open(tmp_path / "t", lambda: START, read_only=True)
    await Record(journal, counter(), "chat").close()
    assert not list(tmp_path.glob(f"*/{NAME}"))


async def test_a_fork_has_no_cache_at_first(cached: Path, tmp_path: Path) -> None:
    journal, _ = SessionStore(tmp_path).fork(cached, None, lambda: START)
    with journal:
        assert not (journal.folder / NAME).exists()


async def test_after_much_has_come_the_cache_is_written_at_a_turns_end(tmp_path: Path) -> None:
    session(tmp_path / "s")
    crashing = record(tmp_path / "s")
    much = ItemAdded(item=Item(n=4, kind="user", content="x" * SAVE_EVERY))
    await crashing.append(much, TurnFinished(turn=1, state="done"))
    async with asyncio.timeout(30):
        while not (tmp_path / "s" / NAME).exists():
            await asyncio.sleep(0.001)
    crashing.journal.close()
    assert taken(tmp_path / "s")
