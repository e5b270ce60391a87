"""A scripted strong model works through 40 requests in a window of 34k."""

import json
from dataclasses import replace
from pathlib import Path

from fakes.cacheable import cacheable, kept
from fakes.strong_session import OPTIONS, REPLIES, REQUESTS, play
from fakes.summaries import answer, entry
from pinfold.agent.options import PreparingOptions
from pinfold.rollout.events import CompactionFinished, RequestFinished, WindowReplaced
from pinfold.rollout.items import Item


async def test_masks_hurt_nothing_and_a_prompt_cache_serves_most_of_it(tmp_path: Path) -> None:
    """No model is asked. 8% of all are new when they are sent, so that no cache can have them."""
    played = await play(tmp_path)
    assert len(played.requests) == len(REPLIES) == REQUESTS
    assert played.provider.asked == []
    assert (last := played.at.session.items[-1]).kind == "assistant"
    assert last.content == REPLIES[-1].text
    batches = list(played.masks())
    assert batches
    for batch in batches:
        assert not batch.moves & played.used_by_next(batch.before), batch
        carried = {item.n: item for item in played.requests[batch.before].items}
        for n in batch.items & carried.keys():
            whole = played.at.session.items[n - 1]
            assert whole.n == n
            assert_tells_its_outcome(whole, carried[n].content)
    assert cacheable(played.requests) >= 0.89
    assert kept(played.requests) >= 0.95
    await played.at.session.close()


def assert_tells_its_outcome(whole: Item, masked: str) -> None:
    assert 2 * len(masked) <= len(whole.content)
    if whole.kind == "tool_call":
        before, after = json.loads(whole.content), json.loads(masked)
        assert before.keys() == after.keys()
        assert before.get("path") == after.get("path")
        assert f'recall {{"id": {whole.n}}}' in masked.replace('\\"', '"')
        return
    assert masked.endswith(f'lines; recall {{"id": {whole.n}}}]')
    if (code := whole.detail.get("exit_code")) is not None:
        last = whole.content.splitlines()[-2]
        assert masked.startswith(f"[#{whole.n} $ {whole.detail['command']}: exit {code}, {last}; ")
    else:
        assert masked.startswith(f"[#{whole.n} {whole.detail['title']}: ")


async def test_a_summary_in_the_background_is_used_or_its_reason_is_told(tmp_path: Path) -> None:
    options = replace(
        OPTIONS, threshold=0.6, mask_threshold=1.0, preparing=PreparingOptions(True, 0.4, 10.0)
    )
    summary = answer(decisions=[entry((1, "checks"), text="Keep the checks green.")])
    played = await play(tmp_path, options, [summary] * 9)
    await played.at.session.close()
    paid, used, unused = 0, 0, list[str]()
    for data in played.at.events():
        match data:
            case RequestFinished(purpose="compaction"):
                paid += 1
            case WindowReplaced(inserted=inserted):
                used += sum(item.kind == "summary" for item in inserted)
            case CompactionFinished(compaction=how, error=error) if how.phase == "background":
                unused.append(error)
    assert paid == used + len(unused) > 0
    assert all(unused)
