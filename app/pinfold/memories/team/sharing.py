"""Which folders are shared with which team, from the user's own config."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from pinfold.paths import repository_root
from pinfold.settings import SettingsError, TeamSettings


class Team(Struct, frozen=True):
    """A folder whose memories a team shares."""

    name: str
    """Also the name of its role in the database."""
    folder: Path
    root: Path
    """The repository's root, to which paths are relative when they leave."""

    def relative(self, path: Path) -> str | None:
        """A path relative to the root; None if it is outside the folder."""
        real = path.resolve()
        if not real.is_relative_to(self.folder):
            return None
        found = real.relative_to(self.root).as_posix()
        return "" if found == "." else found

    def here(self, relative: str) -> Path:
        """The path on this machine of a path that was pulled."""
        return self.root / relative


def teams(settings: Iterable[TeamSettings]) -> tuple[Team, ...]:
    """The shared folders. Blocking. Raises `SettingsError`."""
    found: dict[str, Team] = {}
    for team in settings:
        if team.name in found:
            raise SettingsError(
                f"memories.team names {team.name} twice; a team has one folder: the one above both"
            )
        folder = Path(team.folder).resolve()
        found[team.name] = Team(team.name, folder, repository_root(folder) or folder)
    return tuple(found.values())


def team_of(cwd: str | Path, every: Iterable[Team]) -> Team | None:
    """The team of a session in `cwd`: that of the innermost shared folder."""
    try:
        path = Path(cwd).resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    around = [team for team in every if path.is_relative_to(team.folder)]
    return max(around, key=lambda team: len(team.folder.parts), default=None)
