"""What adopted items are: each vendor's tools, refusals, answers and boilerplate."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fakes.foreign import Codex
from fakes.foreign_claude import CWD, Claude
from pinfold.adopt import codex
from pinfold.adopt.adoption import Adoption
from pinfold.adopt.codex_tools import touched
from pinfold.adopt.detect import read
from pinfold.rollout.acts import Act, Step, act
from pinfold.rollout.events import ArtifactObserved, ItemAdded
from pinfold.rollout.items import Item


def acts(adoption: Adoption) -> list[Act]:
    """What the items are, those that a model wrote aside."""
    items = [event.data.item for event in adoption.events if isinstance(event.data, ItemAdded)]
    return list(_acts(items))


def _acts(items: Iterable[Item]) -> Iterable[Act]:
    calls: dict[str | None, Item] = {}
    for item in items:
        if item.kind == "tool_call":
            calls[item.call_id] = item
        elif found := act(calls.get(item.call_id), item):
            yield found


def claude(tool: str, result: Any = "done", extra: Any = None, **given: Any) -> Act:
    """What a call of Claude Code's is; a result of None is an error."""
    made = Claude()
    made.user("Go.")
    made.call("c1", tool, **given)
    error = {"is_error": True} if isinstance(result, Exception) else {}
    made.result("c1", str(result), **({"toolUseResult": extra} if extra else {}), **error)
    return acts(made.read())[-1]


def user(content: Any, **fields: Any) -> list[Act]:
    made = Claude()
    made.user(content, **fields)
    return acts(made.read())


# Claude Code


def test_a_command_of_claude_and_its_outcome() -> None:
    done = claude("Bash", Exception("Exit code 2\nno such file"), command="ls x")
    assert (done.kind, done.title, done.ok, done.exit_code) == ("command", "$ ls x", False, 2)
    assert done.text == "no such file"
    done = claude("Bash", "a\nShell cwd was reset to /p", command="cd x && ls")
    assert (done.ok, done.text) == (True, "a")


def test_an_edit_of_claude_has_its_lines_from_the_patch_that_was_recorded() -> None:
    lines = [" a", "-b", "+c", "+d", "\\ No newline at end of file"]
    patch = [{"oldStart": 7, "oldLines": 2, "newStart": 7, "newLines": 3, "lines": lines}]
    extra = {"structuredPatch": patch, "originalFile": "x" * 1_000}
    done = claude("Edit", "ok", extra, file_path=f"{CWD}/app/x.py", old_string="b", new_string="c")
    assert (done.kind, done.paths, done.added, done.removed) == ("edit", ("app/x.py",), 2, 1)
    assert done.diff == "--- a/app/x.py\n+++ b/app/x.py\n@@ -7,2 +7,3 @@\n a\n-b\n+c\n+d\n"


def test_an_edit_of_claude_has_them_from_its_arguments_where_nothing_was_recorded() -> None:
    edits = [{"old_string": "a\nb", "new_string": "a\nc"}, {"old_string": "", "new_string": "x"}]
    done = claude("MultiEdit", file_path=f"{CWD}/x.py", edits=edits)
    assert (done.added, done.removed) == (2, 1)
    done = claude("Write", file_path=f"{CWD}/y.py", content="1\n2\n")
    assert (done.paths, done.added, done.removed) == (("y.py",), 2, 0)


def test_edits_say_which_arguments_hold_text_of_files() -> None:
    edit = {"old_string": "a", "new_string": "b", "replace_all": True}
    assert claude("Edit", file_path="x.py", **edit).bodies == ("old_string", "new_string")
    assert claude("Write", file_path="x.py", content="a").bodies == ("content",)
    assert claude("MultiEdit", file_path="x.py", edits=[edit]).bodies == ("edits",)
    assert claude("Read", "text", file_path="x.py").bodies is None
    patch = "*** Begin Patch\n*** Update File: a.py\n-a\n+b\n*** End Patch"
    given = {"command": ["apply_patch", patch], "workdir": "."}
    (done,) = codex_acts(("shell", given, "Success."))
    assert (done.kind, done.bodies) == ("edit", ("command",))


def test_an_edit_that_failed_names_its_file_alone() -> None:
    error = Exception("<tool_use_error>String to replace not found.</tool_use_error>")
    done = claude("Edit", error, file_path=f"{CWD}/x.py", old_string="a", new_string="b")
    assert (done.kind, done.paths, done.added, done.ok) == ("edit", ("x.py",), 0, False)
    assert done.text == "String to replace not found."


REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). "
)


def test_a_refusal_of_claude_keeps_what_was_refused_and_the_words() -> None:
    said = Exception(f"{REFUSAL}To tell you how to proceed, the user said:\nno, not yet")
    done = claude("Bash", said, command="git push")
    assert (done.kind, done.title, done.words) == ("refused", "$ git push", "no, not yet")
    assert done.text == ""
    done = claude("Edit", Exception(REFUSAL + "STOP what you are doing."), file_path="x.py")
    assert (done.kind, done.title, done.words) == ("refused", "edit x.py", "")


def test_what_a_command_prints_is_no_refusal() -> None:
    assert claude("Bash", REFUSAL, command="cat log").kind == "command"


def test_a_refused_command_did_not_run() -> None:
    made = Claude()
    made.user("Go.")
    made.call("c1", "Bash", command="ls")
    made.result("c1", REFUSAL, is_error=True)
    assert not [e for e in made.read().events if isinstance(e.data, ArtifactObserved)]


def test_answers_stand_beside_their_questions() -> None:
    questions = [{"question": "Which one?"}, {"question": "And when?"}]
    text = 'User has answered your questions: "Which one?"="the first", "And when?"="now". Go on.'
    for extra in (None, {"answers": {"Which one?": "the first", "And when?": "now"}}):
        done = claude("AskUserQuestion", text, extra, questions=questions)
        assert (done.kind, done.title) == ("question", "Which one?\nAnd when?")
        assert done.words == "the first\nnow"
    noted = {"answers": {"And when?": "now"}, "annotations": {"And when?": {"notes": "or soon"}}}
    done = claude("AskUserQuestion", "Go on.", noted, questions=questions)
    assert done.words == "\nnow or soon"


def test_a_todo_list_is_a_plan() -> None:
    todos = [
        {"content": "Look", "status": "completed", "activeForm": "Looking"},
        {"content": "Leap", "status": "in_progress", "activeForm": "Leaping"},
    ]
    done = claude("TodoWrite", todos=todos)
    assert (done.kind, done.plan) == ("plan", (Step("Look", "done"), Step("Leap", "in_progress")))


def test_tasks_add_up_to_a_plan() -> None:
    made = Claude()
    made.user("Go.")
    for n, subject in enumerate(("Look", "Leap", "Fall"), 1):
        made.call(f"c{n}", "TaskCreate", subject=subject, description="...")
        made.result(f"c{n}", f"Task #{n} created successfully: {subject}")
    made.call("u1", "TaskUpdate", taskId="1", status="completed")
    made.result("u1", "Updated task #1 status")
    made.call("u2", "TaskUpdate", taskId="3", status="deleted")
    made.result("u2", "Updated task #3 status")
    made.call("u3", "TaskUpdate", taskId="2", addBlockedBy=["1"])
    made.result("u3", "Updated task #2")
    assert acts(made.read())[-1].plan == (Step("Look", "done"), Step("Leap", "pending"))


def test_a_plan_in_prose_is_kept_whole() -> None:
    done = claude("ExitPlanMode", "User has approved your plan.", plan="# Ship it\n\n1. Build")
    assert (done.kind, done.title) == ("plan", "plan: Ship it")
    assert done.text == "# Ship it\n\n1. Build"


def test_a_sub_agents_report() -> None:
    text = "All is well.\nagentId: ab12 (for resuming to continue this agent's work if needed)"
    done = claude("Task", text, description="Look around", prompt="Look.")
    assert (done.kind, done.title, done.text) == ("agent", "Look around", "All is well.")


def test_a_sub_agents_report_that_is_fetched_later() -> None:
    made = Claude()
    made.user("Go.")
    made.call("c1", "Task", description="Look around", prompt="Look.", run_in_background=True)
    made.result("c1", "Async agent launched successfully.", toolUseResult={"agentId": "ab12"})
    made.call("c2", "TaskOutput", task_id="ab12")
    made.result(
        "c2",
        "<task_type>local_agent</task_type>\n<status>completed</status>\n<output>\n"
        '[Tool: Bash] {"command":"ls"}\n--- RESULT ---\nAll is well.\n</output>',
    )
    launched, done = acts(made.read())[1:]
    assert (launched.kind, launched.text) == ("agent", "")
    assert (done.kind, done.title, done.text) == ("agent", "Look around", "All is well.")


