"""RESULTS.md: a section for each benchmark; the soak's is written when that has run."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"
_TITLE = re.compile(r"^## (.+)$", re.MULTILINE)


def write(
    head: str, sections: Mapping[str, str], keep: Iterable[str] = (), path: Path = RESULTS
) -> None:
    """Begin anew with these sections by title; of the old ones stay those to `keep`."""
    _, old = _read(path)
    kept = {title: old[title] for title in keep if title in old}
    _write(path, head, {**sections, **kept})


def write_section(title: str, text: str, path: Path = RESULTS) -> None:
    """Write one section; all others stay."""
    head, old = _read(path)
    _write(path, head, {**old, title: text})


def _read(path: Path) -> tuple[str, dict[str, str]]:
    if not path.exists():
        return "# Results", {}
    head, *rest = _TITLE.split(path.read_text(encoding="utf-8"))
    texts = (text.strip() for text in rest[1::2])
    return head.strip(), dict(zip(rest[::2], texts, strict=True))


def _write(path: Path, head: str, sections: Mapping[str, str]) -> None:
    parts = [head, *(f"## {title}\n\n{text}" for title, text in sections.items())]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
