"""A resumed session's transcript: made from heads, drawn from bodies where somebody looks."""

import gc
from collections.abc import Iterable, Iterator

from fakes.histories import START
from fakes.transcripts import Host, conversation, messages, shown
from pinfold.rollout.events import Event, ItemAdded
from pinfold.rollout.items import Form, Item
from pinfold.tui.transcript.conversation import SLICE
from pinfold.tui.transcript.view import Transcript
from pinfold.window.archive import Archive, ArchivedItems
from pinfold.window.window import Boundary

SIZE = (80, 24)


class Rollout:
    """An archive whose bodies are all outside of memory, and which of them were read."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.events = [Event(n, START, ItemAdded(item=i), n, 1) for n, i in enumerate(items)]
        self.read: list[int] = []
        self.archive = Archive(self._read)
        for event in self.events:
            assert isinstance(event.data, ItemAdded)
            self.archive.add(event.data.item, event)
        self.archive.hold(())

    def _read(self, places: Iterable[tuple[int, int]]) -> Iterator[Event]:
        for offset, _ in places:
            self.read.append(offset)
            yield self.events[offset]

    @property
    def items(self) -> ArchivedItems:
        return ArchivedItems(self.archive, tuple(self.archive))


class Ended:
    """All items are seen; windows ended behind some of them."""

    def __init__(self, *last: int) -> None:
        ends = enumerate(last, 1)
        self.boundaries = [Boundary(at, n, START, "manual", "prune", None) for at, n in ends]

    def form(self, n: int) -> Form:
        return "full"

    def pin_on(self, n: int) -> None:
        return None


def text_of(transcript: Transcript) -> str:
    column = transcript._column
    for index in range(len(column.blocks)):
        column.draw(index)
    return "\n".join(line.text if line else "" for _, line in column.lines(0, column.height))


async def test_it_looks_as_if_all_items_were_at_hand() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        texts = []
        for items in (list(conversation()), Rollout(conversation()).items):
            for close in (app.transcript.action_close_all, app.transcript.action_open_all):
                app.transcript.load(items)
                close()
                await pilot.pause()
                texts.append((shown(app.transcript), text_of(app.transcript)))
        assert texts[:2] == texts[2:]


async def test_only_what_is_looked_at_is_read() -> None:
    app = Host()
    rollout = Rollout(messages(3_000))
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(rollout.items)
        await pilot.pause()
        assert "item 3000" in shown(app.transcript)[-1]
        assert len(set(rollout.read)) < 50
        app.transcript.action_open_all()
        await pilot.pause()
        assert len(set(rollout.read)) < 100


async def test_a_search_finds_what_nobody_has_looked_at() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(Rollout(messages(300)).items)
        await pilot.pause()
        await app.transcript.find("item 7 ")
        await pilot.pause()
        assert app.transcript.tally[1] >= 1
        assert any("item 7 " in line for line in shown(app.transcript))


async def test_a_long_past_comes_piece_by_piece_and_the_view_stays() -> None:
    rollout, ends = Rollout(messages(3 * SLICE)), (10, SLICE, 3 * SLICE)
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.load(rollout.items, Ended(*ends))
        assert len(transcript._column.blocks) == SLICE + 1
        view = shown(transcript)
        while transcript._conversation.past:
            await pilot.pause(0.001)
        assert shown(transcript) == view
        rules = [n for n, block in enumerate(transcript._column.blocks) if not block.entry.items]
        assert rules == [end + at for at, end in enumerate(ends)]
        items = [item.n for block in transcript._column.blocks for item in block.entry.items]
        assert items == list(range(1, 3 * SLICE + 1))


async def test_whoever_jumps_far_back_waits_for_no_piece() -> None:
    app = Host()
    async with app.run_test(size=SIZE):
        app.transcript.load(Rollout(messages(3 * SLICE)).items)
        assert app.transcript.jump(5)
        assert any("item 5 line" in line for line in shown(app.transcript))


async def test_a_result_stays_with_its_call_where_the_past_is_cut() -> None:
    calls = [
        Item(
            n=n,
            kind="tool_call" if n % 2 else "tool_result",
            response=(n + 1) // 2,
            call_id="a",
            name="shell",
            content="{}",
        )
        for n in range(1, SLICE + 3)
    ]
    rollout = Rollout([*calls, Item(n=SLICE + 3, kind="user", content="Go on.")])
    app = Host()
    async with app.run_test(size=SIZE):
        app.transcript.load(rollout.items)
        app.transcript.action_close_all()
        blocks = app.transcript._column.blocks
        assert [len(block.entry.items) for block in blocks] == [2] * (SLICE // 2 + 1) + [1]


def test_an_entry_that_nobody_looked_at_is_one_object_to_the_garbage_collector() -> None:
    """A collection visits each: with seven of them it stopped a long session for 100 ms."""
    transcript = Transcript()
    transcript._conversation.load(Rollout(messages(SLICE)).items, ())
    blocks = transcript._column.blocks
    beside = (
        referent
        for block in blocks
        for referent in gc.get_referents(block)
        if gc.is_tracked(referent)
    )
    assert len({id(referent) for referent in beside}) < len(blocks) / 100  # those that all share
