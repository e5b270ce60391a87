"""Claude Code sessions: each rule of the format on a session made for it."""

from pathlib import Path

import pytest

from fakes.adopted import data, items, window
from fakes.foreign_claude import CWD, PICTURE, Claude, claude_session, text, tokens
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.claude import read_lines
from pinfold.rollout.events import (
    ArtifactObserved,
    ItemAdded,
    ItemsMarked,
    RequestFinished,
    TurnFinished,
    WindowReplaced,
)
from pinfold.rollout.items import Image


def said(adoption: Adoption) -> list[tuple[str, str]]:
    return [(item.kind, item.content) for item in items(adoption)]


def shown(adoption: Adoption) -> list[str]:
    return [item.content for item in window(adoption).items]


def replaced(adoption: Adoption) -> list[WindowReplaced]:
    return data(adoption, WindowReplaced)


def test_start_names_the_session_and_its_folder() -> None:
    made = Claude()
    made.user("Hi.")
    adoption = made.read()
    assert (adoption.tool, adoption.session, adoption.cwd) == ("claude", "s-1", CWD)
    assert adoption.notes == ("It last worked on the Git branch main.",)
    assert adoption.started_at == adoption.events[0].ts


def test_all_that_a_session_can_hold() -> None:
    adoption = claude_session().read()
    assert shown(adoption) == [
        "What was done.",
        f'{{"file_path":"{CWD}/CHANGELOG.md","old_string":"","new_string":"x"}}',
        "done",
        '{"command":"make test"}',
        "failed",
        "It fails.",
    ]
    assert [event.reason for event in replaced(adoption)] == ["rewind", "rewind", "adopted"]
    assert adoption.skipped == {}
    assert adoption.title == "Tests and changelog"


def test_one_response_over_several_lines_counts_its_usage_once() -> None:
    made = Claude()
    made.user("Hi.")
    made.assistant(text("One."), message_id="msg_a", usage=tokens(1))
    made.assistant(text("Two."), message_id="msg_a", usage=tokens(2))
    adoption = made.read()
    requests = data(adoption, RequestFinished)
    assert [item.response for item in items(adoption)] == [0, 1, 1]
    [request] = requests
    assert request.response == 1
    assert (request.usage.input, request.usage.cached, request.usage.output) == (322, 300, 7)
    seen = [e.data for e in adoption.events[: request.through_seq] if isinstance(e.data, ItemAdded)]
    assert [event.item.content for event in seen] == ["Hi."]


def test_reasoning_keeps_what_goes_back_to_the_provider() -> None:
    made = Claude()
    made.user("Hi.")
    made.assistant(
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eA=="},
    )
    _, thought, redacted = items(made.read())
    assert (thought.kind, thought.content) == ("reasoning", "Hm.")
    assert thought.opaque == {"type": "thinking", "signature": "c2ln"}
    assert redacted.opaque == {"type": "redacted_thinking", "data": "eA=="}
    assert thought.origin
    assert (thought.origin.provider, thought.origin.model) == ("anthropic", "claude-opus-4-6")


def test_parallel_calls_are_no_branches() -> None:
    """Each call hangs on the one before, each result on its call: a fork that is none."""
    made = Claude()
    made.user("Hi.")
    first = made.call("a", message_id="msg_a", command="one")
    second = made.call("b", message_id="msg_a", command="two")
    made.result("a", "1", after=first)
    made.result("b", "2", after=second)
    made.assistant(text("Both."))
    adoption = made.read()
    assert replaced(adoption) == []
    assert shown(adoption)[1:] == ['{"command":"one"}', '{"command":"two"}', "1", "2", "Both."]


def test_progress_lines_link_and_say_nothing() -> None:
    made = Claude()
    made.line("progress", data={"type": "hook_progress"})
    made.user("Hi.")
    call = made.call("a")
    made.line("progress", data={"type": "bash_progress"})
    made.result("a", "1", after=call)
    made.assistant(text("Yes."))
    adoption = made.read()
    assert replaced(adoption) == []
    assert [kind for kind, _ in said(adoption)] == ["user", "tool_call", "tool_result", "assistant"]


def test_an_abandoned_branch_leaves_the_window_and_is_kept() -> None:
    made = Claude()
    made.user("Hi.")
    fork = made.assistant(text("Yes?"))
    made.user("Wrong.")
    made.assistant(text("Sorry."))
    made.user("Right.", after=fork)
    made.assistant(text("Good."))
    adoption = made.read()
    assert shown(adoption) == ["Hi.", "Yes?", "Right.", "Good."]
    assert ("user", "Wrong.") in said(adoption)
    [rewind] = replaced(adoption)
    assert (rewind.reason, rewind.window) == ("rewind", ((1, "full"), (2, "full")))


