"""Statements of memory are lines that can be read back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.memories.statements import (
    KINDS,
    Citation,
    MemoryStatement,
    cited,
    parse,
    record,
    statements,
)
from pinfold.sanitize import one_line

TEXTS = st.text(max_size=60).map(one_line).map(str.strip)
CITES = st.builds(
    Citation, st.from_regex(r"[0-9a-f][0-9a-f-]{0,35}", fullmatch=True), st.integers(1, 10**9 - 1)
)
ANY = st.builds(
    MemoryStatement,
    st.sampled_from(KINDS),
    TEXTS.filter(bool),
    st.lists(CITES, min_size=1, max_size=4).map(tuple),
    TEXTS,
).flatmap(
    lambda made: st.builds(
        MemoryStatement,
        st.just(made.kind),
        st.just(made.text),
        st.just(made.cites),
        st.just(made.quote),
        TEXTS if made.quote else st.just(""),
    )
)


@settings(max_examples=40)
@given(st.lists(ANY, max_size=4))
def test_a_record_reads_back_as_it_was_written(every: list[MemoryStatement]) -> None:
    assert statements("# A heading\n\nprose [x#1]\n" + record(every)) == every


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    for line in text.splitlines():
        parse(line)
    statements(text)


def test_a_line_cites_items_of_sessions() -> None:
    line = '- fact: The limit is 40 [really]. [0198-c1#31, 0198-c2#4] "LIMIT = 40" in "app/x.py"'
    found = parse(line)
    assert found == MemoryStatement(
        "fact",
        "The limit is 40 [really].",
        (Citation("0198-c1", 31), Citation("0198-c2", 4)),
        "LIMIT = 40",
        "app/x.py",
    )
    assert [str(source) for source in cited(line)] == ["0198-c1#31", "0198-c2#4"]
    assert parse("- fact: it cites nothing") is None
    assert parse("- guess: another kind [0198-c1#31]") is None
