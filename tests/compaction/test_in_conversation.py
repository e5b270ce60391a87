"""A summary that the session's own model writes behind the live conversation."""

from fakes.compactions import OPTIONS, session
from fakes.summaries import answer, entry
from fakes.summarizer import ScriptedSummarizer
from pinfold.compaction.rendering import rendered_now
from pinfold.compaction.strategies.handoff import Handoff
from pinfold.compaction.strategies.snapshot import Snapshot
from pinfold.compaction.summary import ItemQuote
from pinfold.ports.errors import ContextOverflow
from pinfold.rollout.events import ItemAdded, ItemsMarked
from pinfold.rollout.items import Item

NOTES = "## Next\nGo on after part 12."


async def test_the_notes_are_asked_for_behind_what_a_request_carries() -> None:
    live = session(12)
    live.add(ItemsMarked(items=((4, "masked"),)))
    view = live.view()
    model = ScriptedSummarizer([NOTES], live=4_000)
    made = await Handoff().prepare(view, model, OPTIONS)
    assert made.text == NOTES
    (conversation,) = model.conversations
    carried = [shown.item for shown in rendered_now(view)]
    assert list(conversation) == carried[: len(conversation)]
    assert conversation[-1].n == made.through
    assert 'recall {"id": 4}' in conversation[3].content
    assert model.asked[0].text.startswith("[COMPACTION]")
    assert "THE RECORD" not in model.asked[0].text


async def test_a_call_whose_result_is_still_to_come_is_not_sent() -> None:
    live = session(12)
    call = Item(
        n=live.next_n, kind="tool_call", content="{}", response=90, call_id="now", name="shell"
    )
    live.add(ItemAdded(item=call))
    model = ScriptedSummarizer([answer(task=entry((0, "Make part 1"), text="Go on."))], live=4_000)
    made = await Snapshot().prepare(live.view(), model, OPTIONS)
    assert call.n not in {item.n for item in model.conversations[0]}
    assert made.through < call.n


async def test_a_quote_without_a_number_finds_who_said_it() -> None:
    live = session(2)
    words = "Keep port 8001."
    live.add(ItemAdded(item=Item(n=live.next_n, kind="tool_result", content=words)))
    rule = entry((0, words), text="Port 8001 stays.")
    model = ScriptedSummarizer([answer(constraints=[rule])], live=4_000)
    made = await Snapshot().prepare(live.view(), model, OPTIONS)
    (kept,) = made.entries
    assert kept.evidence == (ItemQuote(1, words),)
    assert not kept.unsupported


async def test_a_model_that_calls_a_tool_instead_is_asked_once_more() -> None:
    model = ScriptedSummarizer(["", NOTES], live=4_000)
    assert (await Handoff().prepare(session(12).view(), model, OPTIONS)).text == NOTES
    assert len(model.conversations) == 2


async def test_an_answer_that_is_no_summary_is_told_why() -> None:
    good = answer(task=entry((0, "Make part 12 faster"), text="Make part 12 faster."))
    model = ScriptedSummarizer(["no JSON", good], live=4_000)
    await Snapshot().prepare(session(12).view(), model, OPTIONS)
    assert "could not be used: it holds no complete JSON object" in model.asked[1].text


async def test_where_the_conversation_leaves_no_room_the_window_is_read_as_text() -> None:
    view = session(12).view()
    for refusals, live in (([], 100), ([ContextOverflow("too long")], 4_000)):
        model = ScriptedSummarizer([*refusals, NOTES], live=live)
        made = await Handoff().prepare(view, model, OPTIONS)
        assert made.text == NOTES
        assert "#1 user: Make part 1 faster." in model.asked[-1].text
