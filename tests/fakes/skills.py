"""Skills and commands on the disk."""

from pathlib import Path

import pytest

from pinfold.skills.library import Library
from pinfold.skills.places import places


def user_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a user whose home is `folder/user`."""
    monkeypatch.setenv("HOME", str(folder / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "user/.config"))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)


class Ground:
    """A user's home and a repository."""

    def __init__(self, folder: Path) -> None:
        self.home, self.repo = folder / "user", folder / "work"
        self.cwd = self.repo / "app"
        (self.repo / ".git").mkdir(parents=True)
        self.cwd.mkdir()
        self.home.mkdir()
        self.library = Library(lambda: places(self.cwd), folder / "data", lambda: self.trusted)
        self.trusted = True

    def skill(self, place: Path, name: str, text: str = "", more: str = "") -> Path:
        file = place / "skills" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(
            text or f"---\nname: {name}\ndescription: {name} of {place.name}\n{more}---\nDo."
        )
        return file

    def command(self, place: Path, name: str, text: str = "Do $1.") -> Path:
        file = place / "commands" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def accept(self) -> None:
        self.library.refresh()
        self.library.accept(self.library.waiting)
