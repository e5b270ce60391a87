"""Looks: the styles of the transcript, worked out once from the theme."""

from msgspec import Struct
from rich.style import Style
from textual.widget import Widget

from pinfold.tui.colours import ground, ink


class Looks(Struct, frozen=True):
    """One style for each part."""

    plain: Style
    dim: Style
    number: Style
    cursor: Style
    heading: Style
    code: Style
    link: Style
    rule: Style
    reasoning: Style
    unseen: Style
    """Over the text of what the model does not see."""
    hit: Style
    """What the find bar found."""
    current: Style
    """The one of these that the view follows."""
    comment: Style
    keyword: Style
    string: Style
    literal: Style
    function: Style
    bar: Style
    tool: Style
    ok: Style
    running: Style
    warning: Style
    error: Style
    added_text: Style
    removed_text: Style
    prompt: Style
    """Carries the background of user prompts."""
    code_block: Style
    """Carries the background of code."""
    added: Style
    """Carries the background of added lines."""
    removed: Style
    """Carries the background of removed lines."""
    base: Style
    """The widget's own colours, under all others."""
    model: str = ""
    """By whose rule the tokens of pictures count."""


_BOLD = Style(bold=True)
_ITALIC = Style(italic=True)
_UNDERLINE = Style(underline=True)
_REVERSE = Style(bold=True, reverse=True)


def looks_of(widget: Widget, model: str = "") -> Looks:
    """The looks of `widget` under the theme of now."""
    app = widget.app
    foreground = ink(app, "foreground")
    primary, accent = ink(app, "primary"), ink(app, "accent")
    success, warning, error = ink(app, "success"), ink(app, "warning"), ink(app, "error")

    def first(*names: str) -> str:
        """Not every app has our variables."""
        return next(name for name in names if name.partition(" ")[0] in app.theme_variables)

    return Looks(
        plain=foreground,
        dim=ink(app, "foreground 60%"),
        number=ink(app, "foreground 35%"),
        cursor=accent + _BOLD,
        heading=primary + _BOLD,
        code=accent,
        link=primary + _UNDERLINE,
        rule=ink(app, first("rule", "foreground 30%")),
        reasoning=ink(app, "foreground 55%") + _ITALIC,
        unseen=ink(app, "foreground 45%"),
        hit=accent + _UNDERLINE,
        current=accent + _REVERSE,
        comment=ink(app, "foreground 50%") + _ITALIC,
        keyword=primary,
        string=success,
        literal=warning,
        function=accent,
        bar=accent,
        tool=foreground + _BOLD,
        ok=success,
        running=primary,
        warning=warning,
        error=error,
        added_text=success,
        removed_text=error,
        prompt=ground(app, first("user-background", "foreground 7%")),
        code_block=ground(app, "foreground 4%"),
        added=ground(app, first("diff-added", "success 14%")),
        removed=ground(app, first("diff-removed", "error 14%")),
        base=widget.rich_style,
        model=model,
    )
