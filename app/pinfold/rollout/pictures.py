"""Pictures of items: with their bytes in memory, as the name of a blob in a rollout."""

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from pinfold.rollout import codec
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.brought import items_of
from pinfold.rollout.events import Data, Event, ItemAdded, WindowReplaced
from pinfold.rollout.items import Image, Item

SMALL = 2_048
"""Characters of base64 up to which a picture stays in the rollout: a file would take more."""
LARGEST = 64_000_000
"""Bytes of a picture that a blob may hold."""


def written(event: Event, blobs: Blobs) -> tuple[Event, bytes]:
    """An event as it can be written, and its line. Its pictures become blobs. Raises `OSError`."""
    event, line = codec.written(event)
    kept = _changed(event.data, lambda image: _kept(image, blobs))
    return event, line if kept is event.data else codec.encode(replace(event, data=kept))


def filled(data: Data, blobs: Blobs) -> Data:
    """`data` with the bytes of its pictures; one whose blob is lost keeps the hash."""
    return _changed(data, lambda image: _filled(image, blobs))


def filled_line(line: bytes, blobs: Blobs) -> bytes:
    """A line of a rollout with the bytes of its pictures, for readers without blobs."""
    if b'"images"' not in line or b'"hash"' not in line:
        return line
    try:
        event = msgspec.json.decode(line)
        images = list(_raw_images(event["data"]))
        for raw in images:
            image = _filled(msgspec.convert(raw, Image), blobs)
            if image.data:
                raw["data"] = image.data
                raw.pop("hash", None)
        return msgspec.json.encode(event) if images else line
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return line


def missing(line: bytes) -> int:
    """How many pictures of a line have no bytes in it."""
    if b'"images"' not in line or b'"hash"' not in line:
        return 0
    try:
        images = _raw_images(msgspec.json.decode(line)["data"])
        return sum(bool(raw.get("hash")) and not raw.get("data") for raw in images)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return 0


def lost(data: Data) -> int:
    """How many pictures have no bytes."""
    return sum(not image.data for item in items_of(data) for image in item.images)


def _raw_images(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in (data.get("item"), *data.get("inserted", ())):
        yield from (item or {}).get("images", ())


def _changed(data: Data, change: Callable[[Image], Image]) -> Data:
    # Every event that is read passes here; few have pictures.
    if isinstance(data, ItemAdded):
        return replace(data, item=_pictured(data.item, change)) if data.item.images else data
    if isinstance(data, WindowReplaced) and any(item.images for item in data.inserted):
        return replace(data, inserted=tuple(_pictured(item, change) for item in data.inserted))
    return data


def _pictured(item: Item, change: Callable[[Image], Image]) -> Item:
    return replace(item, images=tuple(map(change, item.images))) if item.images else item


def _kept(image: Image, blobs: Blobs) -> Image:
    if len(image.data) <= SMALL:
        return image
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return image
    if len(data) > LARGEST or base64.b64encode(data).decode() != image.data:
        return image  # it must come back to the letter
    return replace(image, data="", hash=blobs.add(data))


def _filled(image: Image, blobs: Blobs) -> Image:
    if image.data or not image.hash:
        return image
    data = blobs.read(image.hash, LARGEST)
    if data is None:
        return image
    return replace(image, data=base64.b64encode(data).decode(), hash="")
