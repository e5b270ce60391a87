"""What may leave a machine: no absolute paths, no names of homes, nothing of other folders."""

from pathlib import Path

import pytest

from pinfold.memories.team.leaving import LeavingFilter, paths_in
from pinfold.memories.team.sharing import Team, team_of


@pytest.fixture
def team(tmp_path: Path) -> Team:
    (tmp_path / "repo" / "src").mkdir(parents=True)
    return Team("payments", tmp_path / "repo", tmp_path / "repo")


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("see {root}/src/x.py:3", "see src/x.py:3"),
        ("cd {root} && make", "cd . && make"),
        ("in `{root}-old/x`", "in `…/x`"),
        ("read /srv/data/keys.txt today", "read …/keys.txt today"),
        ("-I/home/ada/include", "-I~/include"),
        ("PATH=/opt/tool/bin:/Users/Ada/bin", "PATH=…/bin:…/bin"),
        ("file:///home/ada/notes.md", "…/notes.md"),
        ("~/notes/a.md and ~ben/b", "…/a.md and …/b"),
        (r"C:\Users\ada\x.txt", "C:~\\x.txt"),
        ("//server/share/x", "…/x"),
        ("https://example.com/a/b and src/a/b", "https://example.com/a/b and src/a/b"),
        ("a/b or c, ./x/y, ../z", "a/b or c, ./x/y, ../z"),
    ],
)
def test_paths(team: Team, text: str, leaves: str) -> None:
    leaving = LeavingFilter(team, team.root)
    assert leaving.text(text.format(root=team.root)) == leaves


def test_names_of_homes(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/quirinus")
    monkeypatch.setattr("socket.gethostname", lambda: "quiribox.local")
    said = LeavingFilter(team, team.root).text("Quirinus did it on quiribox; quirinusish is a word")
    assert said == "user did it on user; quirinusish is a word"


def test_files_of_a_line(team: Team) -> None:
    leaving = LeavingFilter(team, team.root / "src")
    assert leaving.file("x.py") == "src/x.py"
    assert leaving.file("../../private/x.py") is None
    assert [leaving.outside(p) for p in ("x.py", "../y", "../../z", "~/k", "/dev/null")] == [
        *(False, False, True, True, False)
    ]
    assert paths_in("cat ../../z ~/k </etc/x >out a/b --x=/y/z") == [
        *("../../z", "~/k", "/etc/x", "/y/z")
    ]


def test_the_innermost_shared_folder_decides(team: Team, tmp_path: Path) -> None:
    inner = Team("inner", team.folder / "src", team.folder)
    (tmp_path / "link").symlink_to(team.folder)
    assert team_of(team.folder / "src" / "deep", (team, inner)) == inner
    assert team_of(tmp_path / "link", (team, inner)) == team
    assert team_of(tmp_path / "repo-2", (team, inner)) is None
