"""`pinfold compact`, `checkpoint`, `history` and `restore`, on files and on sessions."""

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fakes.foreign import Codex, codex_session
from fakes.openai_server import FakeOpenAI, Reply
from fakes.process import Pinfold
from fakes.summaries import answer, entry
from pinfold.agent.clock import CLOCK
from pinfold.cli import run
from pinfold.rollout.codec import decode
from pinfold.rollout.events import CompactionFinished, ModelChanged, WindowReplaced
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore

Out = pytest.CaptureFixture[str]
Say = Callable[..., str]
SMALL = ("--strategy", "checkpoint", "--max-tail", "4", "--min-headroom", "1000")


def working() -> Codex:
    """Turns in which the agent reads a file and says what is in it."""
    made = Codex()
    made.meta()
    made.turn_context()
    for turn in range(1, 13):
        made.user(f"Make part {turn} faster. Keep port 80{turn:02}.")
        made.call(f"call_{turn}", f"cat src/part_{turn}.py")
        lines = (f"def function_{turn}_{line}(value): ..." for line in range(60))
        made.result(f"call_{turn}", "\n".join(lines))
        made.assistant(f"Part {turn} is \x1b[31mfaster\x1b[0m now: see docs/part_{turn}.md.")
    made.tokens(11_000, 20_000)
    return made


@pytest.fixture(autouse=True)
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("work.jsonl").write_bytes(b"".join(working().encoded()))
    Path("codex.jsonl").write_bytes(b"".join(codex_session().encoded()))
    return tmp_path


@pytest.fixture
def session(folder: Path, say: Say) -> Path:
    """The folder of a session that was adopted from `work.jsonl`."""
    say("adopt", "work.jsonl", "--no-open")
    return SessionStore(folder / "home").last()


def replaced(session: Path) -> list[WindowReplaced]:
    lines = (session / "rollout.jsonl").read_bytes().splitlines()
    events = (decode(line).data for line in lines)
    return [event for event in events if isinstance(event, WindowReplaced)]


# A file


async def test_the_golden_reports(folder: Path, golden: SnapshotAssertion) -> None:
    """What a person reads of a file."""
    pinfold = Pinfold(folder)
    for name, arguments in {
        "compact": ("compact", "work.jsonl", "--dry-run", *SMALL),
        "compact_json": ("compact", "work.jsonl", "--dry-run", "--json", *SMALL),
        "checkpoint": ("checkpoint", "work.jsonl", "--digest", "300"),
        "history": ("history", "codex.jsonl"),
        "history_diff": ("history", "codex.jsonl", "--diff", "0", "2"),
    }.items():
        ended = await pinfold.run(*arguments)
        assert (ended.code, ended.err) == (0, "")
        assert "\x1b" not in ended.out
        assert ended.out.encode() == golden(name=name)


def test_a_file_is_only_looked_at(folder: Path, capsys: Out) -> None:
    before = Path("work.jsonl").read_bytes()
    assert run(["compact", "work.jsonl", "--json", *SMALL]) == 0
    said = capsys.readouterr()
    assert "adopt it first: pinfold adopt work.jsonl" in said.err
    assert json.loads(said.out)["applied"] is False
    assert run(["compact", "work.jsonl", "--dry-run", "--json", *SMALL]) == 0
    assert capsys.readouterr() == (said.out, "")
    assert Path("work.jsonl").read_bytes() == before
    assert not (folder / "home").exists()


def test_options_change_the_plan(say: Say) -> None:
    def planned(*arguments: str) -> Any:
        return json.loads(say("compact", "work.jsonl", "--dry-run", "--json", *arguments))["report"]

    assert planned("--strategy", "prune")["strategy"] == "prune"
    assert planned("--target", "0.2")["after"] < planned("--target", "0.6")["after"]
    few = planned("--strategy", "checkpoint", "--max-tail", "2", "--target", "0.6")
    many = planned("--strategy", "checkpoint", "--max-tail", "40", "--target", "0.6")
    assert few["kept"] < many["kept"]
    assert planned("--model", "gpt-4o")["limit"] == 128_000


