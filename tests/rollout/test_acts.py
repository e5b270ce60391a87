"""What an item is, read from its detail alone."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pinfold.rollout.acts import Step, act, edits, is_quiet, kind_of, searches, told
from pinfold.rollout.items import Item


def result(content: str = "", kind: str = "tool_result", **detail: object) -> Item:
    return Item(n=2, kind=kind, content=content, call_id="c", name="any", detail=detail)


CALL = Item(n=1, kind="tool_call", content='{"path":"a.py","n":3}', call_id="c", name="any")


def test_a_command_is_named_whole() -> None:
    done = act(CALL, result(act="command", command="make\ntest", ok=False, exit_code=2))
    assert done is not None
    assert (done.kind, done.title, done.ok, done.exit_code) == ("command", "$ make\ntest", False, 2)


def test_an_edit_tells_its_files_and_lines() -> None:
    done = act(CALL, result(act="edit", paths=["a.py", "b.py"], added=3, removed=1, diff="+x\n"))
    assert done is not None
    assert (done.title, done.paths) == ("edit a.py, b.py", ("a.py", "b.py"))
    assert (done.added, done.removed, done.diff) == (3, 1, "+x\n")


def test_a_call_that_says_nothing_of_itself_is_named_by_its_tool_and_its_first_text() -> None:
    done = act(CALL, result(act="read"))
    assert done is not None
    assert done.title == "any a.py"


def test_what_the_host_put_into_a_text_is_left_out() -> None:
    item = result("<x>\nout\n[exit code 0]", host=[[0, 4], [8, 21]])
    assert told(item) == "out\n"


def test_a_plan_is_read() -> None:
    done = act(CALL, result(act="plan", plan=[{"text": "Look", "status": "done"}, {"text": 3}]))
    assert done is not None
    assert done.plan == (Step("Look", "done"),)


def test_journals_that_state_no_act() -> None:
    assert act(None, Item(n=1, kind="user", content="Hi.")).kind == "said"
    assert act(None, Item(n=1, kind="context", content="x")).kind == "host"
    assert act(None, Item(n=1, kind="assistant", content="x")) is None
    assert act(CALL, result(refused=True)).kind == "refused"
    assert act(CALL, result(diff="+x\n")).kind == "edit"
    assert act(CALL, result(command="ls")).kind == "command"
    assert act(CALL, result(act="no such")).kind == "read"


def test_journals_that_do_not_state_what_a_tool_is_are_read_by_its_name() -> None:
    def older(name: str, **detail: object) -> Item:
        return replace(result(**detail), name=name)

    assert searches(older("grep", act="read"))
    assert is_quiet(older("grep", act="read"))
    assert not is_quiet(older("recall", act="read"))
    assert kind_of(older("memory_apply", act="read")) == "memory"
    assert kind_of(older("recall", act="read")) == "read"
    patch = replace(CALL, name="apply_patch")
    assert edits(patch, result(ok=False))
    assert edits(patch, result(act="refused", refused=True))
    assert not edits(patch, result(act="read"))


def test_what_a_tool_states_goes_before_its_name() -> None:
    stated = replace(result(act="read", quiet=False, searches=False), name="grep")
    assert not is_quiet(stated)
    assert not searches(stated)
    assert is_quiet(result(act="read", quiet=True))
    assert searches(result(act="read", searches=True))
    assert edits(CALL, result(act="edit"))
    assert edits(CALL, result(act="refused", refused=True, names=["a.py"]))
    assert not edits(CALL, result(act="command"))


def test_a_result_that_is_not_known_did_not_fail() -> None:
    item = Item(n=2, kind="tool_result", state="unknown", detail={"ok": False})
    assert act(CALL, item).ok


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
KEYS = ["act", "title", "command", "paths", "added", "diff", "host", "plan", "words", "exit_code"]


@given(st.dictionaries(st.sampled_from(KEYS), ANY), st.text(max_size=6))
def test_no_detail_of_a_foreign_journal_breaks_it(detail: dict[str, object], text: str) -> None:
    assert act(CALL, result(text, **detail)) is not None
