"""What a rule of a gate finds in a session."""

from typing import Any

import msgspec

from pinfold.adopt import detect
from pinfold.evaluation.gate.keeping import RuleCheck
from pinfold.evaluation.gate.trying import tried
from pinfold.many.evaluation import counter


def result(data: bytes, name: str, settings: dict[str, Any]) -> bytes:
    """A `Kept`. Settings: see `trying.tried`. Raises `NotASession`."""
    return msgspec.json.encode(tried(detect.read_bytes(data, name).events, settings, counter()))


def kept(data: bytes) -> RuleCheck:
    return msgspec.json.decode(data, type=RuleCheck)
