"""Expected failures, and how they are shown."""

from pinfold.adopt.adoption import NotASession
from pinfold.commands.arguments import CommandError
from pinfold.commands.context import Level
from pinfold.memories import places
from pinfold.memories.records import StateError
from pinfold.ports.errors import NoSuchModel, ProviderError
from pinfold.rollout.hold import SessionHeld
from pinfold.rollout.journal import JournalError
from pinfold.settings import SettingsError
from pinfold.vault.shelf import VaultError
from pinfold.window.refused import NothingToDo, Refused

EXPECTED = (
    CommandError,
    Refused,
    SettingsError,
    JournalError,
    SessionHeld,
    NotASession,
    ProviderError,
    StateError,
    VaultError,
    places.MemoriesRefused,
    OSError,
)
"""Failures whose text is meant for the user."""
WRONG_USE = (SettingsError, NoSuchModel)
"""Failures that the user must fix: exit code 2."""


def told(error: Exception) -> str:
    """`error` in a line; an unexpected one is called a bug."""
    if isinstance(error, EXPECTED):
        return str(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"This is a bug in pinfold, please report it: {what}"


def level(error: Exception) -> Level:
    """How the screen shows it."""
    return "info" if isinstance(error, NothingToDo) else "error"
