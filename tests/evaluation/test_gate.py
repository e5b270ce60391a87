"""`pinfold eval --gate`: rules that sessions must hold to, and how CI hears of it."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fakes.openai_server import FakeOpenAI, Reply
from fakes.repository import commit_all, git
from pinfold.cli import run
from pinfold.compaction.strategies import registry
from pinfold.compaction.strategies.checkpoint import Checkpoint
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView

Out = pytest.CaptureFixture[str]

RULES = """
[[rule]]
name = "the server"
sessions = "sessions/*.json"
budget = 1000
keeps = ["port 8443", "path:src/serve.py", "decision:#1", "exam:server.toml"]
"""
EXAM = '[[question]]\nquestion = "Which port?"\nanswers = ["8443"]\n'


@pytest.fixture(autouse=True)
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "sessions").mkdir()
    session(tmp_path / "sessions" / "a.json")
    (tmp_path / "rules.toml").write_text(RULES)
    (tmp_path / "server.toml").write_text(EXAM)
    return tmp_path


def session(file: Path, said: str = "Serve from src/serve.py.\nUse port 8443.") -> None:
    """A conversation of a few thousand tokens that begins with `said`."""
    talk = [{"role": "user", "content": said}]
    for at in range(40):
        talk.append({"role": "assistant", "content": f"Step {at}: " + "what was done. " * 20})
        talk.append({"role": "user", "content": f"Go on with step {at}."})
    file.write_text(json.dumps(talk))


def test_sessions_that_keep_all_pass(capsys: Out) -> None:
    assert run(["eval", "--gate", "rules.toml"]) == 0
    assert "Passed: 1 check." in capsys.readouterr().out


class Forgetful(Checkpoint):
    """`checkpoint` without the lines that name a port."""

    name = "forgetful"

    def plan(self, view: WindowView, material: Material, options: PlanOptions):  # type: ignore[no-untyped-def]
        plan = super().plan(view, material, options)
        text = plan.inserted[0].content
        less = "\n".join(line for line in text.splitlines() if "8443" not in line)
        return super().plan(view, material, replace(options, text=less))


def test_a_line_that_a_strategy_loses_fails_the_gate_until_it_is_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.setitem(registry.registry().strategies, "forgetful", Forgetful())
    (folder / "sessions/a.json").rename(folder / "sessions/a\udcff.json")  # a name that is no text
    assert run(["eval", "--gate", "rules.toml", "--write-baseline", "base.json"]) == 0
    (folder / "rules.toml").write_text(f'{RULES}strategy = "forgetful"\n')
    capsys.readouterr()
    written = ["--junit", "junit.xml", "--markdown", "gate.md"]
    assert run(["eval", "--gate", "rules.toml", "--baseline", "base.json", *written]) == 1
    out = capsys.readouterr().out
    assert "port 8443" in out
    assert "after 20" in out  # since when: after the day of the baseline
    assert "path:src/serve.py" not in out.replace("\n", "")
    [suite] = ET.parse(folder / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert "| a\ufffd | the server | port 8443 |" in (folder / "gate.md").read_text()
    assert run(["eval", "--gate", "rules.toml", "--json"]) == 1
    (folder / "rules.toml").write_text(RULES)
    assert run(["eval", "--gate", "rules.toml", "--baseline", "base.json"]) == 0


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (None, "can't be read"),
        ("rule = 3", "rules.toml"),
        ("[[rule]\n", "not valid TOML"),
        ("", "has no [[rule]]"),
        (RULES + 'strategy = "magic"\n', "there are: prune"),
        (RULES + 'strategy = "handoff"\n', "[[model.rule]]"),
        (RULES.replace("decision:#1", "decision:one"), "number of an item"),
        (
            RULES.replace("a*.json", "").replace("sessions/*.json", "none/*.json"),
            "no session matches",
        ),
        (RULES.replace("server.toml", "other.toml"), "can't be read"),
        (RULES + RULES, "two rules named"),
        (RULES.replace("budget = 1000", "budget = 3"), "budget"),
    ],
)
def test_rules_that_cannot_be_used_are_told_in_a_sentence(
    folder: Path, capsys: Out, rules: str | None, why: str
) -> None:
    (folder / "rules.toml").unlink()
    if rules is not None:
        (folder / "rules.toml").write_text(rules)
    assert run(["eval", "--gate", "rules.toml"]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1


def test_a_session_that_cannot_be_read_fails_the_gate(folder: Path, capsys: Out) -> None:
    (folder / "sessions" / "b.json").write_text("no session")
    assert run(["eval", "--gate", "rules.toml", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["unread"] == ["b"]
    assert [verdict["session"] for verdict in found["verdicts"]] == ["a"]


def test_the_rules_of_another_commit_hold_whatever_this_one_says(folder: Path) -> None:
    session(folder / "sessions" / "a.json", "Serve on port 9, from src/serve.py.")
    commit_all(folder)
    git(folder, "tag", "main-then")
    lax = RULES.replace('"port 8443", ', "").replace(', "exam:server.toml"', "")
    (folder / "rules.toml").write_text(lax)
    assert run(["eval", "--gate", "rules.toml"]) == 0
    assert run(["eval", "--gate", "rules.toml", "--against", "main-then"]) == 1
    assert run(["eval", "--gate", "rules.toml", "--against", "nowhere"]) == 2


def test_a_config_in_another_commit_that_is_wrong_is_told(folder: Path, capsys: Out) -> None:
    (folder / ".pinfold").mkdir()
    (folder / ".pinfold" / "config.toml").write_text('[compact]\nmax_tail_messages = "many"\n')
    commit_all(folder)
    (folder / ".pinfold" / "config.toml").unlink()
    assert run(["eval", "--gate", "rules.toml", "--against", "HEAD"]) == 2
    assert "max_tail_messages" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("replies", "code"),
    [(["It is 8443.", "unknown", "8443"], 0), (["unknown", "8443", "80"], 1)],
)
async def test_rules_with_a_model_fail_where_the_median_run_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out, replies: list[str], code: int
) -> None:
    rule = RULES.replace("[[rule]]", "[model]\nruns = 3\n[[model.rule]]")
    (folder / "rules.toml").write_text(rule)
    async with FakeOpenAI([Reply(text) for text in replies]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        words = ["eval", "--gate", "rules.toml", "-m", "m"]
        assert await asyncio.to_thread(run, words) == 0  # the rule did not run
        assert "1 rule uses a model and did not run" in capsys.readouterr().err
        assert await asyncio.to_thread(run, [*words, "--with-model"]) == code
        assert len(server.bodies) == 3


async def test_a_session_that_a_model_rule_cannot_read_is_named_and_stops_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    rule = RULES.replace("[[rule]]", "[model]\nruns = 1\n[[model.rule]]")
    (folder / "rules.toml").write_text(rule)
    (folder / "sessions" / "b.json").write_text("no session")
    async with FakeOpenAI([Reply("8443")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        words = ["eval", "--gate", "rules.toml", "-m", "m", "--with-model", "--json"]
        assert await asyncio.to_thread(run, words) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["unread"] == ["b"]
    assert [verdict["session"] for verdict in found["verdicts"]] == ["a"]
