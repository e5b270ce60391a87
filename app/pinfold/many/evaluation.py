"""What strategies keep of a session."""

from functools import cache
from typing import Any

import msgspec

from pinfold import paths
from pinfold.adopt import detect
from pinfold.evaluation.evaluate import known
from pinfold.evaluation.recorded_scores import SessionResult
from pinfold.evaluation.recorded_trials import tried
from pinfold.tokens.catalog import O200K
from pinfold.tokens.counter import Counter


def result(data: bytes, name: str, settings: dict[str, Any]) -> bytes:
    """A list of `SessionResult`, one for each conversation; only their milliseconds differ between
    runs. Settings: `budget`, `strategies`. Raises `NotASession`, `OSError`."""
    strategies = known(settings["strategies"])
    found: list[SessionResult] = []
    adoption = detect.read_bytes(data, name)
    for index in range(adoption.conversations):
        title = f"{name} --index {index}" if index else name
        adoption = detect.read_bytes(data, name, index) if index else adoption
        found.append(
            tried(title, adoption.tool, adoption.events, settings["budget"], strategies, counter())
        )
    return msgspec.json.encode(found)


def results(data: bytes) -> list[SessionResult]:
    return msgspec.json.decode(data, type=list[SessionResult])


@cache
def counter() -> Counter:
    counter = Counter(O200K, paths.cache_folder())
    counter.load()
    return counter
