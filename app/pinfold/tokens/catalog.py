"""Known models by name, from `models.toml`: window, longest reply, tokenizer, effort."""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from pinfold.tokens.prices import Price

O200K = "o200k_base"
CL100K = "cl100k_base"
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Every reasoning level that some model takes, least first."""


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    context_window: int
    """Tokens that one request may have."""
    max_output: int
    """Tokens that one reply may have."""
    encoding: str
    """The tiktoken encoding that counts for it, or the nearest one."""
    known: bool = True
    """False where the name says nothing and all figures are assumed."""
    effort: tuple[str, ...] = ()
    """The reasoning levels that it takes; none where that is not known, or it takes none."""
    price: Price | None = None


ASSUMED = CatalogEntry(272_000, 16_384, O200K, known=False)


def look_up(name: str) -> CatalogEntry:
    """The entry for a model; its name may have a vendor prefix, tag, date or file ending."""
    short = name.lower().replace("\\", "/").rsplit("/", 1)[-1].replace("_", "-")
    for pattern, entry in _entries():
        if pattern.search(short):
            return entry
    return ASSUMED


def efforts(provider: str, name: str) -> tuple[str, ...]:
    """The reasoning levels that a model takes at a provider, as far as is known."""
    service = _data()["services"].get(provider, {})
    return look_up(name).effort if service.get("effort", True) else ()


def first_model(service: str) -> str:
    """The model to begin with at a service. Raises `KeyError` for one that is not listed."""
    return str(_data()["services"][service]["model"])


def checked() -> date:
    """When the entries were last compared with the providers' documentation."""
    day: date = _data()["date"]
    return day


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))


@cache
def _entries() -> tuple[tuple[re.Pattern[str], CatalogEntry], ...]:
    source = f"the catalog of {checked().isoformat()}"
    return tuple(
        (
            re.compile(f"(?<![a-z0-9])(?:{entry['name']})"),
            CatalogEntry(
                entry["window"],
                entry["output"],
                entry["encoding"],
                effort=tuple(entry.get("effort", ())),
                price=Price(**entry["price"], source=source) if "price" in entry else None,
            ),
        )
        for entry in _data()["models"]
    )
