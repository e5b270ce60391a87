"""Reports: one file, which asks nothing of the network and reads as a table without its charts."""

import base64
import hashlib
import re
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from fakes.pages import Page
from pinfold.evaluation import report_recorded, report_trials
from pinfold.evaluation.recorded_scores import (
    CutResult,
    Recorded,
    SessionResult,
    StrategyWindow,
    over_all,
    rows,
)
from pinfold.evaluation.report import html
from pinfold.evaluation.scores import (
    PROBES,
    Evaluation,
    Point,
    Spent,
    StrategyResult,
    Times,
    scores,
    spread,
)
from pinfold.evaluation.terminal import WIDTH, printed
from pinfold.output import print_table
from pinfold.sanitize import is_safe


def recorded(name: str = "a session") -> Recorded:
    made = (
        StrategyWindow("checkpoint", "ours", {"need": 0.9, "words": 1.0}, 1_900, 12.0),
        StrategyWindow("prune", "ours", {"need": 0.5}, 9_000, 3.0),
        StrategyWindow("tail", "baseline", not_run="no room"),
        StrategyWindow("own compaction", "recording", {"need": 0.25}, 1_500),
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
        "handoff", "ours", (start, last), times=Times(3.0, 9.0, 1.5), spent=Spent(900, 80, 0.02)
    )
    other = StrategyResult("tail", "baseline", (start, last), times=Times(1.0, 2.0, 0.0))
    absent = StrategyResult("codex", "baseline", (), not_run="needs a model: --model NAME")
    return Evaluation(
        1, 2, 1, 900, 3.1, ("a <talk> (en, coding)",), "", "", False, (ours, other, absent), None,
        "Trust handoff & no other.",
    )  # fmt: skip


def asked(*, smoke: bool = False) -> Evaluation:
    """As read all is kept; as asked, what one of two trials has grades for says half."""
    kept, half = (dict.fromkeys(PROBES, value) for value in (1.0, 0.5))
    window = spread([900.0])
    start = Point(0, scores([kept]), scores([kept]), window, within=True, windows=2)
    gap = Point(1, scores([kept]), None, window, within=True, windows=2, ungraded=2)
    last = Point(2, scores([kept]), scores([half]), window, within=True, windows=2, ungraded=1)
    why = ("a note of a summary", "not graded: the <judge> is down")
    ours = StrategyResult("handoff", "ours", (start, gap, last), notes=why)
    tail = StrategyResult("tail", "baseline", (start, gap, replace(gap, compactions=2)), notes=why)
    early = StrategyResult(
        "prune", "ours", (start, replace(last, compactions=1)), not_run="It can't go on."
    )
    return Evaluation(
        7, 2, 2, 900, 3.1, ("a talk (en, coding)",), "embedded/small", "court/j<1>", smoke,
        (ours, tail, early), None, "Trust handoff.", answering=Spent(1_234, 56, 0.5),
        grading=Spent(789, 10), interrupted=True, version="1.2.3",
        at=datetime(2031, 5, 6, 7, 8, tzinfo=UTC),
    )  # fmt: skip


PAGES = [
    html(report_recorded.report(recorded())),
    html(report_trials.report(evaluation())),
    html(report_trials.report(asked())),
]
NAMED = ["recorded", "trials", "asked"]


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_a_page_is_whole_and_asks_nothing_of_the_network(page: str) -> None:
    found = Page(page)
    assert not {"script", "link", "img", "iframe"} & set(found.tags)
    assert not {"src", "href", "style", "onclick"} & {name for name, _ in found.attributes}
    assert "url(" not in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_its_policy_allows_its_own_style_alone(page: str) -> None:
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    assert "prefers-color-scheme: dark" in style[1]


def test_the_verdict_comes_first_and_is_no_markup() -> None:
    told = PAGES[0]
    assert "checkpoint keeps &lt;most&gt;." in told
    assert told.index("keeps &lt;most&gt;") < told.index("<table>")
    assert "&lt;b&gt;no&lt;/b&gt; session" in told
    assert "a &lt;talk&gt;" in PAGES[1]


