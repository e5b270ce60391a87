"""A resumed session's transcript: made from heads, drawn from bodies where somebody looks."""

from collections.abc import Iterable, Iterator

from fakes.histories import START
from fakes.transcripts import Host, conversation, messages, shown
from pinfold.rollout.events import Event, ItemAdded
from pinfold.rollout.items import Item
from pinfold.tui.transcript.view import Transcript
from pinfold.window.archive import Archive, Items

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
    def items(self) -> Items:
        return Items(self.archive, tuple(self.archive))


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