def test_unknown_tools_read() -> None:
    assert claude("mcp__x__y", q="z").kind == "read"
    assert claude("Grep", pattern="z").kind == "read"


def test_reminders_beside_typed_words_are_the_hosts() -> None:
    reminder = "<system-reminder>\nBe brief.\n</system-reminder>"
    (done,) = user(f"{reminder}\nMend it. <ide_selection>x</ide_selection>")
    assert (done.kind, done.words.strip()) == ("said", "Mend it.")
    (done,) = user(reminder)
    assert (done.kind, done.words) == ("host", "")


def test_a_title_is_of_typed_words() -> None:
    made = Claude()
    made.user("<system-reminder>Be brief.</system-reminder>\nMend it.")
    assert made.read().title == "Mend it."
    ide = Codex()
    ide.meta()
    ide.user("# Context from my IDE setup:\n\n## My request for Codex:\nMend it.\n")
    assert codex.read_lines(ide.encoded(), Path("rollout.jsonl")).title == "Mend it."


def test_a_command_to_the_host_is_what_the_user_typed() -> None:
    (done,) = user(
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>pull 7,\nall of it</command-args>"
    )
    assert (done.kind, done.words) == ("said", "/review pull 7,\nall of it")
    (done,) = user("<bash-input>git status</bash-input>")
    assert (done.kind, done.words) == ("said", "!git status")


def test_what_the_host_says_in_the_users_name() -> None:
    for text in (
        "[Request interrupted by user for tool use]",
        "Caveat: The messages below were generated by the user while running local commands. Oh",
        "<local-command-stdout>Bye!</local-command-stdout>",
        "<bash-stdout>cut off",
        "Operation stopped by hook: Another session is active.",
        "Base directory for this skill: /x\n\n# A skill",
    ):
        (done,) = user(text)
        assert done.kind == "host", text
    assert [done.kind for done in user("# A template", isMeta=True)] == ["host"]


def test_a_side_chain_says_so() -> None:
    made = Claude()
    made.user("Go.")
    made.user("Look around.", isSidechain=True)
    done = acts(made.read())
    assert [(value.kind, value.aside) for value in done] == [("said", False), ("host", True)]


def test_a_notification_brings_a_report() -> None:
    (done,) = user(
        "<task-notification>\n<task-id>a</task-id>\n<summary>Agent done</summary>\n"
        "<result>All is well.</result>\n</task-notification>"
    )
    assert (done.kind, done.title, done.text) == ("agent", "Agent done", "All is well.")


# Codex


def codex_acts(*calls: tuple[str, dict[str, Any], str]) -> list[Act]:
    made = Codex()
    made.meta()
    made.user("Go.")
    for n, (name, given, output) in enumerate(calls):
        made.item("function_call", call_id=f"c{n}", name=name, arguments=json.dumps(given))
        made.result(f"c{n}", output)
    return acts(codex.read_lines(made.encoded(), Path("rollout.jsonl")))[1:]


HEAD = "Chunk ID: ab12\nWall time: 0.1 seconds\n"


def test_a_command_of_codex_and_its_outcome() -> None:
    output = f"{HEAD}Process exited with code 1\nOriginal token count: 3\nOutput:\nno such file\n"
    (done,) = codex_acts(("exec_command", {"cmd": "ls x"}, output))
    assert (done.kind, done.title, done.ok, done.exit_code) == ("command", "$ ls x", False, 1)
    assert done.text == "no such file\n"
    old = json.dumps({"output": "a\n", "metadata": {"exit_code": 0}})
    (done,) = codex_acts(("shell", {"command": ["bash", "-lc", "ls"]}, old))
    assert (done.title, done.exit_code, done.text) == ("$ ls", 0, "a\n")


def test_a_command_that_goes_on_ends_where_it_is_polled() -> None:
    running = f"{HEAD}Process running with session ID 7\nOutput:\n"
    first, waiting, last = codex_acts(
        ("exec_command", {"cmd": "make"}, running),
        ("write_stdin", {"session_id": 7, "chars": ""}, running),
        ("write_stdin", {"session_id": 7}, f"{HEAD}Process exited with code 2\nOutput:\nbad\n"),
    )
    assert (first.kind, first.exit_code, waiting.kind) == ("command", None, "read")
    assert (last.kind, last.title, last.exit_code) == ("command", "$ make", 2)


