"""Reports: one file, which asks nothing of the network and reads as a table without its charts."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from pinfold.evaluation import charts, report_recorded, report_trials
from pinfold.evaluation.recorded_scores import (
    CutResult,
    Made,
    Recorded,
    SessionResult,
    over_all,
    rows,
)
from pinfold.evaluation.scores import (
    EXPECTED,
    PROBES,
    Evaluation,
    Point,
    Spent,
    StrategyResult,
    Times,
    scores,
    spread,
)

VOID = {"meta"}


class Page(HTMLParser):
    """What a page is made of; raises where its tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.svgs: list[dict[str, str | None]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "svg":
            self.svgs.append(dict(attrs))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def recorded(name: str = "a session") -> Recorded:
    made = (
        Made("checkpoint", "ours", {"need": 0.9, "words": 1.0}, 1_900, 12.0),
        Made("prune", "ours", {"need": 0.5}, 9_000, 3.0),
        Made("tail", "baseline", not_run="no room"),
        Made("own compaction", "recording", {"need": 0.25}, 1_500),
    )
    cuts = (CutResult(40, True, 30_000, made),)
    session = SessionResult(name, "codex", 80, cuts, 1, rows(cuts, 2_000, 1.05))
    found = over_all(2_000, [session], ["<b>no</b> session"], 1.05)
    return replace(found, verdict="checkpoint keeps <most>.")


def evaluation() -> Evaluation:
    kept, worse = (dict.fromkeys(PROBES, value) for value in (1.0, 0.5))
    window = spread([900.0, 950.0])
    start = Point(0, scores([kept, kept]), None, window, within=True)
    last = Point(1, scores([worse, kept]), None, window, within=False)
    ours = StrategyResult(
        "core", "ours", (start, last), times=Times(3.0, 9.0, 1.5), spent=Spent(900, 80, 0.02)
    )
    other = StrategyResult("tail", "baseline", (start, last), times=Times(1.0, 2.0, 0.0))
    absent = StrategyResult("codex", "baseline", (), not_run="needs a model: --model NAME")
    return Evaluation(
        1, 2, 1, 900, 3.1, ("a <talk> (en, coding)",), "", "", False, (ours, other, absent), None,
        "Trust core & no other.",
    )  # fmt: skip


PAGES = [report_recorded.render(recorded()), report_trials.render(evaluation())]


@pytest.mark.parametrize("page", PAGES, ids=["recorded", "trials"])
def test_a_page_is_whole_and_asks_nothing_of_the_network(page: str) -> None:
    found = Page(page)
    assert not {"script", "link", "img", "iframe"} & set(found.tags)
    assert not {"src", "href", "style", "onclick"} & {name for name, _ in found.attributes}
    assert "url(" not in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize("page", PAGES, ids=["recorded", "trials"])
def test_its_policy_allows_its_own_style_alone(page: str) -> None:
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    assert "prefers-color-scheme: dark" in style[1]


@pytest.mark.parametrize("page", PAGES, ids=["recorded", "trials"])
def test_every_chart_has_words_or_stands_below_its_figure(page: str) -> None:
    for svg in Page(page).svgs:
        assert svg.get("aria-hidden") == "true" or svg.get("aria-label")


def test_the_verdict_comes_first_and_is_no_markup() -> None:
    told = PAGES[0]
    assert "checkpoint keeps &lt;most&gt;." in told
    assert told.index("keeps &lt;most&gt;") < told.index("<table>")
    assert "&lt;b&gt;no&lt;/b&gt; session" in told
    assert "a &lt;talk&gt;" in PAGES[1]


def test_a_session_is_named_in_one_line_whatever_it_is_called() -> None:
    told = report_recorded.render(recorded("<script>\x1b[31m\nname"))
    assert "<script>" not in told
    assert "\x1b" not in told


def test_what_is_over_the_budget_has_a_sign_and_what_failed_says_so() -> None:
    assert "! 9,000" in PAGES[0]
    assert "not run" in PAGES[0]
    assert "! 925" in PAGES[1]
    assert "codex, not run: needs a model" in PAGES[1]
    assert "$0.02" in PAGES[1]


def test_a_line_of_coherence_is_told_in_words_beside_its_bands() -> None:
    points = [spread([1.0]), spread([0.5, 0.7])]
    svg = charts.panel("core", points, EXPECTED[:1])
    assert 'aria-label="core: before 1.00, after 1 0.60"' in svg
    assert svg.count('class="band"') == 1
    assert svg.count('class="range"') == 1


def test_dots_that_meet_are_stacked_inside_of_the_picture() -> None:
    svg = charts.strip("tail", [0.5] * 40, 0.5)
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', svg)]
    assert len(heights) == 40
    assert min(heights) >= 0
