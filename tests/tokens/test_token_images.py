"""What pictures weigh, by the rules of those who bill them."""

import base64
import struct

import pytest

from pinfold.rollout.items import Image
from pinfold.tokens.images import count_image


def png(width: int, height: int) -> str:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head + bytes(100)).decode()


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        # OpenAI's own examples, then what others were billed
        ("gpt-4o", 1024, 1024, 765),
        ("gpt-4o", 2048, 4096, 1105),
        ("gpt-4.1", 128, 64, 255),
        ("gpt-4o-mini", 128, 64, 8500),
        ("o3", 128, 64, 225),
        ("openai/gpt-4.1-mini", 4000, 1474, 2489),
        ("gpt-5.4-mini", 768, 576, 519),
        ("gpt-5-nano", 768, 576, 648),
        ("gpt-5.5", 1600, 1600, 3000),
        ("claude-sonnet-4.5", 1000, 1000, 1334),
        ("anthropic/claude-opus-4", 4000, 3000, 1600),
        ("gemini-2.5-pro", 300, 300, 258),
        ("gemini-2.5-pro", 1000, 700, 516),
        ("", 512, 512, 255),
    ],
)
def test_the_rule_of_the_model_decides(model: str, width: int, height: int, tokens: int) -> None:
    assert count_image(Image("image/png", "", width, height), model) == tokens


def test_the_size_is_read_from_the_bytes() -> None:
    assert count_image(Image("image/png", png(1024, 1024)), "gpt-4o") == 765


@pytest.mark.parametrize("data", ["", "?", "not base64 at all", base64.b64encode(b"xyz").decode()])
def test_a_picture_that_tells_no_size_counts_by_its_bytes(data: str) -> None:
    small = count_image(Image("image/png", data), "gpt-5.5")
    assert 0 < small <= count_image(Image("image/png", data + "A" * 400_000), "gpt-5.5") <= 3000