def test_going_back_to_an_abandoned_branch_brings_it_back() -> None:
    made = Claude()
    fork = made.user("Hi.")
    left = made.assistant(text("Left."))
    made.assistant(text("Right."), after=fork)
    made.user("More.", after=left)
    assert shown(made.read()) == ["Hi.", "Left.", "More."]


def test_a_branch_with_an_open_call_leaves_no_broken_pair() -> None:
    made = Claude()
    fork = made.user("Hi.")
    made.call("a")
    made.user("Other.", after=fork)
    made.result("a", "late", after="u1")
    adoption = made.read()
    assert shown(adoption)[:2] == ["Hi.", "Other."]
    assert any(item.state == "unknown" for item in items(adoption))


def test_the_leaf_that_is_named_last_decides() -> None:
    made = Claude()
    leaf = made.user("Hi.")
    made.assistant(text("Yes?"))
    made.loose("last-prompt", lastPrompt="Hi.", leafUuid=leaf)
    assert shown(made.read()) == ["Hi."]
    made.assistant(text("Later."))
    assert shown(made.read()) == ["Hi.", "Yes?", "Later."]


def test_a_reply_that_was_written_before_its_prompt_comes_after_it() -> None:
    made = Claude()
    made.user("The port is 7443.")
    made.assistant(text("Noted."))
    made.user("And the table?")
    read = made.read()
    made.lines[:2] = reversed(made.lines[:2])
    assert items(made.read()) == items(read)
    assert window(made.read()).items == window(read).items


def test_a_missing_parent_goes_on_where_it_stands() -> None:
    made = Claude()
    made.user("Hi.", after="of another file")
    made.assistant(text("Yes?"), after="lost")
    adoption = made.read()
    assert shown(adoption) == ["Hi.", "Yes?"]
    assert replaced(adoption) == []


def test_a_side_chain_is_kept_outside_the_window() -> None:
    made = Claude()
    made.user("Hi.")
    task = made.call("task", "Task", prompt="Look.")
    made.user("Look.", after=None, isSidechain=True)
    made.assistant({"type": "tool_use", "id": "x", "name": "Bash", "input": {}}, isSidechain=True)
    made.user([{"type": "tool_result", "tool_use_id": "x", "content": "in"}], isSidechain=True)
    made.result("task", "out", after=task)
    made.assistant(text("Good."))
    adoption = made.read()
    assert shown(adoption) == ["Hi.", '{"prompt":"Look."}', "out", "Good."]
    assert ("context", "Look.") in said(adoption)
    assert ("tool_result", "in") in said(adoption)
    requests = data(adoption, RequestFinished)
    assert len(requests) == 2, "a sub-agent's usage says nothing of this window"


def test_a_compaction_leaves_the_summary() -> None:
    made = Claude()
    made.user("Hi.")
    made.assistant(text("Yes?"))
    made.boundary()
    made.summary("In short.")
    made.assistant(text("On."))
    adoption = made.read()
    [compaction] = replaced(adoption)
    assert shown(adoption) == ["In short.", "On."]
    assert (compaction.reason, compaction.strategy) == ("adopted", "claude")
    assert compaction.meta == {"trigger": "auto", "preTokens": 155_000}
    assert [item.kind for item in compaction.inserted] == ["summary"]


@pytest.mark.parametrize("by_segment", [False, True])
def test_a_compaction_keeps_whole_messages(by_segment: bool) -> None:
    made = Claude()
    made.user("Hi.")
    made.assistant(text("Yes?"))
    head = made.user("Kept.")
    made.call("a", command="ls")
    tail = made.result("a", "x")
    anchor = "u6"
    if by_segment:
        kept = {"preservedSegment": {"headUuid": head, "anchorUuid": anchor, "tailUuid": tail}}
    else:
        kept = {"preservedMessages": {"anchorUuid": anchor, "uuids": [head, tail]}}
    made.boundary(**kept)
    assert made.summary("In short.") == anchor
    made.assistant(text("On."))
    adoption = made.read()
    assert shown(adoption) == ["In short.", "Kept.", '{"command":"ls"}', "x", "On."]
    assert len(said(adoption)) == 6, "what is kept is not told twice"


