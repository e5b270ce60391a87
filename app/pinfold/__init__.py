"""pinfold: an agent shell whose context window can be seen, steered and undone."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinfold.library import CompactionResult as CompactionResult
    from pinfold.library import Digest as Digest
    from pinfold.library import Impossible as Impossible
    from pinfold.library import Line as Line
    from pinfold.library import compact as compact
    from pinfold.library import digest as digest

__version__ = "0.1.0"

_LIBRARY = frozenset({"CompactionResult", "Digest", "Impossible", "Line", "compact", "digest"})


def __getattr__(name: str) -> object:
    """What is in `library.py`, which is imported when it is first asked for."""
    if name in _LIBRARY:
        from pinfold import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
