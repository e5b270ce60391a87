"""Themes: TOML files, and our own colours for themes that lack them."""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from textual.color import ColorParseError
from textual.theme import Theme

from pinfold.small_files import read_text
from pinfold.tui.colours import parse

PACKAGE = Path(__file__).parents[1] / "themes"
CHECKOUT = Path(__file__).parents[3] / "themes"

MAX_BYTES = 65_536
"""Of a theme."""

COLOURS = (
    *("primary", "secondary", "warning", "error", "success", "accent"),
    *("foreground", "background", "surface", "panel", "boost"),
)
OURS = (
    *("rule", "user-background", "diff-added", "diff-removed"),
    *(
        "gauge-instructions",
        "gauge-agents",
        "gauge-tools",
        "gauge-servers",
        "gauge-memories",
        "gauge-hidden",
        "gauge-context",
        "gauge-pinned",
        "gauge-checkpoint",
    ),
    *("gauge-user", "gauge-assistant", "gauge-reasoning", "gauge-calls", "gauge-results"),
    *("gauge-folded", "gauge-live", "gauge-free", "gauge-reserve", "gauge-threshold"),
)
"""Variables that a theme may set under `[variables]`."""
CHECKED = {*COLOURS, *OURS}


def shipped() -> Path:
    """The folder of the themes that come with pinfold."""
    return PACKAGE if PACKAGE.is_dir() else CHECKOUT


def named(name: str, folders: Sequence[Path]) -> Theme | None:
    """The theme `name` from the file of that name; the last folder counts."""
    for folder in reversed(folders):
        path = folder / f"{name}.toml"
        if path.parent == folder and path.exists():  # a name is no path
            loaded, _ = _read([path])
            return next((theme for theme in loaded if theme.name == name), None)
    return None


def load(folders: Iterable[Path]) -> tuple[list[Theme], dict[Path, str]]:
    """The themes in `folders`, and what could not be used, with why."""
    return _read(path for folder in folders for path in sorted(folder.glob("*.toml")))


def _read(paths: Iterable[Path]) -> tuple[list[Theme], dict[Path, str]]:
    loaded: list[Theme] = []
    failed: dict[Path, str] = {}
    for path in paths:
        try:
            theme = Theme(**tomllib.loads(read_text(path, MAX_BYTES)))
            _check(theme)
        except OSError as error:
            failed[path] = error.strerror or str(error)
        except (ValueError, TypeError, RecursionError) as error:
            failed[path] = str(error)
        else:
            loaded.append(theme)
    return loaded, failed


def _check(theme: Theme) -> None:
    named = {colour: getattr(theme, colour) for colour in COLOURS}
    ours = {colour: value for colour, value in theme.variables.items() if colour in CHECKED}
    for name, value in {**named, **ours}.items():
        if value is None:
            continue
        try:
            parse(value)
        except (ColorParseError, AttributeError) as error:
            raise ValueError(f"{name}: {value!r} is not a colour") from error


def fallbacks(theme: Theme) -> dict[str, str]:
    """Our own variables for `theme`, from the colours it does have."""
    if theme.variables.keys() >= set(OURS):
        return {}
    colours = theme.to_color_system().generate()

    def shade(name: str, percent: int) -> str:
        # The colours of the terminal's own palette can't be mixed.
        return colours[name] if theme.ansi else f"{colours[name]} {percent}%"

    def tint(name: str, percent: int) -> str:
        return "ansi_default" if theme.ansi else f"{colours[name]} {percent}%"

    subtle = "ansi_bright_black" if theme.ansi else f"{colours['foreground']} 30%"
    return {
        "rule": subtle,
        "user-background": tint("primary", 12),
        "diff-added": tint("success", 16),
        "diff-removed": tint("error", 16),
        "gauge-instructions": colours["secondary"],
        "gauge-agents": shade("secondary", 80),
        "gauge-tools": shade("secondary", 60),
        "gauge-servers": shade("secondary", 50),
        "gauge-memories": shade("accent", 70),
        "gauge-hidden": shade("secondary", 40),
        "gauge-context": shade("primary", 60),
        "gauge-pinned": shade("error", 75),
        "gauge-checkpoint": colours["error"],
        "gauge-user": colours["primary"],
        "gauge-assistant": colours["success"],
        "gauge-reasoning": colours["foreground"],
        "gauge-calls": colours["warning"],
        "gauge-results": colours["accent"],
        "gauge-folded": shade("foreground", 45),
        "gauge-live": colours["foreground"],
        "gauge-free": subtle,
        "gauge-reserve": subtle,
        "gauge-threshold": colours["warning"],
    }
