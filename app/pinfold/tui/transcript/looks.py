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


CSS = """
Transcript {
    background: $background;
    color: $foreground;
    overflow-x: hidden;
    overflow-y: scroll;
    scrollbar-size-vertical: 1;
    scrollbar-color: $foreground 20%;
    scrollbar-color-hover: $foreground 35%;
    scrollbar-color-active: $foreground 50%;
    scrollbar-background: $background;
    scrollbar-background-hover: $background;
    scrollbar-background-active: $background;

    & > .transcript--plain { color: $foreground; }
    & > .transcript--dim { color: $foreground 60%; }
    & > .transcript--number { color: $foreground 35%; }
    & > .transcript--cursor { color: $accent; text-style: bold; }
    & > .transcript--heading { color: $primary; text-style: bold; }
    & > .transcript--code { color: $accent; }
    & > .transcript--link { color: $primary; text-style: underline; }
    & > .transcript--rule { color: $foreground 30%; }
    & > .transcript--reasoning { color: $foreground 55%; text-style: italic; }
    & > .transcript--comment { color: $foreground 50%; text-style: italic; }
    & > .transcript--keyword { color: $primary; }
    & > .transcript--string { color: $success; }
    & > .transcript--literal { color: $warning; }
    & > .transcript--function { color: $accent; }
    & > .transcript--bar { color: $accent; }
    & > .transcript--tool { color: $foreground; text-style: bold; }
    & > .transcript--ok { color: $success; }
    & > .transcript--running { color: $primary; }
    & > .transcript--warning { color: $warning; }
    & > .transcript--error { color: $error; }
    & > .transcript--added-text { color: $success; }
    & > .transcript--removed-text { color: $error; }
    & > .transcript--prompt { color: $foreground; background: $foreground 7%; }
    & > .transcript--code-block { color: $foreground; background: $foreground 4%; }
    & > .transcript--added { color: $foreground; background: $success 14%; }
    & > .transcript--removed { color: $foreground; background: $error 14%; }
}
"""