def test_the_window_that_is_set_for_this_once_counts(
    folder: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    def report(*arguments: str) -> Any:
        return json.loads(say("compact", "work.jsonl", "--dry-run", "--json", *arguments))["report"]

    whole = report()
    given = report("-c", "model.context_window=9000")
    assert (given["limit"], given["window_source"]) == (9_000, "config")
    monkeypatch.setenv("PINFOLD_MODEL_CONTEXT_WINDOW_TOKENS", "9000")
    assert report() == given
    monkeypatch.delenv("PINFOLD_MODEL_CONTEXT_WINDOW_TOKENS")
    (folder / "config/pinfold").mkdir(parents=True)
    config = folder / "config/pinfold/config.toml"
    config.write_text('[model]\nname = "another"\ncontext_window = 9000\n')
    assert report() == whole, "the window of another model says nothing of this one"


def test_the_dry_run_says_where_its_figures_come_from(say: Say) -> None:
    said = say("compact", "work.jsonl", "--dry-run", "-c", "model.context_window=9000", *SMALL)
    assert "tokens measured; window of 9,000 from the settings" in said
    other = ("--json", "--model", "gpt-4o", *SMALL)
    report = json.loads(say("compact", "work.jsonl", "--dry-run", *other))["report"]
    assert (report["source"], report["window_source"]) == ("estimated", "table")


def test_headroom_that_can_not_be_had_is_said(say: Say) -> None:
    def said(*arguments: str) -> str:
        small = ("--dry-run", "-c", "model.context_window=9000", "--strategy", "checkpoint")
        return say("compact", "work.jsonl", *small, *arguments)

    assert "min_headroom_tokens asks for" not in said()
    assert "min_headroom_tokens asks for" not in said("--min-headroom", "1000")
    note = "note: min_headroom_tokens asks for 6,700, and "
    assert note in said("--min-headroom", "6700")
    assert "no more than 1,012, 15% of what a request may have" in said("--min-headroom", "6700")


def test_below_the_threshold_nothing_is_done(session: Path, say: Say, capsys: Out) -> None:
    low = ("--auto-compact-threshold", "0.99")
    said = say("compact", session.name, *low, *SMALL)
    assert said.startswith("Not compacted: the window has ")
    assert json.loads(say("compact", session.name, "--json", *low))["applied"] is False
    assert not replaced(session)
    assert "Compaction complete" in say(
        "compact", session.name, "--auto-compact-threshold", "1%", *SMALL
    )
    assert run(["compact", session.name, "--auto-compact-threshold", "much"]) == 2
    assert "“much” is not a share of the window" in capsys.readouterr().err


def test_the_inserted_text_alone(say: Say) -> None:
    text = say("compact", "work.jsonl", "--dry-run", "--text", *SMALL)
    report = json.loads(say("compact", "work.jsonl", "--dry-run", "--json", *SMALL))["report"]
    assert text == report["inserted"][0]["text"].rstrip("\n") + "\n"
    assert "[WHAT WAS SAID AND DONE]" in text


def test_what_cannot_be_compacted_says_why(say: Say) -> None:
    Path("short.json").write_text(json.dumps([{"role": "user", "content": "Hello."}]))
    assert "would not make the window smaller" in say("compact", "short.json", "--dry-run", code=1)
    said = say("compact", "work.jsonl", "--dry-run", "--strategy", "best", code=1)
    assert "There is no strategy best. There are: checkpoint" in said
    assert "pinfold.jsonl" in say("checkpoint", "pinfold.jsonl", code=1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["compact", "work.jsonl", "--target", "7"],
            "--target: must be a share of the usable window: above 0, at most 1",
        ),
        (
            ["compact", "work.jsonl", "--max-tail", "0"],
            "--max-tail: must be a whole number, at least 1",
        ),
        (["compact"], "name a session or a file"),
        (["checkpoint", "work.jsonl", "--digest", "-1"], "0 or more"),
        (["restore", "work.jsonl", "0"], "adopt it first"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], why: str, capsys: Out) -> None:
    assert run(arguments) == 2
    assert why in capsys.readouterr().err


# A model that writes

GOOD = answer(
    task=entry((1, "Make part 1 faster"), text="Make all parts faster."),
    constraints=[entry((1, "Keep port 8001"), text="Port 8001 stays.")],
    decisions=[entry(text="Move to port 9999.")],
)


def pinfold(folder: Path, server: FakeOpenAI) -> Pinfold:
    where = {**Pinfold.on(server.url), "PINFOLD_MODEL__CONTEXT_WINDOW": "32000"}
    return Pinfold(folder, **where)


async def adopted(at: Pinfold) -> str:
    """The id of a session made of `work.jsonl`."""
    assert (await at.run("adopt", "work.jsonl", "--no-open")).code == 0
    return at.rollouts()[0].parent.name


async def test_a_file_s_dry_run_asks_a_model_and_writes_nothing(folder: Path) -> None:
    async with FakeOpenAI([Reply(GOOD)]) as server:
        at = pinfold(folder, server)
        ended = await at.run(
            *("compact", "work.jsonl", "--dry-run", "--strategy", "snapshot"),
            *("--focus", "the ports", "--keep-roles", "none", "-m", "writer"),
        )
    assert ended.code == 0, ended.err
    assert ended.out.startswith("Strategy snapshot: ")
    assert "Port 8001 stays." in ended.out
    assert "note: Left out, as no item confirms it: 1 entry." in ended.out
    steps = [line.partition(" · ")[0] for line in ended.err.splitlines()]
    assert steps == [
        f"snapshot: {step}"
        for step in ("picking", "grouping", "summarising", "swapping in", "checking")
    ]
    (asked,) = server.bodies
    assert asked["model"] == "writer"
    assert "the ports" in json.dumps(asked)
    assert not at.home.exists()


