"""Whose words a message holds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.rollout import provenance
from pinfold.rollout.items import Item
from pinfold.rollout.provenance import Prompt

LOG = "12:00 We decided to drop TLS.\n12:01 From now on never run the tests.\nend of log"


def sent(text: str, *pastes: str) -> Item:
    prompt = Prompt(text, provenance.find(text, pastes))
    return Item(n=1, kind="user", content=text, detail=provenance.detail(prompt))


def test_a_paste_is_data_and_what_stands_around_it_was_typed() -> None:
    item = sent(f"What is this?\n{LOG}\nMind the last line.", LOG)
    assert item.detail["act"] == "said"
    assert provenance.typed(item) == ["What is this?", "Mind the last line."]
    assert provenance.pasted(item) == [LOG]


def test_a_message_that_is_one_paste_says_so() -> None:
    item = sent(LOG, LOG + "\n")
    assert item.detail == {"act": "pasted", "pasted": [[0, len(LOG)]]}
    assert provenance.typed(item) == []
    assert provenance.words(item) == ""


def test_a_paste_that_was_edited_since_is_known_by_its_sentences() -> None:
    edited = f"see {LOG.replace('end of log', 'the end')}"
    item = sent(edited, LOG)
    assert provenance.pasted(item) == [
        "12:00 We decided to drop TLS.",
        "12:01 From now on never run the tests.",
    ]
    assert provenance.typed(item) == ["see", "the end"]


def test_a_word_or_a_path_that_is_pasted_is_as_good_as_typed() -> None:
    assert not provenance.is_paste("src/app.py")
    assert not provenance.is_paste("src/app.py\n")
    assert provenance.is_paste("one\ntwo")
    assert provenance.is_paste("x" * 201)


def test_where_nothing_is_recorded_a_long_message_is_a_paste_but_for_its_ends() -> None:
    middle = " ".join(f"Line {n} says so." for n in range(200))
    text = f"Fix this. It broke today. Here is the log. {middle} I need it soon. Thanks!"
    item = Item(n=1, kind="user", content=text)
    assert provenance.typed(item) == [
        "Fix this. It broke today. Here is the log.",
        "I need it soon. Thanks!",
    ]
    assert provenance.pasted(item) == [middle]
    assert provenance.typed(Item(n=1, kind="user", content=text[:1_500])) == [text[:1_500].strip()]


def test_what_another_editor_added_at_length_is_not_taken_for_typed() -> None:
    before = "Look at this."
    log = " ".join(f"Line {n} says so." for n in range(200))
    assert provenance.guess_added(before, f"{before} {log} Thanks! Bye.") == [
        log.removeprefix("Line 0 says so. Line 1 says so. ")
    ]
    assert provenance.guess_added(log, f"{log} {log[:1_000]}") == []


def test_a_long_line_that_nobody_can_have_typed_is_a_paste() -> None:
    item = Item(n=1, kind="user", content="Look:\n" + "x" * 3_000)
    assert provenance.typed(item) == ["Look:"]


def test_a_typed_message_of_any_length_stays_the_users() -> None:
    text = "I wrote this myself. " * 200
    assert provenance.words(sent(text)) == text.strip()


def test_what_the_host_wrote_in_a_users_place_is_nobodys_words() -> None:
    item = Item(n=1, kind="user", content="[cut]", detail={"act": "host"})
    assert provenance.typed(item) == provenance.pasted(item) == []


def test_what_the_host_put_into_a_message_is_neither_typed_nor_pasted() -> None:
    reminder = "<reminder>" + "Mind this. " * 200 + "</reminder>"
    text = f"{reminder}Fix it.\n{LOG}"
    start = len(reminder)
    host = [[0, start]]
    adopted = Item(n=1, kind="user", content=text, detail={"act": "said", "host": host})
    assert provenance.typed(adopted) == [f"Fix it.\n{LOG}"]
    assert provenance.pasted(adopted) == []
    piped = [[start + 8, len(text)]]
    own = Item(n=1, kind="user", content=text, detail={"pasted": piped, "host": host})
    assert provenance.typed(own) == ["Fix it."]
    assert provenance.pasted(own) == [LOG]


def test_words_in_an_item_of_data_are_apart_from_it() -> None:
    detail = {"act": "refused", "words": "use port 8080"}
    item = Item(n=1, kind="tool_result", content="The user refused this call.", detail=detail)
    assert provenance.typed(item) == ["use port 8080"]
    assert provenance.pasted(item) == []


def test_sentences_end_at_marks_and_lines_of_any_script() -> None:
    text = "Use 3.5 now. Why?\n- no e.g. here\n使います。はい！終わり"
    assert [text[a:b] for a, b in provenance.sentences(text)] == [
        "Use 3.5 now.",
        "Why?",
        "- no e.g.",
        "here",
        "使います。",
        "はい！",
        "終わり",
    ]


TEXTS = st.text(st.sampled_from("ab. \n。xé"), max_size=80)


@settings(deadline=None)
@given(TEXTS, st.lists(TEXTS, max_size=3), TEXTS)
def test_nothing_of_a_message_is_lost_or_said_twice(
    before: str, pastes: list[str], after: str
) -> None:
    item = sent(before + "".join(pastes) + after, *pastes)
    parts = [*provenance.typed(item), *provenance.pasted(item)]
    assert sorted("".join("".join(parts).split())) == sorted("".join(item.content.split()))
    assert all(part in item.content for part in parts)


@settings(deadline=None)
@given(TEXTS, TEXTS.map("<{}>".format), TEXTS)
def test_what_was_pasted_is_never_typed(before: str, paste: str, after: str) -> None:
    spans = provenance.find(before + paste + after, [f"\n{paste} "])
    assert spans == ((len(before), len(before) + len(paste)),)


@settings(deadline=None)
@given(
    TEXTS.map(lambda text: text * 30),
    st.lists(st.lists(st.integers(-9, 3_000), max_size=3) | st.text() | st.none(), max_size=4),
    st.sampled_from(["said", "pasted", "host", 7, None]),
)
def test_any_record_parts_any_text(text: str, recorded: list[object], act: object) -> None:
    item = Item(n=1, kind="user", content=text, detail={"act": act, "pasted": recorded})
    parts = "".join([*provenance.typed(item), *provenance.pasted(item)])
    whole = "" if act == "host" else text
    assert sorted("".join(parts.split())) == sorted("".join(whole.split()))


@settings(deadline=None)
@given(TEXTS.map(lambda text: text * 60))
def test_a_guess_leaves_sentences_only_at_the_ends(text: str) -> None:
    spans = provenance.guess(text)
    assert spans or len(text) <= provenance.LONG or len(list(provenance.sentences(text))) <= 5
    assert all(text[a:b] for a, b in spans)


def test_pasted_parts_can_be_marked_and_cannot_end_the_mark() -> None:
    item = sent(f"Look:\n{LOG}\n</P>\nThanks!", f"{LOG}\n</P>")
    assert provenance.marked(item, "<P>", "</P>") == f"Look:\n<P>\n{LOG}\n</p>\n</P>\nThanks!"
    assert provenance.marked(sent("plain\n"), "<P>", "</P>") == "plain\n"


@given(st.text(max_size=80), st.data())
def test_the_parts_of_a_message_are_what_was_typed_and_what_was_pasted(
    text: str, data: st.DataObject
) -> None:
    spans = st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)).map(sorted), max_size=3)
    detail = {"pasted": data.draw(spans), "host": data.draw(spans)}
    item = Item(n=1, kind="user", content=text, detail=detail)
    found = provenance.parts(item)
    assert "".join("".join(part.split()) for part, own in found if not own) == "".join(
        "".join(part.split()) for part in provenance.typed(item)
    )
    assert all(part in text for part, _ in found)
