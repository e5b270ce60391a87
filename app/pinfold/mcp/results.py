"""Converts the output of a server's tools, resources and prompts."""

import base64
import binascii
import re
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from pinfold.ports.tool import ToolOutcome
from pinfold.rollout.items import Image
from pinfold.sanitize import clean
from pinfold.tools.output import keep
from pinfold.tools.pictures import MAX_BYTES, MAX_PICTURES, media_type_of
from pinfold.tools.workspace import size_text

MOST_TEXT = 400_000
"""Characters of a result; of a longer one, its two ends."""
_SLICE = 16_384
"""Characters cleaned at a stretch."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def of_call(answer: Any, folder: Path, name: str) -> ToolOutcome:
    """The outcome of a tool's result. Blocking: long text goes into a file of the session in
    `folder`, called `name`. So it is with the next two."""
    built = _Outcome()
    for block in answer.content:
        built.add(block)
    built.add_structure(answer.structured_content)
    return built.outcome(ok=not answer.is_error, folder=folder, name=name)


def of_resource(answer: Any, folder: Path, name: str) -> ToolOutcome:
    """The outcome of reading a resource."""
    built = _Outcome()
    for content in answer.contents:
        built.add_resource(content)
    return built.outcome(ok=True, folder=folder, name=name)


def of_prompt(answer: Any, folder: Path, name: str) -> ToolOutcome:
    """The outcome of asking for a prompt."""
    built = _Outcome()
    for message in answer.messages:
        built.add(message.content, "Assistant: " if message.role == "assistant" else "")
    return built.outcome(ok=True, folder=folder, name=name)


class _Outcome:
    """Puts the parts that a server sent together."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._images: list[Image] = []

    def add(self, block: Any, before: str = "") -> None:
        """Take a block of content of the SDK's."""
        match block.type:
            case "text":
                self._parts.append(before + block.text)
            case "image":
                self._parts.append(before + self._picture(block.data))
            case "audio":
                size = size_text(len(block.data) * 3 // 4)
                self._parts.append(f"{before}[audio, {block.mime_type}, {size}: not sent]")
            case "resource_link":
                about = f": {block.description}" if block.description else ""
                self._parts.append(f"{before}[resource {block.name} at {block.uri}{about}]")
            case "resource":
                self.add_resource(block.resource, before)
            case _:
                self._parts.append(f"{before}[{block.type}: not shown]")

    def add_resource(self, resource: Any, before: str = "") -> None:
        if (text := getattr(resource, "text", None)) is not None:
            self._parts.append(f"{before}[resource {resource.uri}]\n{text}")
            return
        kind = resource.mime_type or "bytes"
        if kind.startswith("image/"):
            self._parts.append(f"{before}[resource {resource.uri}] {self._picture(resource.blob)}")
            return
        size = size_text(len(resource.blob) * 3 // 4)
        self._parts.append(f"{before}[resource {resource.uri}, {kind}, {size}: not sent]")

    def add_structure(self, value: Any) -> None:
        """Structured data, unless the text has it already."""
        if value is None:
            return
        if any(_same(part, value) for part in self._parts):
            return
        if isinstance(value, dict) and len(value) == 1:
            said = "\n".join(self._parts)
            (only,) = value.values()
            if only == said or _same(said, only):
                return
        text = msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
        self._parts.append(f"[structured data]\n{text}")

    def outcome(self, *, ok: bool, folder: Path, name: str) -> ToolOutcome:
        text = "\n".join(self._parts)
        detail: dict[str, Any] = {}
        if len(text) > MOST_TEXT:
            text, detail = _shortened(text, folder, name)
        return ToolOutcome(_cleaned(text), ok, detail=detail, images=tuple(self._images))

    def _picture(self, data: str) -> str:
        if len(self._images) >= MAX_PICTURES:
            return f"[a picture: not sent, more than {MAX_PICTURES}]"
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return "[a picture that is not valid base64: not sent]"
        kind = media_type_of(content)
        if kind is None or len(content) > MAX_BYTES:
            why = "not a PNG, JPEG, GIF or WebP" if kind is None else "too large"
            return f"[a picture that is {why}: not sent]"
        import imagesize

        width, height = imagesize.get(BytesIO(content))
        self._images.append(
            Image(kind, base64.b64encode(content).decode(), max(width, 0), max(height, 0))
        )
        return f"[picture {len(self._images)}, {kind}]"


def _same(text: str, value: Any) -> bool:
    if not text or text.lstrip()[:1] not in '{["0123456789-tfn':
        return False
    try:
        return bool(msgspec.json.decode(text.encode()) == value)
    except (ValueError, RecursionError):
        return False


def _shortened(text: str, folder: Path, name: str) -> tuple[str, dict[str, Any]]:
    half = MOST_TEXT // 2
    left = f"{len(text) - MOST_TEXT:,} characters"
    try:
        path = keep(folder, name, text)
    except OSError as error:
        where, detail = f"it could not be saved: {error.strerror}", {}
    else:
        where, detail = f"the whole output is in {path}", {"spill": str(path)}
    return f"{text[:half]}\n[... {left} left out; {where} ...]\n{text[-half:]}", detail


def _cleaned(text: str) -> str:
    return "".join(_pieces(_COLOURS.sub("", text) if "\x1b" in text else text))


def _pieces(text: str) -> Iterable[str]:
    """Cleaned piece by piece, so that other threads get their turn."""
    for at in range(0, len(text), _SLICE):
        yield clean(text[at : at + _SLICE])
