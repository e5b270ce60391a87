"""Tokens of pictures, by the rules that providers publish; OpenAI's factors are those it bills."""

import base64
import binascii
import math
import re
from collections.abc import Callable
from functools import cache
from io import BytesIO

from pinfold.rollout.items import Image

_Rule = Callable[[int, int], float]
"""Tokens from width and height."""

_PIXELS_PER_BYTE = 8
"""What a picture is taken for that doesn't tell its size; few are packed tighter."""


def _patches(factor: float, budget: int = 1536) -> _Rule:
    """Squares of 32 pixels; a picture of more than `budget` is made smaller first."""

    def rule(width: int, height: int) -> float:
        return factor * min(math.ceil(width / 32) * math.ceil(height / 32), budget)

    return rule


def _tiles(base: int, n: int) -> _Rule:
    """Squares of 512 pixels, once it is made to fit 2048 by 2048 with a shorter side of 768."""

    def rule(width: int, height: int) -> float:
        scale = min(1.0, 2048 / max(width, height))
        scale = min(scale, 768 / min(width, height))
        return base + n * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)

    return rule


def _claude(width: int, height: int) -> float:
    scale = min(1.0, 1568 / max(width, height))
    return min(width * height * scale**2 / 750, 1600)


def _gemini(width: int, height: int) -> float:
    return 258 * (
        math.ceil(width / 768) * math.ceil(height / 768) if max(width, height) > 384 else 1
    )


# The first pattern found in the name decides, so that the particular is before the general.
_RULES: tuple[tuple[str, _Rule], ...] = (
    ("claude", _claude),
    ("gemini", _gemini),
    ("gpt-5(?!\\.).*nano", _patches(1.5)),
    ("gpt-5.*(mini|nano)|gpt-5\\.[23]", _patches(1.2)),
    ("gpt-5\\.[4-9]|gpt-[6-9]", _patches(1.2, 2500)),
    ("gpt-5", _tiles(70, 140)),
    ("gpt-4\\.1-mini", _patches(1.62)),
    ("gpt-4\\.1-nano", _patches(2.46)),
    ("o4-mini|codex-mini", _patches(1.72)),
    ("gpt-4o-mini", _tiles(2833, 5667)),
    ("(?<![a-z0-9])o[13](?![a-z0-9])", _tiles(75, 150)),
    ("", _tiles(85, 170)),
)


def count_image(image: Image, model: str) -> int:
    """Tokens of a picture for the model of that name; by its bytes where it tells no size."""
    width, height = (image.width, image.height) if image.width and image.height else _size(image)
    return math.ceil(_rule(model)(width, height))


@cache
def _rule(model: str) -> _Rule:
    return next(rule for pattern, rule in _RULES if re.search(pattern, model.lower()))


def _size(image: Image) -> tuple[int, int]:
    import imagesize

    try:
        data = base64.b64decode(image.data)
    except (binascii.Error, ValueError):
        data = b""
    width, height = imagesize.get(BytesIO(data))
    if width > 0 and height > 0:
        return width, height
    side = max(math.isqrt(_PIXELS_PER_BYTE * len(image.data)), 1)
    return side, side
