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

from pinfold.checkpoint.policy import normal

Kind = Literal["decision", "preference", "state", "value", "constraint", "rule"]
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Cues:
    ignore: re.Pattern[str]
    """A report, a guess or a quotation: no commitment, whatever else it holds."""
    asks: re.Pattern[str]
    """A question without its mark."""
    even_asked: re.Pattern[str]
    """A rule in the form of a question."""
    heads: tuple[tuple[Kind, re.Pattern[str]], ...]
    """Of a list: what its items are."""
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...]
    topics: tuple[tuple[str, re.Pattern[str]], ...]
    """Of which one holds at a time."""
    values: tuple[tuple[str, re.Pattern[str]], ...]
    """The same, of one thing: the port of the server is not that of the database."""
    bars: re.Pattern[str]
    """A prohibition that is no limit."""
    empty: frozenset[str]
    """Words that tell nothing of the subject."""
    concedes: re.Pattern[str]
    """What a sentence holds in spite of, at its end."""
    news: re.Pattern[str]
    """Before a colon: what follows takes the place of what was said."""
    copula: re.Pattern[str]
    """Between a thing and its value."""
    consent: re.Pattern[str]
    """All of a sentence that agrees."""
    assents: re.Pattern[str]
    """In such a sentence: it agrees to what was not asked."""
    proposes: re.Pattern[str]
    """The agent would do something if the user agrees."""
    open: re.Pattern[str]
    """A question that is left open."""
    next: re.Pattern[str]
    """What comes after this."""


_WORD = re.compile(r"[^\W\d_][\w'-]*")


def telling(said: str) -> set[str]:
    """The words of a plain sentence that tell of its subject."""
    every = languages()
    return {word for word in _WORD.findall(said) if not any(word in c.empty for c in every)}


def plain(text: str) -> str:
    """As the cues expect it."""
    return " ".join(normal(text).split()).strip(" .!:;,()")


@cache
def languages() -> tuple[Cues, ...]:
    """All that are known."""
    folder = files("pinfold.checkpoint") / "cues"
    names = ("en.toml", "de.toml", "fr.toml", "es.toml")
    return tuple(_cues(tomllib.loads((folder / name).read_text("utf-8"))) for name in names)


def _cues(told: Mapping[str, Any]) -> Cues:
    words: dict[str, str] = {}

    def spelled_out(text: str) -> str:
        return re.sub(r"<(\w+)>", lambda name: f"(?:{words[name[1]]})", text)

    def pattern(alternatives: list[str]) -> re.Pattern[str]:
        return re.compile(spelled_out("|".join(alternatives)))

    def named(group: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
        return tuple((name, re.compile(text)) for name, text in told[group].items())

    for name, text in told["words"].items():
        words[name] = spelled_out(text)
    kinds: tuple[Kind, ...] = get_args(Kind)
    yes, assents = pattern([told["yes"]]).pattern, pattern(told["assents"]).pattern

    return Cues(
        ignore=pattern(told["ignore"]),
        asks=pattern(told["asks"]),
        even_asked=pattern(told["even_asked"]),
        kinds=tuple((kind, pattern(told[kind])) for kind in kinds),
        heads=tuple(
            (kind, re.compile(told["heads"][kind])) for kind in kinds if kind in told["heads"]
        ),
        topics=named("topics"),
        values=named("values"),
        bars=pattern(told["bars"]),
        empty=frozenset(told["empty"].split()),
        concedes=pattern(told["concedes"]),
        news=pattern(told["news"]),
        copula=pattern(told["copula"]),
        consent=re.compile(rf"(?:(?:{yes}|{assents})(?:[ ,.!-]+|$))+"),
        assents=re.compile(rf"(?<!\w)(?:{assents})(?!\w)"),
        proposes=pattern(told["proposes"]),
        open=pattern(told["open"]),
        next=pattern(told["next"]),
    )
