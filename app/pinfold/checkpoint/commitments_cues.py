"""How commitments are worded: the patterns of `cues/*.toml`.

They meet a sentence as `policy.normal` leaves it, with `x` for what stands in quotes.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

Kind = Literal["decision", "preference", "state", "value", "constraint", "rule"]
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Cues:
    ignore: re.Pattern[str]
    """A report, a guess or a quotation: no commitment, whatever else it holds."""
    even_asked: re.Pattern[str]
    """A rule in the form of a question."""
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...]
    topics: tuple[tuple[str, re.Pattern[str]], ...]
    """Of which one holds at a time."""
    values: tuple[tuple[str, re.Pattern[str]], ...]
    """The same, of one thing: the port of the server is not that of the database."""
    bars: re.Pattern[str]
    """A prohibition that is no limit."""
    empty: frozenset[str]
    """Words that tell nothing of the subject."""


@cache
def languages() -> tuple[Cues, ...]:
    """All that are known."""
    folder = files("pinfold.checkpoint") / "cues"
    names = ("en.toml", "de.toml", "fr.toml", "es.toml")
    return tuple(_cues(tomllib.loads((folder / name).read_text("utf-8"))) for name in names)


def _cues(told: Mapping[str, Any]) -> Cues:
    words: dict[str, str] = told.get("words", {})

    def pattern(alternatives: list[str]) -> re.Pattern[str]:
        text = "|".join(alternatives)
        return re.compile(re.sub(r"<(\w+)>", lambda name: f"(?:{words[name[1]]})", text))

    def named(group: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
        return tuple((name, re.compile(text)) for name, text in told[group].items())

    return Cues(
        ignore=pattern(told["ignore"]),
        even_asked=pattern(told["even_asked"]),
        kinds=tuple((kind, pattern(told[kind])) for kind in get_args(Kind)),
        topics=named("topics"),
        values=named("values"),
        bars=pattern(told["bars"]),
        empty=frozenset(told["empty"].split()),
    )
