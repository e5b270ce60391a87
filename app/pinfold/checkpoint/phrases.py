"""How standing orders are worded: the patterns of `languages/*.toml`.

They meet text as `policy.normal` leaves it: lower case, without accents, quotes and markup.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

FILLERS = re.compile(
    r"(?:(?:and|but|so|also|thus|therefore|hence|note|important|rule|policy|reminder|please|kindly|"
    r"just|simply|first|you|to|und|aber|bitte|daher|et|mais|donc|alors|s'il vous plait|merci de|"
    r"veuillez|y|pero|por favor|entonces|que)\b[ ,:]*)+"
)
"""What may stand before an imperative without changing it."""


@dataclass(frozen=True, slots=True)
class Language:
    mark: re.Pattern[str]
    """Makes an order of an imperative in the same sentence: `always`, `before every commit`."""
    onward: re.Pattern[str]
    """Makes one of whatever is said to the agent, or of what it does: `from now on`."""
    concerned: re.Pattern[str]
    """Of whom or what an onward mark must tell."""
    led: re.Pattern[str]
    """An imperative after a mark."""
    imperative: re.Pattern[str]
    """An imperative that nothing stands before."""
    order: re.Pattern[str]
    """An order in itself."""


@cache
def languages() -> tuple[Language, ...]:
    """All that are known."""
    folder = files("pinfold.checkpoint") / "languages"
    names = ("en.toml", "de.toml", "fr.toml", "es.toml")
    return tuple(_language(tomllib.loads((folder / name).read_text("utf-8"))) for name in names)


def _language(told: Mapping[str, Any]) -> Language:
    words: dict[str, str] = {}

    def pattern(alternatives: list[str]) -> str:
        text = f"(?:{'|'.join(alternatives)})"
        return re.sub(r"<(\w+)>", lambda name: words[name[1]], text)

    for name, alternatives in told["words"].items():
        words[name] = pattern(alternatives)
    mark, onward = pattern(told["mark"]), pattern(told["onward"])
    return Language(
        mark=re.compile(rf"\b(?:{mark}|{onward})(?!\w)"),
        onward=re.compile(rf"\b{onward}\b"),
        concerned=re.compile(rf"\b{words['concerned']}\b"),
        led=re.compile(pattern(told["led"])),
        imperative=re.compile(pattern(told["imperative"])),
        order=re.compile(pattern(told["order"])),
    )
