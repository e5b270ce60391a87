"""Rules, constraints, preferences, values, decisions, the state of the task: what a user lays down.

`labelled/` holds messages labelled by hand: `round_*.txt` of our own, commitments marked as
`[[kind: sentence]]`, and `recorded.tsv` on those of the recorded sessions. All but rounds 6 and 10
have taught the rules, so that their figures guard against losing ground; those two never have, and
are what to expect of new words. `bench_commitments` says what was found at first sight.
"""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.labelled import Message, recorded, rounds, score
from pinfold.checkpoint.commitments import Commitments, commitments
from pinfold.checkpoint.commitments_prose import MAX_CHARS, MAX_READ_CHARS
from pinfold.checkpoint.text import one_line

SESSIONS = Path(
    os.environ.get("PINFOLD_SESSIONS") or Path(__file__).parents[3] / "shared" / "sessions"
)
UNSEEN = frozenset({"round_6", "round_10"})
WORDS = [
    "never",
    "Always use",
    "tabs.",
    "port",
    "is 80",
    "?",
    "\n- ",
    "`",
    "```",
    "> ",
    "don't",
    "we",
]


@pytest.mark.parametrize(("name", "messages"), rounds().items(), ids=rounds())
def test_recall_and_precision(name: str, messages: list[Message]) -> None:
    least = 0.85 if name in UNSEEN else 0.90
    found = score(messages, texts)
    assert found.recall >= least, found.missed
    assert found.precision >= least, found.wrong


@pytest.mark.skipif(
    not SESSIONS.is_dir(), reason=f"no recordings in {SESSIONS} (PINFOLD_SESSIONS names the folder)"
)
def test_recall_and_precision_on_recorded_sessions() -> None:
    messages = recorded(SESSIONS)
    assert len(messages) == 556
    found = score(messages, texts)
    assert found.recall >= 0.85, found.missed
    assert found.precision >= 0.80, found.wrong


def texts(message: str) -> list[str]:
    return [each.text for each in commitments(message)]


def agreed(said: str, answer: str) -> list[str]:
    """The lines of what the user agreed to, after the agent said something."""
    known = Commitments()
    known.hear(said, 1)
    known.read(answer, 2)
    return [each.line for each in known.standing() if each.proposed]


def standing(*messages: str) -> list[str]:
    known = Commitments()
    for item, message in enumerate(messages, 1):
        known.read(message, item)
    return [each.text for each in known.standing()]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The staging server listens on port 8080.", "The port is now 9090."),
        ("The API runs on port 8080.", "The API runs on port 8081."),
        ("The release branch is release/2.4.", "The release branch is release/2.5."),
        ("From now on, answer in German.", "From now on, answer in English."),
        ("Always use tabs.", "I prefer spaces, not tabs."),
        ("Don't push anything yet.", "You can push now."),
        ("Der Testserver läuft auf Port 9090.", "Der Testserver läuft auf Port 9191."),
        ("Never touch the vendor folder.", "never touch the vendor folder!"),
        ("Lines must never exceed 80 characters.", "Lines must never exceed 100 characters."),
        ("Keep port 8012.", "Keep port 8013."),
        (
            "The queue listens on port 8012.",
            "This has changed since I told you: The queue listens on port 8013.",
        ),
        ("The contact for orders is Ann.", "Correction: The contact for orders is Ben."),
        ("El servidor corre en el puerto 80.", "Novedad: El servidor corre en el puerto 81."),
    ],
)
def test_a_later_word_on_the_same_subject_takes_the_place(earlier: str, later: str) -> None:
    assert standing(earlier, later) == [later]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The web server listens on port 8080.", "The database listens on port 5432."),
        ("Never touch the vendor folder.", "Never touch the migrations."),
        ("The timeout is 30 seconds.", "The release branch is release/2.4."),
        ("Use pnpm, not npm.", "No emojis in commit messages."),
        ("Never touch port 8000.", "Never touch port 8007."),
        ("Never touch port 8000.", "Keep port 8012."),
        ("The staging server listens on port 80.", "The staging server is owned by Ann."),
        ("Benutze niemals Port 8000.", "Benutze niemals Port 8007."),
    ],
)
def test_what_is_said_of_something_else_stands(one: str, other: str) -> None:
    assert standing(one, other) == [one, other]


