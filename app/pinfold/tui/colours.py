"""Colours of the theme, for widgets that draw with many.

Textual works out a whole set of style rules for each component class, at each change of focus.
"""

from typing import Any

from rich.style import Style
from textual.app import App
from textual.color import Color


def parse(text: str) -> Color:
    """A colour as style sheets write it: `#8fb4ff`, `#8fb4ff 30%`. Raises `ColorParseError`."""
    if not text.endswith("%"):
        return Color.parse(text)
    colour, _, percent = text.rpartition(" ")
    return Color.parse(colour.rstrip()).multiply_alpha(float(percent[:-1]) / 100)


def colour(app: App[Any], name: str) -> Color:
    """A variable of the theme: `foreground`, `foreground 60%`."""
    variable, _, percent = name.partition(" ")
    found = app.theme_variables[variable]
    return parse(f"{found} {percent}" if percent else found)


def ink(app: App[Any], name: str) -> Style:
    """What is written in a variable of the theme, on its background."""
    return Style(color=(colour(app, "background") + colour(app, name)).rich_color)


def ground(app: App[Any], name: str) -> Style:
    """What is written in the foreground, on a variable of the theme."""
    under = colour(app, "background") + colour(app, name)
    return Style.from_color((under + colour(app, "foreground")).rich_color, under.rich_color)
