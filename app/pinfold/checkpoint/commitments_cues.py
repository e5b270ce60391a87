"""How commitments are worded: the patterns of `cues/*.toml`.

They meet a sentence as `policy.normal` leaves it, with `x` for what stands in quotes.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
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
    leans: re.Pattern[str]
    """The agent would itself take one of what it offers."""
    offers: re.Pattern[str]
    """It names what one may choose from."""
    choosing: frozenset[str]
    """Words around the name of an option."""
    ordinals: tuple[re.Pattern[str], ...]
    last: re.Pattern[str]
    both: re.Pattern[str]
    either: str
    """Before the first of two options in a sentence."""
    either_or: str
    """Between them."""
    other: re.Pattern[str]
    """Begins a sentence that holds the second of two."""
    reason: re.Pattern[str]
    """What follows says why, or when, and picks nothing."""
    open: re.Pattern[str]
    """A question that is left open."""
    next: re.Pattern[str]
    """What comes after this."""
    shift: re.Pattern[str]
    """Something else is wanted now than what the session began with."""
    makes: re.Pattern[str]
    """It says what."""
    ahead: re.Pattern[str]
    """The same, where the agent says what it will do."""


_WORD = re.compile(r"[^\W\d_][\w'-]*")


def telling(said: str) -> set[str]:
    """The words of a plain sentence that tell of its subject."""
    every = languages()
    return {word for word in _WORD.findall(said) if not any(word in c.empty for c in every)}


@lru_cache(maxsize=512)
def plain(text: str) -> str:
    """As the cues expect it; a sentence is looked at several times."""
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

    choice = told["choice"]

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
        leans=re.compile(choice["leans"]),
        offers=re.compile(choice["offers"]),
        choosing=frozenset(choice["words"].split()),
        ordinals=tuple(map(re.compile, choice["ordinals"])),
        last=re.compile(choice["last"]),
        both=re.compile(choice["both"]),
        either=choice["either"],
        either_or=choice["or"],
        other=re.compile(choice["other"]),
        reason=re.compile(choice["reason"]),
        open=pattern(told["open"]),
        next=pattern(told["next"]),
        shift=pattern(told["shift"]),
        makes=re.compile(told["makes"]),
        ahead=pattern(told["ahead"]),
    )
