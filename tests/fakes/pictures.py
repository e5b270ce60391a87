"""Pictures large enough for a blob of their own, and sessions that hold them."""

import base64
from random import Random

from pinfold.rollout.events import Data, ItemAdded, WindowReplaced
from pinfold.rollout.items import Image, Item
from pinfold.rollout.values import PlanBase


def picture(seed: int, size: int = 6_000) -> Image:
    """Bytes that nothing makes smaller."""
    data = b"\x89PNG\r\n\x1a\n" + Random(seed).randbytes(size)
    return Image("image/png", base64.b64encode(data).decode(), 80, 60)


def prompt(n: int, *images: Image) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind="user", content=f"Look at {n}.", images=images))


def replaced(n: int, *images: Image) -> Data:
    """A window that brings the same pictures once more, as other tools' compactions do."""
    item = Item(n=n, kind="user", content="Again.", images=images)
    return WindowReplaced(
        generation=1, base=PlanBase(0, 1), reason="adopted", window=((n, "full"),), inserted=(item,)
    )
