"""Edits of a JSON text with comments that leave everything else in it as it is."""

import json
import re
from typing import Any, Literal

from msgspec import Struct

_GAP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OTHER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 100


class NotJson(Exception):
    """A text is not JSON; `str()` says where."""


class JsonNode(Struct):
    """A value, and where it is in the text."""

    kind: Literal["object", "array", "other"]
    start: int
    end: int
    members: list["Member"]
    """Of an object or an array, in order."""
    value: Any

    def member(self, key: str) -> "JsonNode | None":
        """The value of a key; of several the last, as readers take it."""
        return next((member.node for member in reversed(self.members) if member.key == key), None)


class Member(Struct):
    start: int
    """Of the key, or of the value in an array."""
    key: str
    node: JsonNode


def parse(text: str) -> JsonNode:
    """The value that a text holds, with its places. Raises `NotJson`."""
    reader = _Reader(text)
    node = reader.value(reader.gap(1 if text.startswith("\ufeff") else 0), 0)
    if (end := reader.gap(node.end)) < len(text):
        raise reader.wrong(end)
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def wrong(self, at: int) -> NotJson:
        return NotJson(f"line {self._text.count(chr(10), 0, at) + 1} can't be read")

    def gap(self, at: int) -> int:
        match = _GAP.match(self._text, at)
        return match.end() if match else at

    def value(self, at: int, depth: int) -> JsonNode:
        opening = self._text[at : at + 1]
        if opening in ("{", "[") and opening and depth < _DEEPEST:
            return self._container(at, depth, "}" if opening == "{" else "]")
        match = _STRING.match(self._text, at) or _OTHER.match(self._text, at)
        if match is None:
            raise self.wrong(at)
        return JsonNode("other", at, match.end(), [], self._decoded(match[0], at))

    def _decoded(self, text: str, at: int) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            raise self.wrong(at) from None

    def _container(self, start: int, depth: int, closing: str) -> JsonNode:
        members: list[Member] = []
        at = self.gap(start + 1)
        while self._text[at : at + 1] != closing:
            member = self._member(at, depth, named=closing == "}")
            members.append(member)
            at = self.gap(member.node.end)
            if self._text[at : at + 1] == ",":
                at = self.gap(at + 1)
            elif self._text[at : at + 1] != closing:
                raise self.wrong(at)
        if closing == "}":
            value = {member.key: member.node.value for member in members}
            return JsonNode("object", start, at + 1, members, value)
        return JsonNode("array", start, at + 1, members, [member.node.value for member in members])

    def _member(self, at: int, depth: int, *, named: bool) -> Member:
        start, key = at, ""
        if named:
            match = _STRING.match(self._text, at)
            colon = self.gap(match.end()) if match else at
            if match is None or self._text[colon : colon + 1] != ":":
                raise self.wrong(at)
            key = self._decoded(match[0], at)
            at = self.gap(colon + 1)
        return Member(start, key, self.value(at, depth + 1))


def added(text: str, container: JsonNode, value: Any, key: str | None = None) -> str:
    """The text with a value at the end of an object or an array in it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    shown = f"{json.dumps(key)}: " if key is not None else ""
    close = container.end - 1
    end = len(text[:close].rstrip()) if container.members else _after_comments(text, container)
    several = "\n" in text[container.start : container.end] or not container.members
    if several:
        unit, outer = _unit(text), _indent_at(text, container.start)
        inner = outer + unit
        body = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + inner)
        content = f"{newline}{inner}{shown}{body}"
        if "\n" not in text[end:close]:
            content += newline + outer
    else:
        content = f" {shown}{json.dumps(value, ensure_ascii=False)}"
    last = container.members[-1].node.end if container.members else end
    comma = "," if container.members and not _comma(text, last, close) else ""
    return text[:last] + comma + text[last:end] + content + text[end:]


def removed(text: str, container: JsonNode, at: int) -> str:
    """The text without one member of an object or an array."""
    member = container.members[at]
    end = member.node.end
    start = len(text[: member.start].rstrip())
    if at > 0:
        comma = _comma(text, container.members[at - 1].node.end, start)
        return text[: comma - 1] + text[comma:start] + text[end:]
    if comma := _comma(text, end, container.end - 1):
        return text[: member.start] + text[comma:].lstrip()
    return text[:start] + (text[end:].lstrip() if text[start - 1] in "{[" else text[end:])


def _after_comments(text: str, container: JsonNode) -> int:
    held = text[container.start + 1 : container.end - 1].rstrip()
    return container.start + 1 + len(held)


def _comma(text: str, start: int, end: int) -> int:
    """The place after the comma that follows a value; 0 if there is none."""
    match = _GAP.match(text, start)
    at = match.end() if match else start
    return at + 1 if at < end and text[at] == "," else 0


def _unit(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]
