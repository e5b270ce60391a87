"""Events of races between agents."""

from typing import Literal

from pinfold.rollout.data import Data


class RaceStarted(Data, frozen=True, kw_only=True):
    """The user has several agents answer one prompt, each in a fork of the window and in a folder
    of its own; they begin next."""

    race: int
    """Counted from 1."""
    prompt: str
    """As the user typed it."""
    apart: Literal["worktree", "copy"]
    """Their folders: Git worktrees, or copies of a folder that is in no Git repository."""
    tree: str
    """The Git tree of the user's folder when it began."""


class RaceTested(Data, frozen=True, kw_only=True):
    """A command of the user's ran in the folders of a race."""

    race: int
    command: str
    codes: tuple[tuple[int, int | None], ...]
    """Agents, with the exit code in the folder of each; null where it timed out or did not run."""


class RaceKept(Data, frozen=True, kw_only=True):
    """The changes of one agent were brought into the user's folder."""

    race: int
    child: int
    files: tuple[str, ...] = ()
    """Those that changed there."""


TYPES: dict[str, type[Data]] = {
    "race_started": RaceStarted,
    "race_tested": RaceTested,
    "race_kept": RaceKept,
}
