"""Pictures that came with an item, for models that see and for those that don't."""

from pinfold.ports.provider import ModelInfo
from pinfold.rollout.items import Image, Item


def described(image: Image) -> str:
    """Its type and size, and whether its bytes are lost: `image/png, 800x600, lost`."""
    size = f", {image.width}x{image.height}" if image.width and image.height else ""
    return f"{image.media_type}{size}{'' if image.data else ', lost'}"


def data_url(image: Image) -> str:
    return f"data:{image.media_type};base64,{image.data}"


def shown(item: Item, model: ModelInfo) -> tuple[Image, ...]:
    """The pictures that go out with the item."""
    return tuple(image for image in item.images if image.data) if model.vision else ()


def text_of(item: Item, model: ModelInfo) -> str:
    """The item's text, and a line for each picture that does not go out with it."""
    lines = [
        f"[image: {described(image)}{', not shown to this model' if image.data else ''}]"
        for image in item.images
        if not (model.vision and image.data)
    ]
    if not lines:
        return item.content
    return "\n".join([item.content, *lines] if item.content else lines)