async def test_a_session_is_compacted_by_a_model(folder: Path) -> None:
    async with FakeOpenAI([Reply(GOOD)]) as server:
        at = pinfold(folder, server)
        name = await adopted(at)
        ended = await at.run("compact", name, "--strategy", "snapshot")
    assert ended.code == 0, ended.err
    assert "Compaction complete: " in ended.out
    (event,) = replaced(at.rollouts()[0].parent)
    assert (event.strategy, event.reason) == ("snapshot", "manual")
    assert "Port 8001 stays." in event.inserted[0].content
    assert "9999" not in event.inserted[0].content


async def test_a_model_that_needs_not_be_asked_is_not_connected(folder: Path) -> None:
    async with FakeOpenAI() as server:
        at = pinfold(folder, server)
        ended = await at.run("compact", await adopted(at), *SMALL)
        assert (ended.code, ended.err) == (0, "")
        assert server.connections == 0


@pytest.mark.parametrize("dry", [["--dry-run"], []], ids=["dry run", "for real"])
async def test_without_a_model_checkpoint_takes_its_place(folder: Path, dry: list[str]) -> None:
    async with FakeOpenAI([Reply(status=401, body={"error": {"message": "no"}})] * 3) as server:
        at = pinfold(folder, server)
        ended = await at.run("compact", await adopted(at), "--strategy", "handoff", *dry)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("Strategy checkpoint: ")
    assert "note: handoff failed: " in ended.out


async def test_ctrl_c_leaves_the_window_as_it_is(folder: Path) -> None:
    async with FakeOpenAI([Reply(GOOD, gate=asyncio.Event(), gate_at=3)]) as server:
        at = pinfold(folder, server)
        name = await adopted(at)
        process = await at.start("compact", name, "--strategy", "snapshot")
        async with asyncio.timeout(60):
            while not server.bodies:
                await asyncio.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, err = await process.communicate()
    assert process.returncode == 1
    assert out == b""
    assert err.decode().splitlines()[-1] == "pinfold: interrupted"
    session = at.rollouts()[0].parent
    assert replaced(session) == []
    lines = (session / "rollout.jsonl").read_bytes().splitlines()
    ends = [event for line in lines if isinstance(event := decode(line).data, CompactionFinished)]
    assert [end.status for end in ends] == ["cancelled"]


def test_wrong_roles_are_told(capsys: Out) -> None:
    assert run(["compact", "work.jsonl", "--keep-roles", "tools"]) == 2
    assert "--keep-roles: tools is not one of decision, diff, tool, none" in capsys.readouterr().err


def test_files_to_keep_are_a_list_and_roles_that_are_not_used_are_told(say: Say) -> None:
    said = say(
        *("compact", "work.jsonl", "--dry-run", *SMALL, "--keep-roles", "diff", "--target", "0.5"),
        *("--keep-files", "src/part_1.py,src/part_2.py", "--keep-files", "src/part_3.py"),
    )
    assert "note: keep_files_glob: no room for src/part_" in said
    assert "note: keep_roles has no effect on checkpoint: only snapshot uses it." in said
    assert say("compact", "work.jsonl", "--dry-run", *SMALL, "--keep-files", "none.py") == say(
        "compact", "work.jsonl", "--dry-run", *SMALL
    )


# A checkpoint


def test_a_checkpoint_as_json(session: Path, say: Say) -> None:
    text = say("checkpoint", session.name, "--json")
    found = json.loads(text)
    assert found["schemaVersion"] == 1
    assert found["task"]["text"].startswith("Make part 12 faster.")
    say("compact", session.name, *SMALL)
    kept = (session / "checkpoint_v1.json").read_text()
    assert kept == say("checkpoint", session.name, "--json"), (
        "what is kept beside the session is what was shown"
    )


def test_the_digest_fits_its_budget(say: Say) -> None:
    checkpoint = say("checkpoint", "work.jsonl", "--digest", "0")
    assert "USER: " not in checkpoint
    short = say("checkpoint", "work.jsonl", "--digest", "100")
    long = say("checkpoint", "work.jsonl")
    assert short.startswith(checkpoint)
    assert len(checkpoint) < len(short) < len(long)


# A session


def test_what_was_shown_is_what_is_applied(session: Path, say: Say) -> None:
    before = (session / "rollout.jsonl").read_bytes()
    shown = json.loads(say("compact", session.name, "--dry-run", "--json", *SMALL))
    assert (session / "rollout.jsonl").read_bytes() == before
    made = json.loads(say("compact", session.name, "--json", *SMALL))
    assert made == {**shown, "applied": True}
    (event,) = replaced(session)
    assert (event.reason, event.strategy) == ("manual", "checkpoint")
    assert event.inserted[0].content == made["report"]["inserted"][0]["text"]
    reading = json.loads(say("context", session.name, "--json"))["reading"]
    assert reading["used"] == made["report"]["after"]


