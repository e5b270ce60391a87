"""Suggests the known name that was most likely meant."""

from collections.abc import Iterable

from pinfold.sanitize import one_line

_LISTED = 12
"""Known names that are listed if none is near."""
_LONGEST = 60
"""Characters of a name that are shown or compared."""


def shown(name: str) -> str:
    """A name from anywhere, short and safe to print."""
    return one_line(name, _LONGEST)


def listed(names: Iterable[str]) -> str:
    """`a, b and 3 more`."""
    every = [shown(name) for name in names]
    more = len(every) - _LISTED
    return ", ".join(every[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most alike; of `maker/model` the last part counts as well."""
    from difflib import get_close_matches

    by_part: dict[str, str] = {}
    for candidate in known:
        for part in (candidate, candidate.rpartition("/")[2]):
            by_part.setdefault(part.lower()[:_LONGEST], candidate)
    found = get_close_matches(name.lower()[:_LONGEST], by_part, n=1)
    return by_part[found[0]] if found else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean a?`, or, where no known name is near, `; there are a, b and 3 more`."""
    names = list(known)
    if near := nearest(name, names):
        return f"; did you mean {shown(near)}?"
    return f"; there are {listed(names)}" if names else ""
