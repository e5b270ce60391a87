"""`pinfold memories`: what it prints, asks and refuses."""

import json
import sys
from pathlib import Path

import pytest

from fakes.memories import ONE, remembered
from fakes.terminal import Terminal
from pinfold.cli import run
from pinfold.memories.keeper import Keeper

RULE = "Run the tests with `make test`."


@pytest.fixture
def keeper(home: Path, tmp_path: Path) -> Keeper:
    return remembered(home, str(tmp_path)).keeper


def out(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def listed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    assert run(["memories", "list", "--json"]) == 0
    return [json.loads(line) for line in out(capsys).splitlines()]


def test_they_are_listed_and_one_is_shown_with_its_source(
    keeper: Keeper, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["memories"]) == 0
    assert f"rule: {RULE}" in out(capsys)
    found = listed(capsys)
    assert [entry["text"] for entry in found][:1] == [RULE]
    assert run(["memories", "show", str(found[0]["key"])[:8]]) == 0
    assert "#2 user, session 0198ab12-1234" in (said := out(capsys))
    assert "not pytest" in said
    assert run(["memories", "show", str(found[0]["key"]), "--json"]) == 0
    assert json.loads(out(capsys))["sources"][0]["items"][0]["n"] == 2


def test_options_may_stand_anywhere(keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    key = str(listed(capsys)[0]["key"])
    assert run(["memories", "show", "--json", key]) == 0
    assert json.loads(out(capsys))["memory"]["key"] == key
    assert run(["memories", "cler"]) == 2
    assert "no action “cler”; did you mean clear?" in capsys.readouterr().err


def test_forgetting_asks_first(keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    key = str(listed(capsys)[0]["key"])
    assert run(["memories", "forget", key]) == 2
    assert "use --yes" in capsys.readouterr().err
    assert run(["memories", "forget", key, "--yes"]) == 0
    assert RULE in out(capsys)
    assert all(ONE not in str(entry["cites"]) for entry in listed(capsys))
    assert run(["memories", "forget", "0198"]) == 1
    assert "No memory's key begins with" in capsys.readouterr().err


def test_with_json_each_ending_is_json(
    keeper: Keeper, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(listed(capsys)[0]["key"])

    def said(*arguments: str) -> dict[str, str]:
        run(["memories", *arguments, "--json"])
        found = json.loads(out(capsys))
        assert isinstance(found, dict)
        return found

    asks = "this asks first: use --yes when nobody can answer"
    assert said("forget", key) == said("clear") == {"error": asks}
    assert "No memory's key" in said("forget", "0198")["error"]
    monkeypatch.setattr(sys, "stdin", Terminal("n\nn\n"))
    assert said("forget", key) == said("clear") == {"declined": "Nothing removed."}
    assert "Forgotten" in said("forget", key, "--yes")["done"]
    assert "removed" in said("clear", "--yes")["done"]


def test_a_deleted_session_is_forgotten(keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["delete", "--yes", ONE]) == 0
    assert "Memories that came only from it are forgotten." in out(capsys)
    assert RULE not in (keeper.places.files / "memory_summary.md").read_text()
    assert all(ONE not in str(entry["cites"]) for entry in listed(capsys))
    assert ONE in keeper.reader.state.forgotten()


def test_all_are_removed(keeper: Keeper, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memories", "clear", "--yes"]) == 0
    assert "All memories are removed" in out(capsys)
    assert listed(capsys) == []


def test_the_doctor_says_what_is_wrong_and_counts_anew(
    keeper: Keeper, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["memories", "doctor", "--json"]) == 0
    said = json.loads(out(capsys))
    assert said["facts"]["sessions read"] == 2
    whats = " ".join(finding["what"] for finding in said["findings"])
    assert "limits.py no longer contains it" in whats
    assert "Use counts differed" in whats  # no journal says so
    assert keeper.reader.state.outputs()[0].usage_count == 0
    assert run(["memories", "doctor"]) == 0
    assert "Counts of use" not in out(capsys)
