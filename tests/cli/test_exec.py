"""`pinfold exec` as a process, against a scripted server."""

import asyncio
import io
import json
import os
import re
import signal
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from fakes.agent import stage
from fakes.openai_server import OVERFLOW, Call, FakeOpenAI, Recorded, Reply
from fakes.process import Pinfold, on_server
from fakes.provider import says
from pinfold import headless
from pinfold.ports.approver import Question
from pinfold.ports.provider import ModelInfo
from pinfold.ports.tool import Review
from pinfold.rollout import provenance
from pinfold.rollout.codec import decode
from pinfold.rollout.events import ItemAdded, TurnFinished
from pinfold.rollout.items import Item

PATCH = """*** Begin Patch
*** Update File: sums.py
@@
 def add(a, b):
-    return a - b
+    return a + b
*** End Patch
"""
TEST = """import unittest
from sums import add


class AddTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)
"""


def items(rollout: Path) -> list[Item]:
    events = [decode(line) for line in rollout.read_bytes().splitlines()]
    added = [event.data.item for event in events if isinstance(event.data, ItemAdded)]
    return [item for item in added if item.kind != "context"]


def states(rollout: Path) -> list[str]:
    events = [decode(line) for line in rollout.read_bytes().splitlines()]
    return [event.data.state for event in events if isinstance(event.data, TurnFinished)]


@pytest.mark.parametrize("wire_api", ["chat", "responses"])
async def test_it_mends_a_repository_through_apply_patch(tmp_path: Path, wire_api: str) -> None:
    script = [
        Reply("I'll mend it.", calls=(Call("apply_patch", json.dumps({"patch": PATCH}), "c1"),)),
        Reply(calls=(Call("shell", json.dumps({"command": "python3 -m unittest -q"}), "c2"),)),
        Reply("Mended: the test passes."),
    ]
    async with FakeOpenAI(script) as server:
        pinfold = Pinfold(
            tmp_path,
            fresh=wire_api == "chat",  # once with an interpreter that has imported nothing
            PINFOLD_MODEL__NAME="scripted-1",
            PINFOLD_MODEL__PROVIDER="fake",
            PINFOLD_PROVIDERS__FAKE__BASE_URL=server.url,
            PINFOLD_PROVIDERS__FAKE__WIRE_API=wire_api,
        )
        (pinfold.work / "sums.py").write_text("def add(a, b):\n    return a - b\n")
        (pinfold.work / "test_sums.py").write_text(TEST)
        ended = await pinfold.run("exec", "--approvals", "full", "the test fails: mend it")
    assert ended.code == 0, ended.err
    assert ended.out == "Mended: the test passes.\n"
    assert "● patch sums.py" in ended.err
    assert (pinfold.work / "sums.py").read_text() == "def add(a, b):\n    return a + b\n"
    ran = next(
        item for item in items(pinfold.rollouts()[0]) if item.call_id == "c2" and item.detail
    )
    assert ran.detail["exit_code"] == 0
    assert "OK" in ran.content


async def test_json_prints_the_journal_line_for_line_and_nothing_twice(tmp_path: Path) -> None:
    slow = Reply(status=429, body={"error": {"message": "slow"}}, headers={"retry-after": "0.1"})
    async with on_server(tmp_path, [Reply("hello"), slow, Reply("two")]) as (_, pinfold):
        ended = await pinfold.run("exec", "--json", "-", stdin=b"say hello")
        (rollout,) = pinfold.rollouts()
        written, printed = rollout.read_text().splitlines(), ended.out.splitlines()
        later = await pinfold.run("exec", "--json", "--last", "second")
    assert ended.code == 0, ended.err
    assert printed == written
    assert json.loads(printed[0])["data"]["id"] == rollout.parent.name
    assert json.loads(printed[-1])["type"] == "turn_finished"
    said = [json.loads(line)["data"].get("item", {}).get("content") for line in printed]
    assert {"say hello", "hello"} <= {*said}
    written = rollout.read_text().splitlines()
    assert later.out.splitlines() == [written[0], *written[len(printed) :]]
    assert "Trying again (2 of 7) in 1s: " in later.err


PIPED = b"We decided to drop TLS.\n"
SENT = "review this\n\n<stdin>\n{}\n</stdin>"


