"""The content of OpenAI messages: text, or a list of parts."""

import base64
import binascii
from typing import Any

from pinfold.adopt.lines import compact, object_of, text_of
from pinfold.rollout.items import Image

_TEXT = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
_IMAGE = frozenset({"input_image", "image_url"})


def content(value: Any) -> tuple[str, tuple[Image, ...]]:
    """Text and images. Linked pictures and other parts become text."""
    if isinstance(value, str):
        return value, ()
    if value is None:
        return "", ()
    if not isinstance(value, list):
        return compact(value), ()
    texts: list[str] = []
    images: list[Image] = []
    for part in value:
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = text_of(part, "type") if isinstance(part, dict) else ""
        if kind in _TEXT:
            texts.append(text_of(part, "text"))
        elif kind in _IMAGE:
            url = text_of(object_of(part, "image_url"), "url") or text_of(part, "image_url")
            image = _image(url)
            if image is None:
                texts.append(f"[image: {url}]")
            else:
                images.append(image)
        elif kind == "refusal":
            texts.append(text_of(part, "refusal"))
        else:
            texts.append(compact(part))
    return "\n".join(text for text in texts if text), tuple(images)


def _image(url: str) -> Image | None:
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        return None
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return Image(head.removeprefix("data:").removesuffix(";base64"), data)
