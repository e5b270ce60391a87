"""Counting: the time of odd texts, and of a reply that streams in."""

import base64
import random
import time
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.figures import Figure
from pinfold.tokens.catalog import O200K
from pinfold.tokens.counter import Counter
from pinfold.tokens.heuristic import estimate
from pinfold.tokens.stream import StreamCount

MILLION = 1_000_000
PROSE = "The reader opens the file twice, and `read()` returns nothing. "
BOUND = 10.0
"""How many times longer than prose a text of as many bytes may take."""
DELTAS = 8_000


def run() -> Iterator[Figure]:
    counter = Counter(O200K)
    counter.load()
    ways: list[tuple[str, Callable[[str], int]]] = [
        ("count", counter.measure),
        ("estimate without an encoding", estimate),
    ]
    for what, act in ways:
        usual = milliseconds(act, PROSE * (MILLION // len(PROSE))) / MILLION
        for name, text in odd_texts():
            prose = usual * len(text.encode())
            took = milliseconds(act, text)
            yield Figure(f"{what}: {name}", took, "ms", prose, "as many bytes of prose", BOUND)
    yield Figure("a token of a streamed reply", delta(counter), "µs", target=10)


def odd_texts() -> Iterator[tuple[str, str]]:
    chance = random.Random(1)
    chinese = "".join(chr(chance.randint(0x4E00, 0x9FA5)) for _ in range(MILLION // 3))
    yield "1 MB of one letter", "a" * MILLION
    yield "1 MB of base64", base64.b64encode(chance.randbytes(MILLION * 3 // 4)).decode()
    yield "1 MB of Chinese", chinese
    yield "1 MB of emoji", "😀🎉" * (MILLION // 8)
    yield "10 MB of spaces", " " * 10 * MILLION
    yield "10 MB of empty lines", "\n" * 10 * MILLION


def milliseconds(act: Callable[[str], int], text: str) -> float:
    began = time.perf_counter()
    act(text)
    return 1e3 * (time.perf_counter() - began)


def delta(counter: Counter) -> float:
    """Median microseconds."""
    words = PROSE.split()
    stream = StreamCount(counter)
    took = []
    for n in range(DELTAS):
        began = time.perf_counter()
        stream.push(f" {words[n % len(words)]}")
        took.append(time.perf_counter() - began)
    return 1e6 * median(took)