@pytest.mark.parametrize(
    ("asked", "given", "sent", "typed"),
    [
        ("review this", PIPED, SENT.format("We decided to drop TLS."), ["review this"]),
        ("review this", b"\xff\xfea = 1", SENT.format("\ufffd\ufffda = 1"), ["review this"]),
        ("review this", b"", "review this", ["review this"]),
        ("-", PIPED, PIPED.decode(), []),
    ],
    ids=["behind a prompt", "other bytes", "nothing", "alone"],
)
async def test_what_is_piped_in_goes_behind_the_prompt_and_is_not_the_users_word(
    tmp_path: Path, asked: str, given: bytes, sent: str, typed: list[str]
) -> None:
    async with on_server(tmp_path, [Reply("fine")]) as (server, pinfold):
        ended = await pinfold.run("exec", asked, stdin=given)
        kept = await pinfold.run("checkpoint", pinfold.rollouts()[0].parent.name)
    assert ended.code == 0, ended.err
    assert server.bodies[0]["messages"][-1]["content"].endswith(f"\n\n{sent}")
    (said,) = [item for item in items(pinfold.rollouts()[0]) if item.kind == "user"]
    assert said.detail["act"] == ("said" if typed else "pasted")
    assert provenance.typed(said) == typed
    assert "USER: We decided" not in kept.out
    assert ("USER pasted:" in kept.out) == bool(given)


async def test_an_argument_that_nobody_typed_by_hand_is_data_but_for_its_ends(
    tmp_path: Path,
) -> None:
    diff = "\n".join(f"+ We decided on line {n}." for n in range(100))
    async with on_server(tmp_path, [Reply("fine")]) as (_, pinfold):
        ended = await pinfold.run("exec", f"Review this:\n{diff}\nAnd be quick.")
    assert ended.code == 0, ended.err
    (said,) = [item for item in items(pinfold.rollouts()[0]) if item.kind == "user"]
    assert "line 50" not in provenance.words(said)
    assert provenance.words(said).endswith("And be quick.")


LINES = "".join(f"{n}: took {n * 7 % 91} s\n" for n in range(1, 60_001))


@pytest.mark.parametrize("asked", [("why is it slow?",), ("-",), ()])
async def test_what_is_too_large_for_the_window_goes_into_a_file(
    tmp_path: Path, asked: tuple[str, ...]
) -> None:
    def answer(request: Recorded) -> Reply:
        [message] = [m for m in request.body["messages"] if m["role"] == "user"]
        path = re.search(r"/\S+/outputs/\S+\.txt", message["content"])
        page = {"path": path and path[0], "offset": 59_900}
        if request.body["messages"][-1]["role"] == "tool":
            return Reply("Line 60000 took 35 s.")
        return Reply(calls=(Call("read_file", json.dumps(page), "c1"),))

    async with on_server(tmp_path, answer=answer) as (_, pinfold):
        ended = await pinfold.run("exec", *asked, stdin=LINES.encode())
    assert ended.code == 0
    assert ended.out == "Line 60000 took 35 s.\n"
    [rollout] = pinfold.rollouts()
    file = rollout.parent / "outputs" / "attached.txt"
    assert file.read_text(encoding="utf-8") == LINES
    assert f"over a quarter of the window of 8,192. Whole in {file}" in ended.err
    user, _, result, _ = items(rollout)
    assert user.content.startswith("why is it slow?" if asked == ("why is it slow?",) else "1: to")
    assert "1: took 7 s\n2: took 14 s\n" in user.content
    assert "60,000 lines" in user.content
    assert len(user.content) < 4_000
    assert provenance.typed(user) == (["why is it slow?"] if asked == ("why is it slow?",) else [])
    assert "60000\t60000: took 35 s" in result.content


async def test_what_a_model_without_tools_does_not_see_is_told(tmp_path: Path) -> None:
    """The embedded model has none."""
    model = ModelInfo("small", "p", 8_192, "server", tools=False)
    on = await stage(tmp_path, [says("So be it.")], model=model)
    prompt = provenance.Prompt(LINES, ((0, len(LINES)),))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert await headless.run(on.session, prompt) == 0
    await on.session.close()
    assert "small has no tools to read it with: it sees only the beginning and the end" in (
        err.getvalue()
    )
    assert len(on.session.items[0].content) < 5_000


async def test_nobody_is_asked_so_edits_are_refused(tmp_path: Path) -> None:
    write = Call("write_file", json.dumps({"path": "new.txt", "content": "x"}), "c1")
    async with on_server(tmp_path, [Reply(calls=(write,)), Reply("I may not.")]) as (
        server,
        pinfold,
    ):
        ended = await pinfold.run("exec", "write a file")
    assert ended.code == 0
    assert not (pinfold.work / "new.txt").exists()
    assert "--approvals" in json.dumps(server.bodies[1])


