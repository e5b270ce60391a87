"""A prompt over a quarter of the window goes into a file, or is cut where it says so."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.agent import MODEL, Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.provenance import Prompt, detail, typed

LOG = "\n".join(f"{n}: the job took {n * 7 % 91} seconds" for n in range(1, 5_001))
ASKED = Prompt(f"Why is it slow?\n\n{LOG}\n\nBe brief.", ((17, 17 + len(LOG)),))


def user(prompt: Prompt) -> Item:
    return Item(n=1, kind="user", content=prompt.text, detail=detail(prompt))


def tokens(at: Stage, prompt: Prompt) -> int:
    return at.session.counter.count(prompt.text)


async def test_a_prompt_up_to_a_quarter_of_the_window_is_not_large(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    large = at.session.large
    words = "word " * 1_900
    assert await large.measure(Prompt(words)) is None
    assert large.may_be(words)  # its bytes alone do not tell
    assert not large.may_be("word " * 300)
    size = await large.measure(Prompt(words + words))
    assert size is not None
    assert size.tokens > MODEL.context_window / 4
    assert size.window == MODEL.context_window
    assert size.fits
    whole = await large.measure(ASKED)
    assert whole is not None
    assert not whole.fits


async def test_an_attached_text_is_whole_in_a_file_and_begins_in_the_prompt(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    smaller = await at.session.large.attach(ASKED)
    [file] = smaller.files
    assert file.parent == at.session.folder / "outputs"
    assert file.read_text(encoding="utf-8") == LOG + "\n"
    assert file.stat().st_mode & 0o777 == 0o600
    text = smaller.prompt.text
    assert text.startswith("Why is it slow?\n\n1: the job took 7 seconds\n2: the job took")
    assert text.endswith("\n\nBe brief.")
    assert "\n5000: " not in text
    assert str(file) in text
    assert "5,000 lines" in text
    assert "read_file" in text
    assert typed(user(smaller.prompt)) == ["Why is it slow?", "Be brief."]
    assert tokens(at, smaller.prompt) < MODEL.context_window / 8


async def test_the_model_pages_through_it_and_nobody_is_asked(tmp_path: Path) -> None:
    at = await stage(tmp_path, [], options=Options(approvals="read-only", auto="off"))
    log = LOG[: LOG.index("\n1251: ")]
    smaller = await at.session.large.attach(Prompt(log, ((0, len(log)),)))
    [path] = re.findall(r"/\S+/outputs/\S+?\.txt", smaller.prompt.text)
    pages = [{"path": path, "offset": first, "limit": 125} for first in range(1, 1_251, 125)]
    at.provider.script = [
        *(calls((f"c{n}", "read_file", json.dumps(page))) for n, page in enumerate(pages)),
        says("The disk is."),
    ]
    at.session.send(smaller.prompt.text, smaller.prompt.pasted)
    await at.session.idle()
    results = at.texts("tool_result")
    read = [
        line.split("\t", 1)[1] for result in results for line in result.splitlines() if "\t" in line
    ]
    assert "\n".join(read) == log
    assert not at.user.asked


@pytest.mark.parametrize("text", ["x" * 100_000, "a\0b\n" * 9_000, "é€😀\r\n" * 9_000])
async def test_whatever_the_text_read_file_can_read_it(tmp_path: Path, text: str) -> None:
    at = await stage(tmp_path, [], options=Options(auto="off"))
    smaller = await at.session.large.attach(Prompt(text, ((0, len(text)),)))
    script = [calls(("c1", "read_file", json.dumps({"path": str(smaller.files[0])}))), says("ok")]
    at.provider.script = script
    await at.say("read it")
    [result] = at.items("tool_result")
    assert result.detail["ok"]
    assert "more characters" not in result.content
    kept = smaller.files[0].read_text(encoding="utf-8")
    assert kept.replace("\n", "") == text.replace("\0", "␀").replace("\r\n", "").replace("\n", "")


async def test_a_long_text_that_was_typed_stays_the_users_word_as_far_as_it_goes(
    tmp_path: Path,
) -> None:
    at = await stage(tmp_path, [])
    smaller = await at.session.large.attach(Prompt(LOG))
    assert smaller.files[0].read_text(encoding="utf-8") == LOG + "\n"
    [said] = typed(user(smaller.prompt))
    assert said.startswith("1: the job took 7 seconds")
    assert LOG.startswith(said)


async def test_each_large_paste_gets_its_file_and_small_ones_stay(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    text = f"{LOG}\nand\nsmall\npaste\nand\n{LOG[::-1]}"
    spans = (
        (0, len(LOG)),
        (text.index("small"), text.index("paste") + 5),
        (len(text) - len(LOG), len(text)),
    )
    smaller = await at.session.large.attach(Prompt(text, spans))
    assert [file.read_text(encoding="utf-8") for file in smaller.files] == [
        LOG + "\n",
        LOG[::-1] + "\n",
    ]
    assert "\nand\nsmall\npaste\nand\n" in smaller.prompt.text
    assert typed(user(smaller.prompt)) == ["and", "and"]


async def test_a_cut_prompt_keeps_both_ends_and_says_what_is_left_out(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    smaller = await at.session.large.cut(ASKED)
    text = smaller.prompt.text
    assert text.startswith("Why is it slow?\n\n1: the job took 7 seconds\n")
    assert text.endswith("5000: the job took 56 seconds\n\nBe brief.")
    [left] = re.findall(r"\[… ([\d,]+) lines left out", text)
    assert int(left.replace(",", "")) == 5_000 - sum(
        ": the job" in line for line in text.split("\n")
    )
    assert str(smaller.files[0]) in text
    assert typed(user(smaller.prompt)) == ["Why is it slow?", "Be brief."]
    assert MODEL.context_window / 16 < tokens(at, smaller.prompt) <= MODEL.context_window / 4


async def test_a_model_without_tools_is_not_sent_to_a_file(tmp_path: Path) -> None:
    at = await stage(tmp_path, [], model=replace(MODEL, tools=False))
    text = (await at.session.large.cut(ASKED)).prompt.text
    assert "read_file" not in text
    assert "lines left out" in text


async def test_a_copy_of_the_session_reads_its_own_copy(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    await at.session.large.attach(ASKED)
    again = await at.session.large.attach(ASKED)
    assert again.files[0].name == "attached-2.txt"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
            st.integers(1, 3_000),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    ),
    cut=st.booleans(),
)
async def test_any_prompt_fits_afterwards(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[str, int, bool]], cut: bool
) -> None:
    text, spans = "", []
    for piece, times, pasted in parts:
        start = len(text)
        text += piece * times + " "
        if pasted:
            spans.append((start, len(text)))
    at = await stage(tmp_path_factory.mktemp("s"), [])
    prompt, large = Prompt(text, tuple(spans)), at.session.large
    if await large.measure(prompt) is not None:
        smaller = await (large.cut(prompt) if cut else large.attach(prompt))
        assert await large.measure(smaller.prompt) is None
        assert all(0 <= a < b <= len(smaller.prompt.text) for a, b in smaller.prompt.pasted)
    await at.session.close()


async def test_a_large_request_that_a_compaction_cuts_is_told(tmp_path: Path) -> None:
    """As where it was adopted, or another model has a smaller window."""
    at = await stage(tmp_path, [says("Noted."), says("Done.")])
    await at.say("begin")
    await at.say("word " * 5_500)
    items = [data.item for data in at.events() if isinstance(data, ItemAdded)]
    assert items[2].content == "word " * 5_500  # whole in the rollout
    assert any("#3" in text and "middle is left out" in text for text in at.told())


async def test_a_session_that_takes_no_prompt_gets_no_file(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    await at.session.close()
    with Journal.open(at.session.folder, at.clock.now, read_only=True) as journal:
        again = await stage(tmp_path, [], journal=lambda: journal)
        assert await again.session.large.measure(ASKED) is None


async def test_only_what_has_to_go_goes(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    small = "\n".join(f"snippet {n}" for n in range(60))
    text = f"{LOG}\n\n{small}"
    spans = ((0, len(LOG)), (len(LOG) + 2, len(text)))
    smaller = await at.session.large.attach(Prompt(text, spans))
    assert len(smaller.files) == 1
    assert smaller.prompt.text.endswith(small)
