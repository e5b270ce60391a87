"""Which lines stand: within any budget, what tells most, the user's words before all."""

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.digests import Make, asked, called, read, record, replied
from pinfold.digests.choice import ChosenLines, choose, render, size
from pinfold.digests.record import DigestRecord

WORDS = st.sampled_from(
    [
        *("retry", "the", "upload", "uses", "port", "8443", "and", "cart.py", "total_price"),
        *("failed", "because", "it", "was", "not", "rounded", "so", "we", "keep", "Decimal"),
        *("in", "invoices", "äöü", "数据库", "never", "TLS"),
    ]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=15).map(" ".join)


def _makes(text: str) -> st.SearchStrategy[Make]:
    kinds: list[Callable[[str], Make]] = [
        asked,
        replied,
        lambda said: called("command", said, command=f"make {said[:9]}"),
        lambda said: called("edit", "", paths=[f"{said[:9]}.py"], diff=f"@@\n+{said}\n"),
        lambda said: called("agent", f"{said}. {said[:20]}!"),
    ]
    return st.sampled_from(kinds).map(lambda kind: kind(text))


RECORDS = st.lists(SENTENCES.flatmap(_makes), max_size=25).map(lambda makes: record(*makes))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS, st.integers(0, 600))
def test_any_budget_holds(made: DigestRecord, budget: int) -> None:
    digest = choose(made, budget)
    # What a line takes beside others is estimated: the assembly counts the whole and corrects it.
    assert size(digest) <= budget + len(digest.lines)
    numbers = [line.n for line in digest.lines]
    assert numbers == sorted(numbers)
    assert len(digest.lines) + len(digest.left) == len(made.lines())


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS)
def test_with_room_for_all_nothing_that_tells_more_is_left_out(made: DigestRecord) -> None:
    digest = choose(made, 1_000_000)
    have = {word for line in digest.lines for word in line.words}
    assert all(have.issuperset(line.words) for line in digest.left if line.kind != "pasted")
    assert " … " not in render(digest)


def _talk() -> DigestRecord:
    chatter = [
        replied(f"I looked at module_{n}.py and found setting_{n} = {n * 37}.") for n in range(60)
    ]
    return record(asked("Never change the schema of table orders_v2."), *chatter)


def test_the_users_words_stand_while_they_take_at_most_half() -> None:
    assert "#1 USER: Never change the schema of table orders_v2." in read(_talk(), 60)


def test_a_line_that_the_user_keeps_stands_before_all_others() -> None:
    made = _talk()
    left = choose(made, 200).left
    kept = ChosenLines(made, made.lines(), 200, {left[0].key}).digest()
    assert left[0] in kept.lines


def test_repeated_boilerplate_counts_little() -> None:
    same = [replied("As always I will proceed with great care and diligence.") for _ in range(20)]
    made = record(*same, replied("The port of the billing service is 7443."))
    assert "7443" in "\n".join(read(made, 25))


def test_the_agents_echo_does_not_stand_for_the_users_words() -> None:
    said = "Keep the retry limit of the uploader at 17 attempts."
    assert f"USER: {said}" in "\n".join(read(record(replied(said), asked(said)), 400))


def test_short_words_of_the_user_stand_without_what_they_answer_where_room_is_short() -> None:
    turns: list[Make] = []
    for n in range(6):
        turns += replied(f"I have read module {n} and all of its helpers."), asked(f"Read mod {n}.")
    lines = read(record(*turns), 110)
    assert [n for n in range(6) if not any(f"USER: Read mod {n}." in line for line in lines)] == []
