"""The pictures of an item, a line each."""

from rich.segment import Segment

from pinfold.rollout.items import Item
from pinfold.sanitize import one_line
from pinfold.tokens.images import count_image
from pinfold.tools.pictures import named
from pinfold.tui.transcript.lines import TranscriptLine, clip
from pinfold.tui.transcript.looks import Looks


def picture_rows(item: Item | None, width: int, looks: Looks) -> list[TranscriptLine]:
    """The name, size in pixels and tokens of each."""
    if item is None or not item.images:
        return []
    names = named(item.content) if item.kind == "user" else []
    if len(names) != len(item.images):
        names = [f"picture {at}" for at in range(1, len(item.images) + 1)]
    rows = []
    for name, image in zip(names, item.images, strict=True):
        size = f"{image.width}×{image.height}" if image.width else one_line(image.media_type)
        facts = f" · {size} · {count_image(image, looks.model):,} tokens"
        text = f"▣ {clip(one_line(name), max(8, width - len(facts) - 2))}{facts}"
        rows.append(TranscriptLine([Segment(clip(text, width), looks.dim)], lead=len(text)))
    return rows
