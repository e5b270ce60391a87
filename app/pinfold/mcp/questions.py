"""The questions to the user about a server, with all that the answer covers."""

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

import msgspec

from pinfold.mcp.definition import Definition, folder_of
from pinfold.mcp.offers import Offer
from pinfold.paths import shown
from pinfold.ports.servers import TrustQuestion
from pinfold.sanitize import clean, one_line

MOST_FILES = 20
"""That are named."""
MOST_LINES = 4_000
"""Of a diff: to compare more takes too long."""


def about_start(
    definition: Definition, workspace: Path, files: Sequence[Path], confined: str
) -> str:
    """How a server is started; `confined` says where."""
    lines = []
    if definition.url:
        lines.append(f"URL: {one_line(definition.url)}")
        lines += [f"Header: {one_line(name)}" for name in definition.headers]
    else:
        lines.append(f"Command: {one_line(definition.command)}")
        lines += [f"  {one_line(word)}" for word in definition.args]
        lines.append(f"Folder: {one_line(shown(folder_of(definition, workspace)))}")
        lines += [
            f"Sets: {one_line(name)}={one_line(definition.env[name])}" for name in definition.env
        ]
        lines += [f"File of this project: {one_line(shown(path))}" for path in files[:MOST_FILES]]
        if len(files) > MOST_FILES:
            lines.append(f"and {len(files) - MOST_FILES:,} more files of this project")
        lines.append(f"Runs: {confined}")
    lines += [f"Sees the variable: {name}" for name in definition.variables]
    return "\n".join(lines)


def about_texts(offer: Offer) -> str:
    """All that a server would have the model read."""
    lines: list[str] = []
    if offer.instructions:
        lines += ["Instructions:", *_indented(offer.instructions)]
    for tool in offer.tools:
        lines.append(
            f"Tool {one_line(tool.name)}" + (f" ({one_line(tool.title)})" if tool.title else "")
        )
        lines += _indented(tool.description)
        lines += _indented(_json(tool.schema), "  arguments: ")
        if tool.annotations:
            lines += _indented(_json(tool.annotations), "  it says about itself: ")
    for prompt in offer.prompts:
        lines.append(f"Prompt {one_line(prompt.name)} {one_line(prompt.title)}".rstrip())
        lines += _indented(prompt.description)
        for one in prompt.arguments:
            lines.append(f"  {one_line(one.name)}: {one_line(one.description)}")
    for resource in offer.resources:
        said = f"{resource.uri} {resource.name} {resource.title} {resource.description}"
        lines.append(f"Resource {one_line(said)}")
    return "\n".join(lines)


def start_question(definition: Definition, about: str, before: str) -> TrustQuestion:
    changed = " It has changed since you allowed it." if before else ""
    return TrustQuestion(
        definition.name,
        "start",
        f'Start the server "{definition.name}" that this project asks for?{changed}',
        about,
        _diff(before, about),
    )


def texts_question(definition: Definition, offer: Offer, before: Offer | None) -> TrustQuestion:
    text = about_texts(offer)
    if before is None:
        title = f'Let the model see what the server "{definition.name}" offers?'
        return TrustQuestion(definition.name, "texts", title, text)
    title = f'The server "{definition.name}" has changed what it offers. Let the model see it?'
    return TrustQuestion(definition.name, "texts", title, text, _diff(about_texts(before), text))


def _diff(before: str, after: str) -> str:
    if not before or before == after:
        return ""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > MOST_LINES:
        return ""
    return "\n".join(unified_diff(old, new, "before", "now", lineterm="", n=1))


def _indented(text: str, first: str = "  ") -> list[str]:
    lines = clean(text).splitlines()
    return [f"{'  ' if at else first}{line}" for at, line in enumerate(lines)]


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
