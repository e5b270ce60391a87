"""Counts equal tiktoken's, whatever the text."""

import base64
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.tokens import encodings
from pinfold.tokens.counter import Counter
from pinfold.tokens.heuristic import estimate
from pinfold.tokens.pieces import LIMIT, pieces

if TYPE_CHECKING:
    from tiktoken import Encoding

SCRAPS = [
    *("a", "B", "foo", "'s", "'", "!", "..", "_", "1", "234", "/", "//"),
    *(" ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u2028", "\x1c", "\x85"),
    *("é", "e\u0301", "中文", "😀", "\u200d", "<|endoftext|>", "\ud800"),
]
texts = st.lists(st.sampled_from(SCRAPS), max_size=60).map("".join) | st.text()


@pytest.fixture(scope="module", params=sorted(encodings.NAMES))
def encoding(request: pytest.FixtureRequest) -> "Encoding":
    return encodings.build(request.param)


@pytest.fixture(scope="module")
def counter() -> Counter:
    loaded = Counter("o200k_base")
    loaded.load()
    return loaded


def test_known_counts() -> None:
    for name, tokens in (("o200k_base", 6), ("cl100k_base", 6)):
        counter = Counter(name)
        counter.load()
        assert counter.loaded
        assert counter.count("antidisestablishmentarianism") == tokens
        assert counter.count("") == 0


@settings(deadline=None)
@given(text=texts)
def test_the_pieces_of_a_text_add_up(encoding: "Encoding", text: str) -> None:
    """Texts are repeated until they must be cut."""
    long = text * (LIMIT // (len(text) or 1) + 1) + text
    cut = list(pieces(long))
    assert "".join(cut) == long
    assert all(len(piece) <= LIMIT for piece in cut)
    whole = len(encoding.encode_ordinary(long))
    forced = sum(len(piece) == LIMIT for piece in cut)
    assert abs(sum(len(encoding.encode_ordinary(piece)) for piece in cut) - whole) <= 4 * forced


@pytest.mark.parametrize(
    "text",
    ["a" * 1_000_000, " " * 1_500_000, "\t" * 1_500_000, "中文字" * 100_000, "\ud800" * 100_000],
    ids=["letters", "spaces", "tabs", "chinese", "half characters"],
)
def test_odd_texts_are_counted_without_a_panic(counter: Counter, text: str) -> None:
    share = counter.measure(text[:LIMIT]) / LIMIT
    assert counter.measure(text) == pytest.approx(share * len(text), rel=0.01)


def test_a_count_is_remembered(counter: Counter) -> None:
    for text in ("short", "long " * 1_000):
        first = counter.count(text)
        assert counter.count(text) == counter.measure(text) == first


def test_counts_are_estimates_until_the_encoding_is_loaded() -> None:
    counter = Counter("o200k_base")
    text = "counterrevolutionaries " * 10
    assert not counter.loaded
    assert counter.count(text) == estimate(text)
    counter.load()
    assert counter.loaded
    assert counter.count(text) == counter.measure(text) != estimate(text)


@pytest.mark.parametrize("name", ["none", "", "p50k_base"])
def test_an_encoding_that_is_not_at_hand_is_estimated_for_good(name: str) -> None:
    counter = Counter(name)
    counter.load()
    assert not counter.loaded
    assert counter.count("hello world") == estimate("hello world")


@pytest.mark.parametrize("damage", [b"", b"x" * 10, b"\0" * 40, None])
def test_ranks_are_cached_and_a_damaged_cache_is_made_anew(
    tmp_path: Path, damage: bytes | None
) -> None:
    folder = tmp_path / "cache"
    encodings.build("cl100k_base", folder)
    (cache,) = folder.iterdir()
    whole = cache.read_bytes()
    cache.write_bytes(whole[:-1] if damage is None else damage)
    assert encodings.build("cl100k_base", folder).encode_ordinary("hello world") == [15339, 1917]
    assert cache.read_bytes() == whole
    assert encodings.build("cl100k_base", folder).encode_ordinary("hello world") == [15339, 1917]


def test_a_cache_folder_that_cannot_be_made_does_not_hinder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    counter = Counter("cl100k_base", tmp_path / "file" / "cache")
    counter.load()
    assert counter.loaded


@settings(deadline=None)
@given(texts)
def test_any_text_has_an_estimate(text: str) -> None:
    assert estimate(text) >= 0


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog. " * 20,
        Path(encodings.__file__).read_text(),
        "2026-03-01 12:00:00,123 INFO request 4711 took 12.5 ms\n" * 20,
        "敏捷的棕色狐狸跳过了懒狗。" * 20,
    ],
    ids=["prose", "code", "log", "chinese"],
)
def test_an_estimate_is_near_the_count(counter: Counter, text: str) -> None:
    assert counter.count(text) * 0.8 <= estimate(text) <= counter.count(text) * 1.7


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(bytes(range(256)) * 10).decode(),
        bytes(range(256)).hex() * 10,
        "DO NOT EDIT THIS GENERATED FILE " * 50,
        "съешь ещё этих мягких французских булок " * 50,
        "😀🎉🚀👍" * 50,
        "┌─┬─┐│└┴┘" * 50,
        "\0" * 1_000,
    ],
    ids=["base64", "hex", "capitals", "russian", "emoji", "boxes", "zeros"],
)
def test_an_estimate_of_an_odd_text_is_rather_over_than_under(counter: Counter, text: str) -> None:
    assert counter.count(text) * 0.75 <= estimate(text) <= counter.count(text) * 2.2


@pytest.mark.parametrize("sign", ["-", "=", "─", "#"])
def test_a_drawn_line_is_not_estimated_sign_by_sign(counter: Counter, sign: str) -> None:
    text = f"{sign * 80}\n" * 20
    assert estimate(text) <= counter.count(text) * 4
