"""Codex rollouts: every rule of the format, on rollouts made for the purpose."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.adopted import data, items, window
from fakes.foreign import PATCH, START, Codex, codex_session, damaged, said
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.codex import read_lines
from pinfold.adopt.pairs import NO_RESULT
from pinfold.rollout import codec, events, values
from pinfold.rollout.events import ArtifactObserved, ItemAdded, RequestFinished, WindowReplaced


def adopt(made: Codex) -> Adoption:
    return read_lines(made.encoded(), Path("rollout.jsonl"))


def adopted(write: Callable[[Codex], object]) -> Adoption:
    """What comes of a rollout with one prompt and then what `write` adds."""
    made = Codex()
    made.meta()
    made.turn_context()
    made.user("Go.")
    write(made)
    return adopt(made)


def kinds(adoption: Adoption) -> list[str]:
    return [item.kind for item in items(adoption)]


def test_the_first_session_meta_wins() -> None:
    adoption = adopted(lambda made: made.meta(id="other", cwd="/other"))
    started = adoption.events[0].data
    assert isinstance(started, events.SessionStarted)
    assert started.adopted == values.AdoptedFrom("codex", "rollout.jsonl", "019-a")
    assert (started.cwd, started.version) == ("/p", "0.141.0")
    assert (adoption.session, adoption.title, adoption.model) == ("019-a", "Go.", "gpt-5.5")
    assert adoption.started_at == START
    (context,) = data(adoption, events.ContextSet)
    assert context.context.instructions == "Be brief."


def test_each_event_keeps_its_own_time() -> None:
    adoption = adopted(lambda made: made.assistant("Gone."))
    added = [event for event in adoption.events if isinstance(event.data, ItemAdded)]
    assert [(event.ts - START).seconds for event in added] == [2, 5]


def test_words_that_stand_twice_count_once_and_injected_ones_are_context() -> None:
    def write(made: Codex) -> None:
        made.message("user", "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>")
        made.message("user", "<user_instructions>Be kind.</user_instructions>")
        made.message("developer", "You may do all.")
        made.assistant("Hello.")

    adoption = adopted(write)
    assert kinds(adoption) == ["user", "context", "context", "context", "assistant"]
    assert adoption.skipped == {}


def test_output_between_two_inputs_is_one_response() -> None:
    def write(made: Codex) -> None:
        made.item("reasoning", summary=[{"type": "summary_text", "text": "Think."}])
        made.assistant("I look.")
        made.call("a", "ls")
        made.call("b", "pwd")
        made.result("b")
        made.result("a")
        made.assistant("Done.")

    found = items(adopted(write))
    assert [item.response for item in found] == [0, 1, 1, 1, 1, 1, 1, 2]
    assert [item.name for item in found if item.kind == "tool_result"] == ["exec_command"] * 2
    assert found[1].content == "Think."


def test_every_kind_of_call_is_read() -> None:
    def write(made: Codex) -> None:
        made.item("custom_tool_call", name="apply_patch", input=PATCH, call_id="a")
        made.item("custom_tool_call_output", call_id="a", output="Exit code: 0\nSuccess.")
        action = {"type": "exec", "command": ["bash", "-lc", "ls"]}
        made.item("local_shell_call", call_id="b", action=action, status="completed")
        made.item("local_shell_call_output", call_id="b", output="x")
        made.item("web_search_call", action={"type": "search", "query": "q"})
        made.item("tool_search_call", call_id="c", arguments={"query": "q"})
        made.item("tool_search_output", call_id="c", tools=[{"name": "t"}])
        made.item("function_call", name="_get", namespace="mcp", arguments="{}", call_id="d")
        made.item("function_call_output", call_id="d", output={"content": "old", "success": True})

    found = items(adopted(write))
    calls = [item for item in found if item.kind == "tool_call"]
    results = {item.call_id: item for item in found if item.kind == "tool_result"}
    names = ["apply_patch", "local_shell", "web_search", "tool_search", "_get"]
    assert [call.name for call in calls] == names
    assert json.loads(calls[0].content) == {"input": PATCH}
    assert calls[4].detail == {"namespace": "mcp"}
    contents = [results[call.call_id].content for call in calls]
    assert contents[0] == "Exit code: 0\nSuccess."
    assert contents[2] == NO_RESULT
    assert contents[4] == "old"
    assert json.loads(contents[3])["tools"] == [{"name": "t"}]


def test_an_output_may_be_a_list_with_images() -> None:
    def write(made: Codex) -> None:
        made.call("a", "shot")
        made.result(
            "a",
            [
                {"type": "input_text", "text": "Here:"},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
                {"type": "input_image", "image_url": "https://host/x.png"},
            ],
        )

    result = items(adopted(write))[-1]
    assert result.content == "Here:\n[image: https://host/x.png]"
    assert [(image.media_type, image.data) for image in result.images] == [("image/png", "aGk=")]


def test_what_the_provider_counted_belongs_to_the_response_before() -> None:
    def write(made: Codex) -> None:
        made.event("token_count", info=None)
        made.call("a", "ls")
        made.result("a")
        made.tokens(1_000)
        made.tokens(1_000)  # the rate limits changed
        made.assistant("Done.")
        made.tokens(2_000, window=100_000)

    adoption = adopted(write)
    first, second = data(adoption, RequestFinished)
    assert first.usage == values.Usage(input=1_000, cached=5, output=7)
    assert (first.response, second.response, second.model) == (1, 2, "gpt-5.5")
    seen = [event for event in adoption.events if event.seq <= second.through_seq]
    assert isinstance(seen[-1].data, RequestFinished)
    assert adoption.context_window == 100_000


def test_a_switch_of_models_takes_the_window_that_the_turn_names() -> None:
    def write(made: Codex) -> None:
        made.event("task_started", model_context_window=100_000)
        made.turn_context("gpt-5.3-codex")
        made.user("Again.")

    changes = data(adopted(write), events.ModelChanged)
    assert [(change.model, change.context_window) for change in changes] == [
        ("gpt-5.5", 922_000),
        ("gpt-5.3-codex", 100_000),
    ]


def test_turns_begin_and_end_where_the_rollout_says_so() -> None:
    turns = data(adopt(codex_session()), events.TurnFinished)
    assert [(turn.turn, turn.state, turn.reason) for turn in turns] == [
        (1, "done", ""),
        (2, "done", ""),
        (3, "interrupted", "interrupted"),
    ]


def test_without_marks_every_prompt_begins_a_turn() -> None:
    adoption = adopted(lambda made: (made.assistant("Gone."), made.user("Come back.")))
    assert [turn.state for turn in data(adoption, events.TurnFinished)] == ["done", "interrupted"]


def test_a_replacement_history_is_the_new_base() -> None:
    summary = "Another language model started to solve this problem and it did."

    def write(made: Codex) -> None:
        made.message("user", "<environment_context>x</environment_context>")
        made.assistant("Gone.")
        made.user("Go.")
        made.call("a", "ls")
        made.result("a")
        entries = [said("user", text) for text in ("Go.", "Unheard.", "Go.", summary)]
        entries.append(said("user", "<environment_context>x</environment_context>"))
        history = [{"type": "message", **entry} for entry in entries]
        history.append({"type": "compaction", "encrypted_content": "secret"})
        made.line("compacted", {"message": "", "replacement_history": history, "window_id": 1})
        made.event("context_compacted")
        made.assistant("On we go.")

    adoption = adopted(write)
    (replaced,) = data(adoption, WindowReplaced)
    assert (replaced.reason, replaced.strategy, replaced.meta) == (
        "adopted",
        "codex",
        {"window_id": 1},
    )
    inserted = {item.n: item for item in replaced.inserted}
    first, unheard, second, told, context, opaque = (n for n, _ in replaced.window)
    assert (first, second, context) == (1, 4, 2)
    assert inserted[unheard].content == "Unheard."
    assert (inserted[told].kind, inserted[told].content) == ("summary", summary)
    assert inserted[opaque].opaque == {"type": "compaction", "encrypted_content": "secret"}
    shown = [item.content for item in window(adoption).items]
    assert shown[-1] == "On we go."
    assert len(shown) == 7


def test_an_older_compaction_leaves_the_users_words_and_the_summary() -> None:
    def write(made: Codex) -> None:
        made.call("a", "ls")
        made.result("a")
        made.line("compacted", {"message": "We did it."})

    adoption = adopted(write)
    assert [(item.kind, item.content) for item in window(adoption).items] == [
        ("user", "Go."),
        ("summary", "We did it."),
    ]
    assert "only its summary" in adoption.notes[0]


@pytest.mark.parametrize(("turns", "left"), [(1, ["Go.", "One."]), (2, ["Go."]), (9, [])])
def test_a_rollback_takes_turns_out_of_the_window(turns: int, left: list[str]) -> None:
    def write(made: Codex) -> None:
        for text in ("One.", "Two."):
            made.user(text)
            made.call(text, "ls")
            made.result(text)
        made.event("thread_rolled_back", num_turns=turns)

    adoption = adopted(write)
    (replaced,) = data(adoption, WindowReplaced)
    assert (replaced.reason, replaced.meta) == ("rewind", {"num_turns": turns})
    assert [item.content for item in window(adoption).items if item.kind == "user"] == left
    assert kinds(adoption).count("user") == 3


def test_artifacts_are_observed_with_the_result_and_without_a_hash() -> None:
    def write(made: Codex) -> None:
        made.call("a", "cd app && sed -n '1,9p' x.py && cat y.py | head")
        made.result("a", "Process exited with code 0\nOutput:\nx")
        made.call("b", "cat gone.py")
        made.result("b", "Process exited with code 1\nOutput:\nno such file")
        arguments = {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}
        made.item("function_call", name="shell", arguments=json.dumps(arguments), call_id="c")
        made.result("c", json.dumps({"output": "Success.", "metadata": {"exit_code": 0}}))
        patch = "*** Begin Patch\n*** Add File: /p/new.py\n+x\n*** Delete File: /q/old.py\n"
        patch += "*** Update File: a.py\n*** Move to: b.py\n@@\n-a\n+b\n*** End Patch"
        made.item("custom_tool_call", name="apply_patch", input=patch, call_id="d")
        made.item("custom_tool_call_output", call_id="d", output="Exit code: 0\nSuccess.")
        made.item("custom_tool_call", name="apply_patch", input=PATCH, call_id="e")
        failure = "apply_patch verification failed: x"
        made.item("custom_tool_call_output", call_id="e", output=failure)

    adoption = adopted(write)
    seen = data(adoption, ArtifactObserved)
    assert [(artifact.op, artifact.uri) for artifact in seen if artifact.kind == "file"] == [
        ("read", "app/x.py"),
        ("update", "app/x.py"),
        ("create", "new.py"),
        ("delete", "/q/old.py"),
        ("update", "a.py"),
        ("delete", "a.py"),
        ("create", "b.py"),
    ]
    commands = [artifact for artifact in seen if artifact.kind == "command"]
    assert [command.uri for command in commands][1] == "cmd:cat gone.py"
    assert len(commands) == 3
    assert {artifact.hash for artifact in seen} == {None}
    results = {item.n: item for item in items(adoption) if item.kind == "tool_result"}
    assert all(artifact.item in results for artifact in seen)
    exits = [result.detail.get("exit_code") for result in results.values()]
    assert exits == [0, 1, 0, 0, None]
    assert [result.detail["ok"] for result in results.values()] == [True, False, True, True, False]


def test_a_sub_agents_file_says_so() -> None:
    made = Codex()
    made.meta(source={"subagent": {"thread_spawn": {"parent_thread_id": "019-p", "depth": 1}}})
    made.user("Look.")
    assert adopt(made).notes == ("This is a sub-agent's session, started by session 019-p.",)


def test_the_oldest_rollouts_have_no_envelope() -> None:
    lines = [
        {"id": "old", "timestamp": "2025-05-01T10:00:00.000Z", "instructions": "Be brief."},
        {"record_type": "state"},
        {"type": "message", **said("user", "Go.")},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "a"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ]
    adoption = read_lines([json.dumps(line).encode() for line in lines], Path("old.jsonl"))
    assert (adoption.session, adoption.skipped) == ("old", {})
    assert kinds(adoption) == ["user", "tool_call", "tool_result"]
    assert adoption.started_at.year == 2025


def test_what_is_not_understood_is_counted_by_name() -> None:
    def write(made: Codex) -> None:
        made.line("world_state", {})
        made.line("world_state", {})
        made.event("brand_new")
        made.item("brand_new")
        made.line("event_msg", 5)

    adoption = adopted(write)
    assert adoption.skipped == {
        "world_state": 2,
        "event_msg brand_new": 1,
        "response_item brand_new": 1,
        "event_msg without a payload": 1,
    }


def test_torn_and_unreadable_lines_are_told() -> None:
    lines = codex_session().encoded()
    lines.insert(3, b"{half\n")
    lines.insert(3, b"[]\n")
    lines[-1] = lines[-1][:20]
    adoption = read_lines(lines, Path("torn.jsonl"))
    assert adoption.notes == ("The last line is half-written.",)
    assert adoption.skipped == {"unreadable line": 1, "line without an object": 1}


def test_a_lone_surrogate_costs_one_character_not_the_line() -> None:
    lines = codex_session().encoded()
    lines.append(json.dumps({"type": "message", **said("user", "a\ud800b")}).encode())
    assert items(read_lines(lines, Path("x.jsonl")))[-1].content == "a\ufffdb"


def test_a_rollout_without_a_message_is_no_session() -> None:
    made = Codex()
    made.meta()
    with pytest.raises(NotASession, match="without any messages"):
        adopt(made)


@given(st.integers(0, 10_000))
def test_damage_never_raises_and_never_breaks_a_pair(seed: int) -> None:
    lines = damaged(codex_session().encoded(), seed)
    try:
        adoption = read_lines(lines, Path("damaged.jsonl"))
    except NotASession:
        return
    window(adoption)
    for event in adoption.events:
        codec.decode(codec.encode(event))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["a", "ls"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "role", "call_id"]), inner, max_size=3)
    ),
    max_leaves=6,
)
TYPES = ["message", "function_call", "function_call_output", "token_count", "thread_rolled_back"]
FIELDS = ["role", "content", "call_id", "name", "arguments", "output", "info", "num_turns", "id"]
PAYLOADS = st.builds(
    lambda kind, fields: {"type": kind, **fields},
    st.sampled_from(TYPES) | VALUES,
    st.dictionaries(st.sampled_from([*FIELDS, "message", "replacement_history"]), VALUES),
)
RECORDS = st.builds(
    lambda kind, payload: {"type": kind, "payload": payload},
    st.sampled_from(["session_meta", "turn_context", "response_item", "event_msg", "compacted"]),
    PAYLOADS,
)


@settings(max_examples=50)
@given(st.lists(st.one_of(RECORDS, PAYLOADS, VALUES), max_size=12))
def test_no_json_whatever_raises_or_breaks_a_pair(records: list) -> None:
    lines = [json.dumps(record).encode() for record in records]
    try:
        window(read_lines(lines, Path("any.jsonl")))
    except NotASession:
        return
