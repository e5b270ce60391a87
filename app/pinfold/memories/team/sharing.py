"""Which folders are shared with which team, as the user's own config says."""

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
    """Of the repository: what paths are relative to when they leave."""

    def relative(self, path: Path) -> str | None:
        """A path as it leaves: relative to the root; None outside the folder."""
        real = path.resolve()
        if not real.is_relative_to(self.folder):
            return None
        found = real.relative_to(self.root).as_posix()
        return "" if found == "." else found

    def here(self, relative: str) -> Path:
        """A path that was pulled, on this machine."""
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
    """The team that a session in `cwd` belongs to: that of the innermost shared folder."""
    try:
        path = Path(cwd).resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    around = [team for team in every if path.is_relative_to(team.folder)]
    return max(around, key=lambda team: len(team.folder.parts), default=None)