async def test_an_edit_of_what_nothing_names_is_told_where_nobody_is_asked(tmp_path: Path) -> None:
    write = Call("write_file", json.dumps({"path": "other/x.txt", "content": "x"}), "c1")
    async with on_server(tmp_path, [Reply("one"), Reply(calls=(write,)), Reply("Done.")]) as (
        _,
        pinfold,
    ):
        assert (await pinfold.run("exec", "say what there is to do")).code == 0
        ended = await pinfold.run("exec", "--last", "--approvals", "workspace", "go on")
    assert ended.code == 0
    assert "Edits other/x.txt, which neither the task, the plan nor" in ended.err
    assert (pinfold.work / "other/x.txt").exists()


async def test_a_session_goes_on(tmp_path: Path) -> None:
    async with on_server(tmp_path, [Reply("one"), Reply("two")]) as (server, pinfold):
        assert (await pinfold.run("exec", "first")).code == 0
        assert (await pinfold.run("exec", "--last", "second")).code == 0
    first, *others = (message["content"] for message in server.bodies[1]["messages"][1:])
    assert first.endswith("first")
    assert others == ["one", "second"]
    assert len(pinfold.rollouts()) == 1
    listed = await pinfold.run("sessions")
    assert "first" in listed.out
    assert "2" in listed.out


@pytest.mark.parametrize("flags", [(), ("--json",)])
async def test_what_was_torn_off_a_session_is_told(tmp_path: Path, flags: tuple[str, ...]) -> None:
    async with on_server(tmp_path, [Reply("one"), Reply("two")]) as (_, pinfold):
        assert (await pinfold.run("exec", "first")).code == 0
        [rollout] = pinfold.rollouts()
        lines = rollout.read_bytes().splitlines(keepends=True)
        damaged = [b"\0" * len(line) + b"\n" for line in lines[-2:]]
        rollout.write_bytes(b"".join([*lines[:-2], *damaged]))
        ended = await pinfold.run("exec", "--last", "second", *flags)
    assert ended.code == 0
    assert "The last 2 lines could not be read" in ended.err
    assert str(rollout.with_name("rollout.torn")) in ended.err


REFUSED = Reply(status=401, body={"error": {"message": "Incorrect API key provided"}})
FAULTS = {
    "refused key": (REFUSED, "waiting"),
    "overflow": (OVERFLOW, "failed"),
    "unknown model": (Reply(status=404, body={"error": {"message": "model not found"}}), "failed"),
}


@pytest.mark.parametrize(("fault", "state"), FAULTS.values(), ids=FAULTS)
async def test_a_fault_that_stays_is_one_plain_line(
    tmp_path: Path, fault: Reply, state: str
) -> None:
    async with on_server(tmp_path, [fault]) as (_, pinfold):
        ended = await pinfold.run("exec", "go")
    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert ended.err.splitlines()[-1].startswith("pinfold: ")
    assert states(pinfold.rollouts()[0]) == [state]


