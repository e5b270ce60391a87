"""Pictures that came with an item, for models that see and for those that don't."""

from pinfold.ports import ModelInfo
from pinfold.rollout.items import Image, Item


def described(image: Image) -> str:
    """Its type and size: `image/png, 800x600`."""
    size = f", {image.width}x{image.height}" if image.width and image.height else ""
    return f"{image.media_type}{size}"


def data_url(image: Image) -> str:
    return f"data:{image.media_type};base64,{image.data}"


def shown(item: Item, model: ModelInfo) -> tuple[Image, ...]:
    """The pictures that go out with the item."""
    return item.images if model.vision else ()


def text_of(item: Item, model: ModelInfo) -> str:
    """The item's text, and a line for each picture that `model` can't take."""
    if model.vision or not item.images:
        return item.content
    lines = [f"[image: {described(image)}, not shown to this model]" for image in item.images]
    return "\n".join([item.content, *lines] if item.content else lines)