def test_what_hangs_on_a_kept_message_goes_on_after_the_compaction() -> None:
    made = Claude()
    made.user("Hi.")
    kept = made.user("Kept.")
    made.boundary(preservedMessages={"anchorUuid": "u3", "uuids": [kept]})
    made.summary("In short.")
    made.assistant(text("On."), after=kept)
    assert shown(made.read()) == ["In short.", "Kept.", "On."]


def test_a_summary_of_what_came_later_stands_behind_what_is_kept() -> None:
    made = Claude()
    kept = made.user("Kept.")
    made.assistant(text("Yes?"))
    made.boundary(preservedMessages={"anchorUuid": "u2", "uuids": [kept]})
    made.summary("In short.")
    assert shown(made.read()) == ["Kept.", "In short."]


def test_going_back_before_a_compaction_brings_the_old_window_back() -> None:
    made = Claude()
    made.user("Hi.")
    fork = made.assistant(text("Yes?"))
    made.boundary()
    made.summary()
    made.user("Again.", after=fork)
    assert shown(made.read()) == ["Hi.", "Yes?", "Again."]


def test_a_compaction_without_a_summary_is_counted() -> None:
    made = Claude()
    made.user("Hi.")
    made.boundary()
    made.assistant(text("Yes?"))
    adoption = made.read()
    assert shown(adoption) == ["Hi.", "Yes?"]
    assert adoption.skipped == {"compaction without a summary": 1}


def test_a_micro_compaction_masks_results() -> None:
    made = Claude()
    made.user("Hi.")
    made.call("a")
    made.result("a", "long " * 100)
    metadata = {"trigger": "auto", "compactedToolIds": ["a", "unknown"]}
    made.line("system", subtype="microcompact_boundary", microcompactMetadata=metadata)
    fork = made.assistant(text("On."))
    adoption = made.read()
    marks = data(adoption, ItemsMarked)
    assert marks == [ItemsMarked(items=((3, "masked"),), adopted=True)]
    made.assistant(text("Wrong."), after=fork)
    made.assistant(text("Right."), after=fork)
    [rewind] = replaced(made.read())
    assert (3, "masked") in rewind.window


def test_a_micro_compaction_that_names_nothing_is_noted() -> None:
    made = Claude()
    made.user("Hi.")
    made.line("system", subtype="microcompact_boundary")
    assert "A micro-compaction does not say which results it cleared." in made.read().notes


