"""How the screen is set up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Look:
    """What the screen takes from the settings."""

    cwd: Path
    history: Path
    """`history.jsonl`, shared by all sessions."""
    theme: str = "pinfold"
    theme_folder: Path | None = None
    """The user's own themes."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Action id -> keys."""
    warnings: tuple[str, ...] = ()
    """What was wrong with the settings."""
