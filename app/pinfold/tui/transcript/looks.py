"""Looks: the styles of the transcript, worked out once from the theme."""

from dataclasses import dataclass, fields

from rich.style import Style
from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class Looks:
    """One style for each part; every one is a component class, `transcript--<name>`."""

    plain: Style
    dim: Style
    number: Style
    cursor: Style
    heading: Style
    code: Style
    link: Style
    rule: Style
    reasoning: Style
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


_GROUNDS = {"prompt", "code_block", "added", "removed"}
CLASSES = {
    f"transcript--{field.name.replace('_', '-')}" for field in fields(Looks) if field.name != "base"
}


def looks_of(widget: Widget) -> Looks:
    """The looks of `widget` under the theme of now."""
    styles = {}
    for name in CLASSES:
        field = name.removeprefix("transcript--").replace("-", "_")
        style = widget.get_component_rich_style(name)
        if field not in _GROUNDS:
            style = Style.from_color(style.color) + style.without_color
        styles[field] = style
    return Looks(**styles, base=widget.rich_style)
