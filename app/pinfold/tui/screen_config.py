"""How the screen is set up."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from pinfold.rollout.provenance import Prompt
from pinfold.settings import Notify


class ScreenConfig(Struct, frozen=True):
    """What the screen takes from the settings."""

    cwd: Path
    history: Path
    """`history.jsonl`, shared by all sessions."""
    errors: Path = Path(os.devnull)
    """`errors.log`: the details of failures that nobody expected."""
    theme: str = "pinfold"
    theme_folder: Path | None = None
    """The user's own themes."""
    notify: Notify = "auto"
    title: bool = True
    statusline: str = ""
    vim: bool = False
    """Vim keys in the prompt."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Action id -> keys."""
    warnings: tuple[str, ...] = ()
    """What was wrong with the settings."""
    note: str = ""
    """What the transcript says first, as of a session that was adopted."""
    card_delay: float = 0.5
    """Seconds for which an approval card is on the screen before it takes the keys."""
    letter_pause: float = 0.3
    """Seconds after a letter on a card in which another key turns it into a message; 0: none do."""
    prompt: Prompt | None = None
    """What is sent to the first session."""
    offer: Callable[[], str] | None = None
    """What the first screen offers, if anything; blocking, asked once."""