def test_the_last_lines_say_what_was_done_and_how_to_go_back(session: Path, say: Say) -> None:
    *_, done, back = say("compact", session.name, *SMALL).splitlines()
    assert done.startswith("Compaction complete: ")
    command = back.partition(": pinfold ")[2].split()
    assert command == ["restore", session.name, "0"]
    said = "Window 0 is restored, with everything since: 48 items. 11k of 20k tokens.\n"
    assert say(*command) == said
    assert [event.reason for event in replaced(session)] == ["manual", "restore"]


def test_a_window_is_named_by_the_time_of_its_compaction_too(session: Path, say: Say) -> None:
    say("compact", session.name, *SMALL)
    assert "No window was compacted at 1999T" in say("restore", session.name, "1999T", code=1)
    assert say("restore", session.name, stamp(session)).startswith("Window 0 is restored")


def test_the_files_of_older_versions_still_name_windows(session: Path, say: Say) -> None:
    say("compact", session.name, *SMALL)
    (session / "history").mkdir()
    (session / "history/20250203T040506-0.jsonl").write_text("{}")
    assert say("restore", session.name, "2025-02-03 04:05").startswith("Window 0 is restored")


def stamp(session: Path) -> str:
    """When the session was compacted last."""
    lines = (session / "rollout.jsonl").read_bytes().splitlines()
    return max(
        f"{e.ts:%Y%m%dT%H%M%S}" for e in map(decode, lines) if isinstance(e.data, WindowReplaced)
    )


def test_a_window_is_exported_in_full(session: Path, say: Say) -> None:
    before = say("history", session.name, "--export", "0")
    say("compact", session.name, *SMALL)
    head, *lines = map(json.loads, say("history", session.name, "--export", "0").splitlines())
    assert (head["generation"], head["items"], len(lines)) == (0, 48, 48)
    assert [line["n"] for line in lines] == list(range(1, 49))
    assert all(line["form"] == "full" and line["item"]["kind"] for line in lines)
    assert [json.loads(line) for line in before.splitlines()] == [head, *lines]
    written = say("history", session.name, "--export", stamp(session), "-o", "window.jsonl")
    assert written.endswith("window.jsonl: no secrets found.\n")
    kept = Path("window.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == [head, *lines]
    again = say("history", session.name, "--export", "0", "-o", "window.jsonl", code=1)
    assert "exists already" in again
    assert "There is no window 9" in say("history", session.name, "--export", "9", code=1)


def test_a_window_of_a_foreign_session_is_exported(say: Say) -> None:
    head, *lines = say("history", "codex.jsonl", "--export", "0").splitlines()
    assert json.loads(head)["items"] == len(lines) > 0


def test_a_restore_that_does_not_fit_says_so(session: Path, say: Say) -> None:
    say("compact", session.name, *SMALL)
    with Journal.open(session, CLOCK.now) as journal:
        journal.append(
            ModelChanged(
                provider="openai", model="gpt-5.5", context_window=8_000, window_source="server"
            )
        )
    said = say("restore", session.name, "0")
    assert "more than fit: compact it before you continue." in said


def test_a_session_that_is_open_elsewhere_is_left_alone(session: Path, say: Say) -> None:
    with Journal.open(session, CLOCK.now):
        assert "open in another pinfold" in say("compact", session.name, *SMALL, code=1)
        assert "open in another pinfold" in say("restore", session.name, "0", code=1)
    assert replaced(session) == []


def test_history_shows_lists_and_compares(session: Path, say: Say) -> None:
    say("compact", session.name, *SMALL)
    first, now = json.loads(say("history", session.name, "--json"))
    assert (first["generation"], first["items"]) == (0, 48)
    assert first["since"] <= now["since"]
    assert (now["generation"], now["strategy"]) == (1, "checkpoint")
    assert now["tokens"]["after"] < now["tokens"]["before"]
    assert len(say("history", session.name, "--show", "0").splitlines()) == first["items"]
    shown = json.loads(say("history", session.name, "--show", "1", "--json"))
    assert [line["kind"] for line in shown].count("checkpoint") == 1
    changes = json.loads(say("history", session.name, "--diff", "0", "1", "--json"))
    new = [change["n"] for change in changes if change["before"] is None]
    assert new == [line["n"] for line in shown if line["kind"] == "checkpoint"]
    assert "There is no window 2: there are 0 to 1." in say(
        "history", session.name, "--show", "2", code=1
    )
    assert "There is no earlier window 1." in say("restore", session.name, "1", code=1)
