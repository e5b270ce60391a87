"""Rules, constraints, preferences, values, decisions, the state of the task: what a user lays down.

`labelled/*.txt` hold messages labelled by hand, commitments as `[[kind: sentence]]`. Each round was
written before the rules had met it. On first sight they found of round 2, 3 and 4 0.57, 0.60 and
0.38 of the commitments, at a precision of 1.00, 0.94 and 0.89; what they had missed then taught
them. So the figures here guard against losing ground, and those are what to expect of new words.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.checkpoint.commitments import Commitments, commitments
from pinfold.checkpoint.text import one_line

LABELLED = Path(__file__).parent / "labelled"
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
MARK = re.compile(r"\[\[(\w+): (.*?)\]\]", re.DOTALL)


def labelled(name: str) -> list[tuple[str, list[str]]]:
    """Messages, and the commitments in each."""
    messages = (LABELLED / f"{name}.txt").read_text("utf-8").split("\n---\n")
    return [
        (MARK.sub(lambda mark: mark[2], message), [text for _, text in MARK.findall(message)])
        for message in messages
    ]


@pytest.mark.parametrize("name", [f"round_{number}" for number in (1, 2, 3, 4)])
def test_recall_and_precision(name: str) -> None:
    hits, missed, wrong = 0, [], []
    for message, wanted in labelled(name):
        found = [" ".join(each.text.split()) for each in commitments(message)]
        missed += [each for each in wanted if not any(same(each, text) for text in found)]
        hits += len(wanted)
        wrong += [text for text in found if not any(same(each, text) for each in wanted)]
    right = hits - len(missed)
    recall, precision = right / hits, right / (right + len(wrong))
    print(f"{name}: {hits} commitments, {recall=:.3f} {precision=:.3f}")
    assert recall >= 0.95, missed
    assert precision >= 0.98, wrong


def same(label: str, found: str) -> bool:
    label = " ".join(label.split()).rstrip(".")
    return label in found or found.rstrip(".") in label


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
        ("Benutze niemals Port 8000.", "Benutze niemals Port 8007."),
    ],
)
def test_what_is_said_of_something_else_stands(one: str, other: str) -> None:
    assert standing(one, other) == [one, other]


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


def test_a_rewind_takes_back_what_came_after() -> None:
    known = Commitments()
    known.read("Never touch vendor/.", 3)
    known.read("Always use tabs.", 9)
    known.retract(after=5)
    assert [each.item for each in known.standing()] == [3]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=9), max_size=30).map(" ".join))
def test_any_text_yields_nothing_but_its_own_words(text: str) -> None:
    for each in commitments(text):
        assert each.text in one_line(text)
