"""The prompts for models that summarise: Markdown files, each of which the user can override."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

ENDING = ".md"


def text(name: str, overrides: Mapping[str, str]) -> str:
    """The prompt of that name: the user's or the project's, else pinfold's.

    Raises `KeyError` where there is none.
    """
    return overrides.get(name) or _own_prompts()[name]


def names() -> Iterator[str]:
    """All that can be overridden."""
    yield from _own_prompts()


@cache
def _own_prompts() -> dict[str, str]:
    folder = files("pinfold.compaction") / "prompts"
    return {
        file.name.removesuffix(ENDING): file.read_text("utf-8").strip()
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(ENDING)
    }
