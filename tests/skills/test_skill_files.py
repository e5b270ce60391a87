"""Skills and commands on the disk, of the user and of a project."""

import os
from pathlib import Path

import pytest

from fakes.skills import Ground
from pinfold import trust
from pinfold.skills.reader import MOST


def test_the_first_of_a_name_counts_and_the_others_are_listed(ground: Ground) -> None:
    config = ground.home / ".config/pinfold"
    ground.skill(ground.repo / ".agents", "a")
    ground.skill(ground.cwd / ".claude", "a")
    ground.skill(ground.cwd / ".pinfold", "b")
    ground.skill(ground.home / ".claude", "b")
    ground.skill(ground.home / ".agents", "b")
    ground.skill(config, "c")
    ground.accept()
    found = ground.library.shelf.of("skill")
    assert [(one.name, one.description, bool(one.hidden_by)) for one in found] == [
        ("c", "c of pinfold", False),
        ("b", "b of .agents", False),
        ("b", "b of .claude", True),
        ("b", "b of .pinfold", True),
        ("a", "a of .claude", False),
        ("a", "a of .agents", True),
    ]
    assert [one.description for one in ground.library.skills] == [
        "c of pinfold",
        "b of .agents",
        "a of .claude",
    ]


def test_those_of_a_project_wait_for_trust_and_again_once_they_change(ground: Ground) -> None:
    library = ground.library
    file = ground.skill(ground.repo / ".claude", "pdf")
    (file.parent / "a/b/c/d/.e").mkdir(parents=True)
    (run := file.parent / "a/b/c/d/.e/run.py").write_text("1")
    ground.command(ground.repo / ".claude", "deploy")
    ground.skill(ground.home / ".claude", "mine")
    ground.trusted = False
    library.refresh()
    assert {one.name: one.state for one in library.shelf.found} == {
        "mine": "ready",
        "pdf": "untrusted",
        "deploy": "untrusted",
    }
    ground.trusted = True
    library.refresh()
    assert [(one.name, one.state) for one in library.waiting] == [("pdf", "new"), ("deploy", "new")]
    library.accept(library.waiting)
    assert library.waiting == ()
    assert [one.name for one in library.skills] == ["mine", "pdf"]
    run.write_text("2")
    library.refresh()
    assert [(one.name, one.state) for one in library.waiting] == [("pdf", "changed")]
    assert [one.name for one in library.skills] == ["mine"]
    ground.home.joinpath(".claude/skills/mine/SKILL.md").write_text("---\nname: mine\n---\nNew")
    assert [one.body for one in library.refresh().found if one.name == "mine"] == ["New"]


def test_names_of_commands(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(ground.home / "codex"))
    ground.command(ground.home / ".claude", "deploy", "mine")
    ground.command(ground.repo / ".claude", "deploy", "theirs")
    ground.command(ground.repo / ".claude", "web/deploy", "web")
    ground.command(ground.home / ".claude", "help", "help")
    ground.skill(ground.home / ".claude", "pdf")
    prompt = ground.home / "codex/prompts/draft.md"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("---\ndescription: Drafts\nargument-hint: [FILE] [SIZE]\n---\nDraft")
    ground.accept()

    def called(text: str) -> tuple[str, str] | None:
        found = ground.library.parse(text, {"help"})
        return found and (found.extension.body, found.arguments)

    assert called("/deploy a b") == ("mine", "a b")
    assert called("/project:deploy\na") == ("theirs", "a")
    assert called("/user:deploy") == ("mine", "")
    assert called("/web:deploy") == ("web", "")
    assert called("/prompts:draft x") == ("Draft", "x")
    assert called("/user:help") == ("help", "")
    assert called("/pdf a.pdf") == called("/skill pdf a.pdf") == ("Do.", "a.pdf")
    for text in ("/help", " /deploy", "/none", "/skill", "/skill deploy", "deploy"):
        assert called(text) is None
    assert list(ground.library.names({"help"})) == [
        "deploy",
        "user:help",
        "project:deploy",
        "web:deploy",
        "prompts:draft",
        "pdf",
    ]


def test_what_is_broken_is_a_sentence_and_what_is_odd_a_note(ground: Ground) -> None:
    place = ground.home / ".claude"
    ground.skill(place, "broken", "---\nname: x\n")
    ground.skill(place, "empty", "---\nname: empty\n---\n")
    ground.skill(place, "plain", "no front matter")
    ground.skill(place, "short", "---\nname: short\n---\n\nFirst line\nmore")
    ground.skill(
        place,
        "odd",
        "---\nname: My\x1b[2J Skill\ndescription: a: b\nallowed-tools: Bash(git *), Read\n---\nx",
    )
    ground.command(place, "bad name")
    shelf = ground.library.refresh()
    assert [one.removeprefix("~/.claude/") for one in shelf.problems] == [
        "skills/broken/SKILL.md, line 1: the front matter has no closing line “---”.",
        "skills/empty/SKILL.md, line 1: it has no description and no text.",
        "skills/plain/SKILL.md, line 1: it has no front matter with a name and a description.",
        "commands/bad name.md is not a command: its name must be letters, digits, -, _ and dots.",
    ]
    odd, short = shelf.found
    assert (odd.name, odd.description, odd.tools) == ("odd", "a: b", ("Bash(git *)", "Read"))
    assert list(odd.notes) == [
        "the value on line 2 needs quotes.",
        "the value on line 3 needs quotes.",
        "“My␛[2J Skill” is no valid name: it is called odd, like its folder",
    ]
    assert short.description == "First line"


def test_a_hostile_project(ground: Ground) -> None:
    place = ground.repo / ".claude"
    secret = ground.home / "secret.md"
    secret.write_text("---\nname: s\ndescription: d\n---\nsecret")
    ground.skill(place, "out").unlink()
    (place / "skills/out/SKILL.md").symlink_to(secret)
    (place / "skills/home").symlink_to(ground.home)
    (place / "skills/loop").symlink_to(place / "skills/loop")
    with ground.skill(place, "huge").open("wb") as sparse:
        sparse.truncate(1 << 30)
    os.mkfifo(ground.skill(place, "pipe").parent / "run.fifo")
    (place / "skills/pipe/out.md").symlink_to(secret)
    (ground.home / "SKILL.md").write_text("---\nname: h\ndescription: d\n---\nsecret")
    for number in range(MOST + 50):
        ground.skill(place, f"z{number:04}")
    shelf = ground.library.refresh()
    assert len(shelf.of("skill")) == MOST
    assert "secret" not in {one.body for one in shelf.found}
    said = [one.partition("/.claude/skills/")[2] for one in shelf.problems]
    assert said[0] == "home/SKILL.md links out of the project: it is not read."
    assert said[1].startswith("huge/SKILL.md can't be read: it has more than")
    assert said[2] == "out/SKILL.md links out of the project: it is not read."
    assert shelf.problems[3].startswith(f"Only {MOST} are read")


def test_accepted_texts_outlive_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / trust.ACCEPTED).write_text("[1]")
    assert trust.accepted(tmp_path) == {}
    trust.accept(tmp_path, {"a": "1"})
    trust.accept(tmp_path, {"b": "2", "a": "3"})
    assert trust.accepted(tmp_path) == {"a": "3", "b": "2"}