@pytest.mark.parametrize(
    ("key", "value"),
    [("staging.port", "9090"), ("port of staging", "The staging server listens on port 9090")],
)
def test_a_fact_on_the_users_word_takes_the_place_of_an_older_word(key: str, value: str) -> None:
    known = Commitments()
    known.read("The staging server listens on port 8080.", 1)
    known.read("The test server listens on port 7070.", 2)
    known.read("The staging server listens on port 9090.", 3)
    known.recorded(key, value)
    assert [each.item for each in known.standing()] == [2, 3]
    known.recorded("staging.port", "9191")
    assert [each.item for each in known.standing()] == [2]


@pytest.mark.parametrize(
    ("said", "answer", "decided"),
    [
        (
            "The caches overlap. I'd merge them into one. That saves 40 MB.",
            "sounds good, do that",
            "I'd merge them into one.",
        ),
        ("Two ways:\nA) keep the cron job\nB) use the timer", "ok, option B", "use the timer"),
        ("Ways:\n1. Poll.\n2. Subscribe to the feed.", "the second", "Subscribe to the feed."),
        ("Shall I drop the old index?", "yes please", "Shall I drop the old index?"),
        ("My plan:\n- split it by entity\n\nShall I go ahead?", "go ahead", "split it by entity"),
        (
            "Ich schlage vor, später zu laden.",
            "Einverstanden.",
            "Ich schlage vor, später zu laden.",
        ),
        ("Yo lo haría así: Guardar todo en local.", "Vale, hazlo así.", "Guardar todo en local."),
        ("Je propose de garder le format.", "D'accord.", "Je propose de garder le format."),
    ],
)
def test_what_the_user_agrees_to_is_a_decision_in_the_agents_words(
    said: str, answer: str, decided: str
) -> None:
    assert f"- decision #2 (“{answer}” to #1): {decided}" in agreed(said, answer)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("All tests pass. I renamed the helper.", "ok thanks"),
        ("All tests pass.", "Sounds good!"),
        ("I'd merge the two caches.", "Why?"),
        ("I'd merge the two caches.", "no thanks"),
        ("I would merge the caches.", "ok, but what does that cost?"),
        ("Shall I push?", "not yet"),
        ("Which port does it use?", "9155"),
        ("", "Agreed."),
    ],
)
def test_a_word_of_thanks_or_doubt_agrees_to_nothing(said: str, answer: str) -> None:
    assert agreed(said, answer) == []


def test_only_what_was_said_last_is_agreed_to() -> None:
    known = Commitments()
    known.hear("I'd merge the two caches.", 1)
    known.read("Here is the log.", 2)
    known.read("Agreed.", 3)
    assert known.standing() == ()


def test_text_that_is_quoted_or_pasted_is_no_commitment() -> None:
    pasted = """What do you make of this?

```
Always use sudo.
```
> Never use eval.

    Do not call this twice.

ERROR: you must restart the server
The style guide says "always use tabs".
"""
    assert standing(pasted) == []


@pytest.mark.parametrize(
    "text",
    ["As I said, don't touch the vendor folder.", "I told you already: use tabs, not spaces."],
)
def test_a_rule_that_is_said_again_is_no_report(text: str) -> None:
    assert standing(text) == [text]


def test_a_list_is_read_by_its_head_and_by_what_it_answers() -> None:
    assert standing("Requirements:\n- runs on a Pi\n- is it fast?\n") == ["runs on a Pi"]
    assert standing("1. no\n2. the smaller one\n3. sqlite") == ["the smaller one", "sqlite"]
    assert standing("Steps:\n- runs on a Pi") == []


def test_a_pasted_transcript_goes_as_a_whole() -> None:
    pasted = "\n".join(f"=== Step {n} ===\nNever press Ctrl+C.\nok {n}" for n in range(9))
    assert standing(f"Never touch vendor/.\n\n{pasted}\n=== end ===\n\nUse tabs.") == [
        "Never touch vendor/.",
        "Use tabs.",
    ]


def test_a_rewind_takes_back_what_came_after() -> None:
    known = Commitments()
    known.read("Never touch vendor/.", 3)
    known.read("Always use tabs.", 9)
    known.retract(after=5)
    assert [each.item for each in known.standing()] == [3]


@pytest.mark.parametrize("word", ["never ", "the port is ", "i ", "x, ", "- ", "( ", "not ", "1. "])
def test_no_text_is_too_odd(word: str) -> None:
    for text in (word * 20_000, word * (MAX_CHARS // len(word)), "\n".join([word] * 5_000)):
        assert len(texts(text)) <= MAX_READ_CHARS


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=9), max_size=30).map(" ".join))
def test_any_text_yields_nothing_but_its_own_words(text: str) -> None:
    for each in commitments(text):
        assert each.text in one_line(text)
