"""How the transcript shows what is in the window, and what its keys do there."""

import pytest
from textual.pilot import Pilot

from fakes.live_session import LiveSession, live_session
from fakes.screen import make_app, until
from fakes.transcripts import call, shown
from pinfold.rollout.events import ArtifactObserved, ItemsMarked, PinsChanged, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.values import PlanBase, Sizes
from pinfold.tui.status_line import StatusLine
from pinfold.tui.transcript.view import Transcript


def history() -> list[Item]:
    return [
        Item(n=1, kind="user", content="Why is it empty?"),
        *call(2, "shell", {"command": "pytest"}, "3 failed\n1 passed", exit_code=1, ok=False),
        Item(n=4, kind="assistant", content="The reader opens it twice. " * 20),
        Item(n=5, kind="user", content="Fix it."),
    ]


REPLACED = WindowReplaced(
    generation=1,
    base=PlanBase(0, 5),
    reason="manual",
    strategy="checkpoint",
    window=((6, "full"), (5, "full")),
    inserted=(Item(n=6, kind="checkpoint", content="Task: fix the reader"),),
    tokens=Sizes(42_000, 11_000),
)


async def ready(pilot: Pilot[str], session: LiveSession) -> Transcript:
    await until(pilot, lambda: session.approver)
    transcript = pilot.app.screen.query_one(Transcript)
    transcript.focus()
    await pilot.pause()
    return transcript


def row(transcript: Transcript, words: str) -> str:
    return next(row for row in shown(transcript) if words in row)


async def test_signs_come_and_go_with_pins_and_marks() -> None:
    session = live_session(items=history())
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        transcript = await ready(pilot, session)
        assert row(transcript, "#1").startswith("   #1 ▌")
        session.append(PinsChanged(add=(1,)))
        session.append(ItemsMarked(items=((3, "masked"), (4, "placeholder"))))
        assert row(transcript, "Why").startswith("⚑  #1 ▌")
        assert row(transcript, "pytest").startswith("◐  #2 ")
        assert row(transcript, "3 failed").startswith("◐  #3 ")
        assert row(transcript, "opens it twice").startswith("○  #4 ")
        assert row(transcript, "Fix it").startswith("   #5 ")
        session.append(PinsChanged(remove=(1,)))
        assert row(transcript, "Why").startswith("   #1 ")


@pytest.mark.usefixtures("painted")
async def test_only_rows_whose_sign_changes_are_drawn_anew() -> None:
    session = live_session(items=history())
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        transcript = await ready(pilot, session)
        finished = {block: list(block.strips) for block in transcript._column.blocks}
        session.append(PinsChanged(add=(4,)))
        await pilot.pause()
        again = [b for b in transcript._column.blocks if b.strips[0] is not finished[b][0]]
        assert [block.entry.items[0].n for block in again] == [4]


async def test_a_pin_on_files_shows_on_what_concerns_them_later() -> None:
    session = live_session(items=history())
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        transcript = await ready(pilot, session)
        session.append(PinsChanged(add=("src/**",)))
        assert row(transcript, "pytest").startswith("   #2")
        session.append(ArtifactObserved(uri="src/a.py", kind="file", op="read", item=3))
        assert row(transcript, "pytest").startswith("⚑  #2")


async def test_a_new_window_begins_below_a_rule_and_the_old_one_stays_readable() -> None:
    session = live_session(items=history())
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        transcript = await ready(pilot, session)
        session.append(REPLACED)
        await pilot.pause()
        assert "── window 1 · compacted by checkpoint · 42k → 11k ──" in row(transcript, "window")
        assert row(transcript, "Why").startswith("·  #1 ")
        assert row(transcript, "Fix it").startswith("   #5 ")
        assert row(transcript, "◆ checkpoint").startswith("   #6 ")


async def test_a_resumed_session_shows_its_boundaries_where_they_were() -> None:
    session = live_session(items=history())
    session.append(REPLACED)
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        transcript = await ready(pilot, session)
        text = "\n".join(shown(transcript))
        assert text.index("Fix it") < text.index("window 1") < text.index("◆ checkpoint")


async def test_the_gutter_grows_with_the_numbers() -> None:
    session = live_session(
        items=[Item(n=n, kind="user", content=f"m{n}") for n in range(990, 1000)]
    )
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        transcript = await ready(pilot, session)
        assert row(transcript, "m999").startswith(" #999 ▌")
        session.append(Item(n=1_000, kind="user", content="m1000"))
        await pilot.pause()
        assert row(transcript, "m999").startswith("  #999 ▌")
        assert row(transcript, "m1000").startswith(" #1000 ▌")


async def test_in_a_narrow_terminal_the_sign_stands_alone() -> None:
    session = live_session(items=history())
    session.append(PinsChanged(add=(1,)))
    async with make_app(session).run_test(size=(40, 50)) as pilot:
        transcript = await ready(pilot, session)
        assert row(transcript, "Why").startswith("⚑▌ Why")


# Keys


async def press(pilot: Pilot[str], session: LiveSession, n: int, key: str) -> str:
    """What is told after `key` on item `n`."""
    transcript = pilot.app.screen.query_one(Transcript)
    assert transcript.jump(n)
    blocks = len(transcript._column.blocks)
    await pilot.press(key)
    await until(pilot, lambda: len(transcript._column.blocks) > blocks)
    return transcript._column.blocks[-1].entry.source


async def test_p_pins_and_unpins_and_tells_what_that_holds() -> None:
    session = live_session(items=history(), gauge=None)
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        await ready(pilot, session)
        assert "tokens pinned" in await press(pilot, session, 2, "p")
        assert session.window.pin_on(3) == 2
        await press(pilot, session, 2, "p")
        assert session.window.pin_on(3) is None


async def test_a_result_pinned_by_its_number_is_unpinned_on_its_card() -> None:
    session = live_session(items=history(), gauge=None)
    session.append(PinsChanged(add=(3,)))
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        await ready(pilot, session)
        await press(pilot, session, 2, "p")
        assert not session.window.pins


async def test_m_masks_the_result_of_a_call_and_brings_it_back() -> None:
    session = live_session(items=history(), gauge=None)
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        await ready(pilot, session)
        assert "/undo" in await press(pilot, session, 2, "m")
        assert session.window.form(3) == "masked"
        await press(pilot, session, 2, "m")
        assert session.window.form(3) == "full"


async def test_f_folds_and_unfolds_and_a_refusal_tells_why() -> None:
    session = live_session(items=history(), gauge=None)
    async with make_app(session).run_test(size=(80, 40)) as pilot:
        await ready(pilot, session)
        assert "freed" in await press(pilot, session, 4, "f")
        assert session.window.form(4) == "placeholder"
        await press(pilot, session, 4, "f")
        assert session.window.form(4) == "full"
        assert "latest request" in await press(pilot, session, 5, "f")
        assert session.window.form(5) == "full"


async def test_what_a_key_did_is_told_also_while_one_reads_far_above() -> None:
    long = [Item(n=n, kind="assistant", content=f"Reply {n}") for n in range(6, 60)]
    session = live_session(items=[*history(), *long], gauge=None)
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        await ready(pilot, session)
        await press(pilot, session, 5, "f")
        assert "latest request" in pilot.app.screen.query_one(StatusLine).hint