def test_a_long_command_of_codex_is_not_split_into_words() -> None:
    def files(command: str) -> list[str]:
        found = touched("shell", json.dumps({"command": command}), "/w")
        return [file.uri for file in found if file.kind == "file"]

    assert files("cat a.py b.py") == ["a.py", "b.py"]
    assert files("cat " + "a.py " * 5_000) == []
    assert files(f"apply_patch *** Add File: x\n*** Add File: a.py{' ' * 200_000}\n") == ["a.py"]


def test_a_patch_of_codex() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: /p/a.py\n@@ def x\n a\n-b\n+c\n"
        "*** Add File: b.py\n+1\n+2\n*** End Patch"
    )
    (done,) = codex_acts(("apply_patch", {"input": patch}, "Success."))
    assert (done.kind, done.paths, done.added, done.removed) == ("edit", ("a.py", "b.py"), 3, 1)
    (done,) = codex_acts(("apply_patch", {"input": patch}, "patch rejected by user"))
    assert (done.kind, done.title, done.added) == ("refused", "edit a.py, b.py", 0)


def test_plans_answers_and_agents_of_codex() -> None:
    plan = [{"step": "Look", "status": "completed"}, {"step": "Leap", "status": "pending"}]
    questions = [{"id": "q", "question": "Which one?"}]
    planned, answered, spawned, waited = codex_acts(
        ("update_plan", {"plan": plan}, "Plan updated"),
        (
            "request_user_input",
            {"questions": questions},
            '{"answers":{"q":{"answers":["the first","but later"]}}}',
        ),
        ("spawn_agent", {"message": "Look around."}, '{"agent_id":"a"}'),
        ("wait", {"ids": ["a"]}, '{"status":{"a":{"completed":"All is well."}}}'),
    )
    assert planned.plan == (Step("Look", "done"), Step("Leap", "pending"))
    assert (answered.kind, answered.title) == ("question", "Which one?")
    assert answered.words == "the first but later"
    assert (spawned.kind, spawned.title, spawned.text) == ("agent", "Look around.", "")
    assert (waited.kind, waited.text) == ("agent", "All is well.")


def test_messages_of_codex() -> None:
    made = Codex()
    made.meta()
    made.message("developer", "You may do all.")
    made.message("user", "<environment_context>x</environment_context>")
    made.message("user", "# Context from my IDE setup:\n\n## My request for Codex:\nMend it.\n")
    made.message(
        "user",
        "<user_shell_command>\n<command>\nls\n</command>\n<result>a</result>\n</user_shell_command>",
    )
    made.message(
        "user",
        '<subagent_notification>{"agent_id":"a","status":{"completed":"All is well."}}'
        "</subagent_notification>",
    )
    made.message("user", "<image name=[Image #1]>\n</image>\nLook at it, and at <image.png>.")
    found = acts(codex.read_lines(made.encoded(), Path("rollout.jsonl")))
    assert [done.kind for done in found] == ["host", "host", "said", "said", "agent", "said"]
    assert (found[2].words, found[3].words, found[4].text) == ("Mend it.\n", "!ls", "All is well.")
    assert found[5].words.strip() == "Look at it, and at <image.png>."


# Messages


def test_calls_in_a_list_of_messages_are_told_by_their_arguments(tmp_path: Path) -> None:
    calls = {
        "bash": {"command": "ls"},
        "editor": {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"},
        "open": {"path": "a"},
        "pay": {"amount": 3},
        "edit": {"search": "x", "replace": "y"},
    }
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for name, given in calls.items():
        function = {"name": name, "arguments": json.dumps(given)}
        messages += [
            {"role": "assistant", "tool_calls": [{"id": name, "function": function}]},
            {"role": "tool", "tool_call_id": name, "content": "ok"},
        ]
    file = tmp_path / "m.json"
    file.write_text(json.dumps(messages))
    found = acts(read(file))
    assert [done.kind for done in found] == ["said", "command", "edit", "read", "read", "edit"]
    assert (found[2].bodies, found[5].bodies) == (("old_str", "new_str"), None)
    assert (found[1].title, found[2].paths, found[2].added) == ("$ ls", ("a",), 1)