@pytest.mark.parametrize(
    "content",
    [
        "<command-name>/model</command-name>",
        "<local-command-stdout>Bye!</local-command-stdout>",
        "<system-reminder>\nMind the tests.</system-reminder>",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_the_host_says_is_context(content: str) -> None:
    made = Claude()
    made.user(content)
    assert said(made.read()) == [("context", content)]


def test_meta_is_not_the_users_word() -> None:
    made = Claude()
    made.user("Caveat.", isMeta=True)
    made.user([text("<system-reminder>x</system-reminder>"), text("Fix it."), text("Please.")])
    adoption = made.read()
    assert said(adoption) == [
        ("context", "Caveat."),
        ("context", "<system-reminder>x</system-reminder>"),
        ("user", "Fix it.\nPlease."),
    ]
    assert adoption.title == "Fix it."


def test_what_no_model_wrote_is_context() -> None:
    made = Claude()
    made.user("Hi.")
    made.line("assistant", message={"model": "<synthetic>", "content": [text("No response.")]})
    made.assistant(text("Overloaded."), isApiErrorMessage=True)
    adoption = made.read()
    assert [kind for kind, _ in said(adoption)] == ["user", "context", "context"]
    assert adoption.model == ""


def test_pictures_come_with_prompts_and_results() -> None:
    made = Claude()
    picture = {"type": "image", "source": PICTURE}
    made.user([picture, text("What is it?")])
    made.call("a", "Read", file_path="x.png")
    made.result("a", [picture, {"type": "tool_reference", "tool_name": "X"}])
    prompt, _, result = items(made.read())
    assert prompt.images == result.images == (Image("image/png", "aGk="),)
    assert result.content == '{"type":"tool_reference","tool_name":"X"}'


def test_prompts_that_came_while_the_agent_worked() -> None:
    """Old versions tell them in the queue alone, newer ones once more as an attachment."""
    made = Claude()
    made.user("Hi.")
    made.call("a")
    made.loose("queue-operation", operation="enqueue", content="Old.")
    made.loose("queue-operation", operation="enqueue", content="New.")
    made.loose("queue-operation", operation="enqueue", content="Next.")
    made.loose("queue-operation", operation="remove")
    made.loose("queue-operation", operation="remove", content="New.")
    made.result("a")
    queued = {"type": "queued_command", "prompt": "New.", "commandMode": "prompt"}
    made.line("attachment", attachment=queued)
    made.assistant(text("Both."))
    made.loose("queue-operation", operation="dequeue")
    made.user("Next.")
    told = said(made.read())
    assert [pair for pair in told if pair[0] in {"user", "context"}] == [
        ("user", "Hi."),
        ("context", "Old."),
        ("user", "New."),
        ("user", "Next."),
    ]


def test_what_tools_touched() -> None:
    made = Claude()
    made.user("Hi.")
    for n, (tool, given) in enumerate(
        [
            ("Read", {"file_path": f"{CWD}/app/x.py"}),
            ("Edit", {"file_path": f"{CWD}/app/../y.py"}),
            ("Write", {"file_path": "/etc/z"}),
            ("NotebookEdit", {"notebook_path": "n.ipynb"}),
            ("str_replace_based_edit_tool", {"command": "view", "path": f"{CWD}/v"}),
            ("Bash", {"command": "make test"}),
            ("Grep", {"pattern": "x", "path": f"{CWD}/app"}),
            ("Read", {"file_path": ["wrong"]}),
        ]
    ):
        made.call(f"c{n}", tool, **given)
        made.result(f"c{n}")
    made.call("failed", "Edit", file_path=f"{CWD}/no.py")
    made.result("failed", "No such file", is_error=True)
    adoption = made.read()
    seen = data(adoption, ArtifactObserved)
    assert [(event.uri, event.op) for event in seen] == [
        ("app/x.py", "read"),
        ("y.py", "update"),
        ("/etc/z", "create"),
        ("n.ipynb", "update"),
        ("v", "read"),
        ("cmd:make test", "run"),
    ]
    assert all(event.hash is None for event in seen)
    assert items(adoption)[seen[0].item - 1].kind == "tool_result"
    assert items(adoption)[-1].detail["ok"] is False


def test_turns_begin_with_prompts_and_end_as_they_ended() -> None:
    made = Claude()
    made.user("One.")
    made.assistant(text("Yes?"))
    made.user("Two.")
    made.user("[Request interrupted by user]")
    made.user("Three.")
    made.call("a")
    adoption = made.read()
    ends = [e.data.state for e in adoption.events if isinstance(e.data, TurnFinished)]
    assert ends == ["done", "interrupted", "interrupted"]
    assert [item.turn for item in items(adoption)][:4] == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("kinds", "title"),
    [
        ("custom ai summary", "custom"),
        ("ai summary", "ai"),
        ("summary", "summary"),
        ("foreign", "Hi there."),
    ],
)
def test_the_title_is_the_one_that_says_most(kinds: str, title: str) -> None:
    made = Claude()
    leaf = made.user("Hi there.")
    told = {
        "custom": ("custom-title", {"customTitle": "custom"}),
        "ai": ("ai-title", {"aiTitle": "ai"}),
        "summary": ("summary", {"summary": "summary", "leafUuid": leaf}),
        "foreign": ("summary", {"summary": "another session's", "leafUuid": "elsewhere"}),
    }
    for kind in kinds.split():
        name, fields = told[kind]
        made.loose(name, **fields)
    assert made.read().title == title


def test_what_is_not_understood_is_counted() -> None:
    made = Claude()
    made.user([text("Hi."), {"type": "document", "source": {}}])
    made.assistant(text("Yes?"), {"type": "hologram"})
    made.loose("telepathy")
    lines = [*made.encoded(), made.encoded()[0], b"{torn\n", b"[]\n", b'{"x": 1}\n']
    adoption = read_lines(lines, Path("s.jsonl"))
    assert adoption.skipped == {
        "document block": 1,
        "hologram block": 1,
        "telepathy": 1,
        "repeated line": 1,
        "unreadable line": 1,
        "line without an object": 1,
        "line without a type": 1,
    }


def test_transcripts_of_sub_agents_are_noted(tmp_path: Path) -> None:
    folder = tmp_path / "s-1" / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-1.jsonl").touch()
    (folder / "agent-2.jsonl").touch()
    made = Claude()
    made.user("Hi.")
    notes = made.read(tmp_path / "s-1.jsonl").notes
    assert "Not adopted: 2 transcripts of its sub-agents." in notes


def test_a_file_without_a_message_is_no_session() -> None:
    made = Claude()
    made.loose("summary", summary="x", leafUuid="y")
    with pytest.raises(NotASession, match="without any messages"):
        made.read()
