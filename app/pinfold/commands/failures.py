"""What may go wrong, said to the user."""

from pinfold.adopt.adoption import NotASession
from pinfold.commands.action import CommandError
from pinfold.ports import ProviderError
from pinfold.rollout.journal import JournalError, SessionHeld
from pinfold.settings import SettingsError
from pinfold.window.refused import Refused

EXPECTED = (
    CommandError,
    Refused,
    SettingsError,
    JournalError,
    SessionHeld,
    NotASession,
    ProviderError,
    OSError,
)
"""Failures whose text is meant for the user."""


def told(error: Exception) -> str:
    """A plain line on `error`; one that nobody expected is a bug, and is called so."""
    if isinstance(error, EXPECTED):
        return str(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"This is a bug in pinfold, please report it: {what}"