def test_a_session_is_named_in_one_line_whatever_it_is_called() -> None:
    told = html(report_recorded.report(recorded("<script>\x1b[31m\nname")))
    assert "<script>" not in told
    assert "\x1b" not in told


def test_what_is_over_the_budget_has_a_sign_and_what_failed_says_so() -> None:
    assert "! 9,000" in PAGES[0]
    assert "not run" in PAGES[0]
    assert "! 925" in PAGES[1]
    assert "codex: needs a model" in PAGES[1]
    assert "$0.02" in PAGES[1]


def sections(told: str) -> dict[str, str]:
    """Each by its heading."""
    return dict(re.findall(r"<section><h2>(.*?)</h2>(.*?)</section>", told, re.DOTALL))


def row(section: str, name: str) -> list[str]:
    """The figures of a row."""
    cells = re.search(rf'<th scope="row">{re.escape(name)}</th>(.*?)</tr>', section)
    assert cells is not None, section
    return re.findall(r"<td>([^<]*)", cells[1])


def test_what_was_asked_stands_in_a_table_of_its_own() -> None:
    told = sections(PAGES[2])
    read = told["Scores by probe, by window text"]
    answered = told["Scores by probe, by model answers"]
    assert row(read, "handoff") == ["1.00"] * 8
    assert row(answered, "handoff") == ["0.50"] * 8
    assert row(answered, "before") == ["1.00"] * 8
    assert row(read, "prune at 1") == ["1.00"] * 8


def test_what_has_no_grades_has_no_figure_and_is_told() -> None:
    told = sections(PAGES[2])
    answered = told["Scores by probe, by model answers"]
    assert "tail (baseline)" not in answered
    assert "<p>tail: 2 of 2 windows not graded: the &lt;judge&gt; is down</p>" in answered
    assert "<p>handoff: 1 of 2 windows not graded: the &lt;judge&gt; is down</p>" in answered
    coherence = told["Goal coherence, by model answers"]
    assert row(coherence, "handoff") == ["1.00", "–", "0.50"]
    assert row(coherence, "prune") == ["1.00", "0.50", ""]
    assert "tail" not in coherence


def test_what_the_exam_took_is_told_apart_and_who_took_part() -> None:
    told = PAGES[2]
    took = "Answering took 1,234 tokens in, 56 out, $0.50; grading, 789 tokens in, 10 out."
    assert took in sections(told)["Scores by probe, by model answers"]
    assert took not in sections(told)["Tokens, time and cost"]
    facts = re.findall(r"<span>(.*?)</span>", told)
    assert "model embedded/small, judge court/j&lt;1&gt;" in facts
    assert {"seed 7", "2031-05-06 07:08 UTC"} < set(facts)
    assert "interrupted: these are the trials that were finished" in facts


def test_a_smoke_test_is_marked_wherever_its_figures_stand() -> None:
    told = sections(html(report_trials.report(asked(smoke=True))))
    for name in ("Scores by probe", "Goal coherence"):
        assert f"{name}, by model answers (smoke test)" in told
        assert f"{name}, by window text" in told
    assert "SMOKE TEST" in told["Scores by probe, by model answers (smoke test)"]


def test_a_terminal_shows_as_much_in_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for report in (report_trials.report(asked()), report_recorded.report(recorded("\x1b[31m[b]x"))):
        print_table(printed(report), width=WIDTH)
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    assert is_safe(told)
    assert "tail: 2 of 2 windows not graded: the <judge> is down" in told
    assert "Answering took 1,234 tokens in" in told
    assert re.search(r"^prune at 1 +1\.00█", told, re.MULTILINE)
    assert re.search(r"^handoff +1\.00 █{8} +– +0\.50 ████$", told, re.MULTILINE)
    assert re.search(r"^expected +0\.85–0\.95 +0\.70–0\.85$", told, re.MULTILINE)
    assert re.search(r"^tail +not run$", told, re.MULTILINE)
    assert "␛[31m[b]x (codex, 80 items, 1 cut)" in told