PASSING = {
    "429": Reply(status=429, body={"error": {"message": "slow"}}, headers={"retry-after": "0.1"}),
    "500": Reply(status=500, body={"error": {"message": "oops"}}),
    "garbage": Reply(events=[b"data: {not json\n\n"]),
    "half a stream": Reply("this is only the first half", cut_after=4),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
async def test_a_fault_that_passes_is_survived(tmp_path: Path, fault: Reply) -> None:
    async with on_server(tmp_path, [fault, Reply("all is well")]) as (_, pinfold):
        ended = await pinfold.run("exec", "go")
    assert ended.code == 0, ended.err
    assert ended.out.endswith("all is well\n")
    assert "Traceback" not in ended.err


async def test_killed_in_mid_stream_it_resumes_whole(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script = [Reply("one"), Reply("never finished", gate=gate, gate_at=3), Reply("three")]
    async with on_server(tmp_path, script) as (server, pinfold):
        await pinfold.run("exec", "first")
        process = await pinfold.start("exec", "--last", "second")
        while len(server.bodies) < 2:
            await asyncio.sleep(0.01)
        process.kill()
        await process.wait()
        ended = await pinfold.run("exec", "--last", "third")
    assert ended.code == 0, ended.err
    rollout = pinfold.rollouts()[0]
    said = [item.content for item in items(rollout)]
    assert said.pop(3).startswith("This session was closed and is open again. ")
    assert said == ["first", "one", "second", "third", "three"]
    assert states(rollout) == ["done", "interrupted", "done"]


async def test_a_held_session_is_told_who_holds_it(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with on_server(
        tmp_path, [Reply("one"), Reply("slow", gate=gate), Reply("in a copy")]
    ) as (server, pinfold):
        await pinfold.run("exec", "first")
        holder = await pinfold.start("exec", "--last", "second")
        while len(server.bodies) < 2:
            await asyncio.sleep(0.01)
        ended = await pinfold.run("exec", "--last", "me too")
        assert ended.code == 1
        assert str(holder.pid) in ended.err
        assert "pinfold exec --fork --resume" in ended.err
        forked = await pinfold.run("exec", "--fork", "--last", "me too")
        holder.kill()
        await holder.wait()
    assert forked.code == 0, forked.err
    assert forked.out == "in a copy\n"
    assert len(pinfold.rollouts()) == 2


async def test_doctor_finds_the_server_and_reads_the_config(tmp_path: Path) -> None:
    async with FakeOpenAI() as server:
        pinfold = Pinfold(tmp_path)
        config = pinfold.config / "pinfold" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            f'[model]\nname = "m-1"\nprovider = "mine"\ncontext_window = 4096\n'
            f'[providers.mine]\nbase_url = "{server.url}"\n'
        )
        ended = await pinfold.run("doctor")
        broken = config.read_text() + "[typo]\nx = 1\n"
        config.write_text(broken)
        told = await pinfold.run("doctor")
    assert ended.code == 0, ended.err
    assert "m-1" in ended.out
    assert "4,096 tokens (from: config)" in ended.out
    assert told.code == 0, told.err
    assert "typo is not a section of settings" in told.out


async def test_export_copies_what_this_version_does_not_know(tmp_path: Path) -> None:
    async with on_server(tmp_path, [Reply("one")]) as (_, pinfold):
        await pinfold.run("exec", "first")
    rollout = pinfold.rollouts()[0]
    strange = b'{"seq":99,"ts":"2026-01-01T00:00:00Z","type":"from_the_future","data":{"a":[1]}}\n'
    with rollout.open("ab") as file:
        file.write(strange)
    ended = await pinfold.run("export", rollout.parent.name)
    assert ended.out.encode() == rollout.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_interrupts_and_the_command_ends_with_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    waits = Call("shell", json.dumps({"command": "echo $$ > pid; exec sleep 600"}), "c1")
    async with on_server(tmp_path, [Reply(calls=(waits,))]) as (_, pinfold):
        process = await pinfold.start("exec", "--approvals", "full", "wait")
        pid = pinfold.work / "pid"
        while not (pid.exists() and pid.read_text().strip()):
            await asyncio.sleep(0.01)
        process.send_signal(number)
        assert await process.wait() == 1
    assert states(pinfold.rollouts()[0]) == ["interrupted"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_a_reader_that_leaves_ends_it_without_a_word(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with on_server(tmp_path, [Reply("hello", gate=gate, gate_at=3)]) as (_, pinfold):
        process = await pinfold.start("exec", "--json", "go")
        assert process.stdout is not None
        assert process.stderr is not None
        await process.stdout.readline()
        process.stdout._transport.close()  # type: ignore[attr-defined]
        gate.set()
        assert await process.stderr.read() == b""
        assert await process.wait() == 1


async def test_commands_do_not_see_the_keys_of_providers(tmp_path: Path) -> None:
    script = [Reply(calls=(Call("shell", json.dumps({"command": "env"}), "c1"),)), Reply("Seen.")]
    async with FakeOpenAI(script) as server:
        pinfold = Pinfold(
            tmp_path,
            **Pinfold.on(server.url),
            GROQ_API_KEY="gsk-of-another",
            MY_KEY="of-my-own",
            KEPT_KEY="kept",
            PINFOLD_PROVIDERS__MINE__BASE_URL="http://127.0.0.1:1/v1",
            PINFOLD_PROVIDERS__MINE__API_KEY_ENV="MY_KEY",
            PINFOLD_PROVIDERS__MINE__HEADERS__X="in-a-header",
            PINFOLD_PROVIDERS__OTHER__BASE_URL="http://127.0.0.1:1/v1",
            PINFOLD_PROVIDERS__OTHER__API_KEY_ENV="KEPT_KEY",
            PINFOLD_PROVIDERS__HERE__BASE_URL=server.url,
            PINFOLD_PROVIDERS__HERE__API_KEY_ENV="OPENAI_API_KEY",
            PINFOLD_MODEL__PROVIDER="here",
            PINFOLD_TOOLS__ENV_KEEP="KEPT_KEY,NOT_THERE",
        )
        ended = await pinfold.run("exec", "--approvals", "full", "look")
    assert ended.code == 0, ended.err
    assert server.requests[0].headers["authorization"] == "Bearer sk-test"
    seen = server.bodies[1]["messages"][-1]["content"]
    assert "HOME=" in seen
    assert "KEPT_KEY=kept" in seen
    for secret in ("sk-test", "gsk-of-another", "of-my-own", "in-a-header"):
        assert secret not in seen


@pytest.mark.parametrize("json_mode", [[], ["--json"]], ids=["text", "json"])
async def test_what_an_untrusted_project_wants_is_named_on_stderr(
    tmp_path: Path, json_mode: list[str]
) -> None:
    write = Call("write_file", json.dumps({"path": "new.txt", "content": "x"}), "c1")
    async with on_server(tmp_path, [Reply(calls=(write,)), Reply("I may not.")]) as (
        server,
        pinfold,
    ):
        project = pinfold.work / ".pinfold" / "config.toml"
        project.parent.mkdir()
        project.write_text(
            '[approvals]\nmode = "read-only"\n'
            '[model]\nreasoning_effort = "high"\n"\\u001b]52;c;x\\u0007" = 1\n[typo]\nx = 1\n'
        )
        ended = await pinfold.run("exec", *json_mode, "go")
    assert ended.code == 0, ended.err
    (line,) = (text for text in ended.err.splitlines() if "until you trust" in text)
    assert line.startswith("pinfold: ~/work/.pinfold/config.toml: model.reasoning_effort, ")
    assert line.endswith("typo.x wait until you trust this folder (/trust)")
    assert "\x1b" not in ended.err
    assert "reasoning_effort" not in server.bodies[0]
    assert "read-only" in json.dumps(server.bodies[1])


async def test_a_pipe_in_the_place_of_the_projects_config_is_told(tmp_path: Path) -> None:
    pinfold = Pinfold(tmp_path)
    (pinfold.work / ".pinfold").mkdir()
    os.mkfifo(pinfold.work / ".pinfold" / "config.toml")
    ended = await pinfold.run("exec", "go")
    assert ended.code == 2
    assert ended.err == (
        "pinfold: ~/work/.pinfold/config.toml can't be read: it is not a regular file\n"
    )


PAGES = {"/v1/models": {"data": [{"id": "scripted-1"}, {"id": "scripted-2"}]}}


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        (["-m", "scriptd-1"], {}, "has no model scriptd-1; did you mean scripted-1?"),
        (["-m", "ghost/x"], {}, "has no model ghost/x; there are scripted-1, scripted-2."),
        (["-c", "model.name=nosuch"], {}, "has no model nosuch; there are"),
        (["--provider", "opneai"], {}, "There is no provider opneai; did you mean openai?"),
        (["--provider", "groq"], {}, "GROQ_API_KEY is not set; it holds the key of groq."),
        (
            [],
            {
                "PINFOLD_PROVIDERS__MINE__BASE_URL": "http://127.0.0.1:9/v1",
                "PINFOLD_PROVIDERS__MINE__API_KEY_ENV": "MY_KEY",
            },
            "MY_KEY is not set; it holds the key of mine.",
        ),
        (["-c", "compact.mode=layerd"], {}, "compact.mode can't be layerd; did you mean layered?"),
    ],
)
async def test_what_was_asked_for_and_is_not_there_is_wrong_use(
    tmp_path: Path, arguments: list[str], env: dict[str, str], said: str
) -> None:
    async with on_server(tmp_path, [Reply("hello")], pages=PAGES, **env) as (server, pinfold):
        ended = await pinfold.run("exec", *arguments, "go")
        assert not server.bodies
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
    assert not pinfold.rollouts()


async def test_a_typo_in_the_users_config_is_no_reason_to_ask_another_model(
    tmp_path: Path,
) -> None:
    pinfold = Pinfold(tmp_path)
    config = pinfold.config / "pinfold" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[provider.mine]\nbase_url = "http://127.0.0.1:9/v1"\n')
    ended = await pinfold.run("exec", "go")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "pinfold: ~/config/pinfold/config.toml: provider is not a section of settings; "
        "did you mean providers?\n"
    )


async def test_a_refusal_without_a_user_says_of_what_why_and_what_would_allow_it() -> None:
    review = Review("command", "$ make all", command="make all")
    asked = Question("c1", "shell", "{}", review, "runs in the sandbox")
    decision = await headless.no_terminal(asked)
    assert decision.verdict == "policy"
    assert decision.note.startswith(
        "$ make all needs a yes (runs in the sandbox), and nobody can be asked here. "
        "--approvals workspace allows"
    )
