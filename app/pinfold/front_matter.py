"""Markdown with front matter, in files that anybody may have written: skills, commands, agents.

Every value is text, a list or a mapping of these: no tag is obeyed and no alias followed. One-line
values that are not quite YAML count as the text that they are; a note says so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from pinfold.paths import shown
from pinfold.sanitize import one_line, safe
from pinfold.small_files import read as read_bytes

MAX_BYTES = 262_144
"""Of a file."""
MAX_HEAD = 32_768
"""Characters of its front matter."""
_DEEPEST = 12
_NOTES = 5
_REPAIRED = 500
"""Lines of front matter that is repaired: each of them is tried alone."""
_ENTRY = re.compile(r"([A-Za-z][\w-]*):[ \t]+(\S.*)\Z")
"""A value on the line of its key."""
_WORDS = re.compile(r"(?:\([^()]*\)|[^\s,])+")
_YES, _NO = ("true", "yes", "on"), ("false", "no", "off", "")


class FrontMatterError(Exception):
    """It can't be read; `str()` is one sentence that names the file and, where known, the line."""


class FrontMatter(Struct, frozen=True):
    """A file, read."""

    name: str
    """The file, as errors name it."""
    values: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    """The text after the front matter, safe to show."""
    notes: tuple[str, ...] = ()
    """What was repaired, in sentences."""
    hash: str = ""
    """SHA-256 of the file's bytes."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line of each key."""

    def text(self, key: str) -> str:
        """A value as one line, safe to show; empty where there is none.

        Raises `FrontMatterError` where it is a list or a mapping.
        """
        value = self.values.get(key, "")
        if not isinstance(value, str):
            raise self.error(f"“{key}” must be text", key)
        return one_line(value)

    def words(self, key: str) -> tuple[str, ...]:
        """A list, or the parts of a text between commas and spaces outside parentheses.

        Raises `FrontMatterError`.
        """
        value = self.values.get(key, "")
        if isinstance(value, str):
            value = _WORDS.findall(value)
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.error(f"“{key}” must be text or a list of texts", key)
        return tuple(word for part in value if (word := one_line(part)))

    def flag(self, key: str) -> bool:
        """Whether it is true; false where it is not there. Raises `FrontMatterError`."""
        value = self.text(key).casefold()
        if value not in (*_YES, *_NO):
            raise self.error(f"“{key}” must be true or false", key)
        return value in _YES

    def error(self, what: str, key: str = "") -> FrontMatterError:
        """What is wrong, with the file and the line of `key`."""
        return FrontMatterError(f"{self.name}, line {self.lines.get(key, 1)}: {what}.")


def read(path: Path) -> FrontMatter:
    """The file at `path`, of at most `MAX_BYTES`. Links are followed: whoever reads a repository's
    files has resolved them before. Blocking. Raises `FrontMatterError`."""
    name = one_line(shown(path))
    try:
        data = read_bytes(path, MAX_BYTES)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FrontMatterError(f"{name}, line {line}: it is not UTF-8 text.") from error
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise FrontMatterError(f"{name} can't be read: {why}.") from error
    return parse(text, name, hashlib.sha256(data).hexdigest())


def parse(text: str, name: str, digest: str = "") -> FrontMatter:
    """`text`, which is all body where it has no front matter. Raises `FrontMatterError`."""
    from frontmatter.default_handlers import YAMLHandler

    text = text.replace("\r\n", "\n").replace("\r", "\n")
    handler = YAMLHandler()
    begun = text.lstrip()
    skipped = text.count("\n", 0, len(text) - len(begun))
    if not handler.detect(begun):
        return FrontMatter(name, body=safe(text).strip(), hash=digest)
    notes = ["there are blank lines before the front matter"] if skipped else []
    try:
        head, body = handler.split(begun)
    except ValueError:
        raise FrontMatterError(
            f"{name}, line {skipped + 1}: the front matter has no closing line “---”."
        ) from None
    assert handler.FM_BOUNDARY is not None
    opening = handler.FM_BOUNDARY.match(begun)
    assert opening is not None
    before = skipped + opening[0].count("\n")
    if len(head) > MAX_HEAD:
        raise FrontMatterError(
            f"{name}, line {before + 2}: the front matter has more than {MAX_HEAD:,} characters."
        )
    values = _values(handler, head, name, before, notes)
    lines = {
        key[1]: before + number
        for number, line in enumerate(head.split("\n"), 1)
        if (key := re.match(r"[\"']?([\w-]+)[\"']?\s*:", line))
    }
    repaired = tuple(f"{name}: {note}." for note in notes)
    return FrontMatter(name, values, safe(body).strip(), repaired, digest, lines)


def _values(handler: Any, head: str, name: str, before: int, notes: list[str]) -> dict[str, Any]:
    """The values of `head`, which begins at the end of the file's line `before + 1`."""
    try:
        values = _load(handler, head)
    except _Broken as broken:
        many = head.count("\n") > _REPAIRED
        repaired, found = (head, []) if many else _repaired(handler, head, before)
        try:
            values = _load(handler, repaired)
        except _Broken:
            at = f"{name}, line {before + broken.line}"
            raise FrontMatterError(f"{at}: {broken}.") from None
        more = len(found) - _NOTES
        notes += [*found[:_NOTES], *([f"and {more:,} more lines"] if more > 0 else ())]
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise FrontMatterError(f"{name}, line {before + 2}: it has no “key: value” lines.")
    return {key: value for key, value in values.items() if isinstance(key, str)}


class _Broken(Exception):
    """The text is not supported YAML; `line` counts from 1."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(one_line(why))
        self.line = line


def _load(handler: Any, text: str) -> Any:
    """Raises `_Broken`."""
    import yaml

    try:
        # The base loader knows no types: a date, an `on` or a tag stays the text that it is.
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        _check(yaml, text, loader)
        return handler.load(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it is not YAML"
        raise _Broken(problem, mark.line + 1 if mark else 1) from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise _Broken(getattr(error, "reason", None) or "it is not YAML", line) from error


def _check(yaml: Any, text: str, loader: Any) -> None:
    """Raises `_Broken` for what would be obeyed or grow: aliases, tags, deep nesting."""
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        line = event.start_mark.line + 1
        if getattr(event, "anchor", None) or isinstance(event, yaml.AliasEvent):
            raise _Broken("anchors and aliases are not supported", line)
        if getattr(event, "tag", None):
            raise _Broken("tags are not supported", line)
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            depth += 1
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise _Broken("it is nested too deeply", line)


def _repaired(handler: Any, head: str, before: int) -> tuple[str, list[str]]:
    """`head` with quotes around one-line values that are not YAML, and with no tabs before a line;
    and what was done."""
    notes: list[str] = []
    lines: list[str] = []
    for number, line in enumerate(head.split("\n"), before + 1):
        indent = line[: len(line) - len(line.lstrip())]
        entry = _ENTRY.match(line)
        if "\t" in indent:
            lines.append(indent.expandtabs(2) + line.lstrip())
            notes.append(f"line {number} was indented by a tab")
        elif entry and entry[2][0] not in "|>" and not _is_yaml(handler, line):
            lines.append(f"{entry[1]}: {json.dumps(entry[2].rstrip())}")
            notes.append(f"the value on line {number} needs quotes")
        else:
            lines.append(line)
    return "\n".join(lines), notes


def _is_yaml(handler: Any, line: str) -> bool:
    try:
        _load(handler, line)
    except _Broken:
        return False
    return True
