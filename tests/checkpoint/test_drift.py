"""Which files the work names, by what stands in the journal."""

from datetime import UTC, datetime

import pytest

from pinfold.checkpoint.known import Known
from pinfold.rollout.events import (
    ApprovalDecided,
    ArtifactObserved,
    CoreChanged,
    Data,
    Event,
    GoalSet,
    ItemAdded,
    SessionStarted,
)
from pinfold.rollout.items import Item
from pinfold.rollout.values import CoreStatement

STRAY = "billing/invoice.py"


class Story:
    """Events, one after another."""

    def __init__(self) -> None:
        self.known = Known()
        self.n = self.seq = 0
        self.add(SessionStarted(schema=1, id="s", cwd="/w", version="0"))

    def add(self, data: Data) -> "Story":
        self.seq += 1
        self.known.step(Event(self.seq, datetime(2026, 1, 1, tzinfo=UTC), data))
        return self

    def item(self, kind: str, content: str, **detail: object) -> "Story":
        self.n += 1
        item = Item(n=self.n, kind=kind, content=content, call_id="c", detail=detail)  # type: ignore[arg-type]
        return self.add(ItemAdded(item=item))

    def user(self, text: str, **detail: object) -> "Story":
        return self.item("user", text, **detail)

    def did(self, op: str, uri: str, output: str = "", **detail: object) -> "Story":
        self.item("tool_result", output, **detail)
        return self.saw(op, uri)

    def saw(self, op: str, uri: str) -> "Story":
        return self.add(ArtifactObserved(uri=uri, kind="file", op=op, item=self.n))  # type: ignore[arg-type]

    def asks(self, uri: str = STRAY) -> bool:
        return self.known.unnamed([uri]) == [uri]


def story() -> Story:
    return Story().user("Make the parser in src/parse/words.py faster, please")


def test_a_file_that_nothing_names_asks() -> None:
    on = story().did("read", "src/parse/words.py")
    assert on.asks()
    assert not on.asks("src/parse/words.py")


@pytest.mark.parametrize(
    "words",
    [
        "and mend billing/invoice.py while you are there",
        "and mend @billing/invoice.py.",
        "what invoice.py does is wrong as well: look at it",
        "the files in /w/billing/ need it too, all of them",
    ],
)
def test_what_the_user_types_names_it(words: str) -> None:
    assert not story().user(words).asks()


def test_a_name_without_an_ending_is_a_name_too() -> None:
    assert not story().user("and now the Makefile of it").asks("tools/Makefile")


def test_goal_core_and_open_steps_name_it() -> None:
    assert not story().add(GoalSet(text="mend invoice.py")).asks()
    kept = CoreStatement("never change invoice.py without its test")
    assert not story().add(CoreChanged(add=(kept,))).asks()

    def plan(status: str) -> Story:
        steps = [{"text": "mend invoice.py", "status": status}]
        return story().item("tool_result", "Noted.", act="plan", plan=steps)

    assert not plan("pending").asks()
    assert plan("done").asks()


def test_what_was_read_and_its_folder_name_it() -> None:
    on = story().did("read", "billing/tax.py")
    assert not on.asks("billing/tax.py")
    assert not on.asks()
    assert on.asks("billing/old/invoice.py")


def test_the_test_of_a_file_is_named_with_it() -> None:
    on = story().did("update", "src/parse/words.py")
    for test in ("tests/test_words.py", "spec/words.spec.ts", "x/words_test.go", "y/WordsTest.kt"):
        assert not on.asks(test)
        assert not Story().did("read", test).asks("lib/words.py")
    assert on.asks("lib/words.py")
    assert on.asks("tests/test_invoice.py")


def test_a_result_names_paths_but_not_by_their_last_part() -> None:
    assert not story().did("list", ".", f"{STRAY}\n").asks()
    assert not story().did("list", ".", f"/w/{STRAY}:3: total").asks()
    assert not story().did("list", ".", f"+++ b/{STRAY}").asks()
    assert not story().did("list", ".", "app/billing/invoice.py").asks("w/app/billing/invoice.py")
    assert story().did("list", ".", "invoice.py").asks()


def test_a_search_names_what_it_found_without_the_folders() -> None:
    on = story().did("list", ".").saw("read", STRAY)
    assert not on.asks()
    assert on.asks("billing/tax.py")


@pytest.mark.parametrize("act", ["edit", "refused"])
def test_an_edit_that_failed_or_was_refused_names_nothing(act: str) -> None:
    assert story().item("tool_result", f"{STRAY}: no", act=act, words=f"not {STRAY}").asks()


def test_a_reply_names_nothing() -> None:
    assert story().item("assistant", f"Next I change {STRAY}.").asks()


def test_the_next_request_begins_anew_but_for_what_was_edited() -> None:
    on = story().did("read", STRAY).did("update", "web/page.html")
    assert not on.user("go on").asks()
    assert on.user("Now write the release notes of all that").asks()
    assert not on.asks("web/page.html")
    assert on.asks("web/style.css")


def test_a_folder_that_is_always_allowed() -> None:
    always = ApprovalDecided(call_id="c", verdict="always", folders=("billing",))
    on = story().add(always).user("Now write the release notes of all that")
    assert not on.asks()
    once = ApprovalDecided(call_id="c", verdict="yes", folders=())
    assert story().add(once).asks()


def test_a_huge_word_takes_no_time() -> None:
    assert story().did("list", ".", "x" * 1_000_000 + "/" + "y" * 1_000_000).asks()
