"""RESULTS.md: a section for each benchmark; the soak's is written when that has run."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

BY_HAND = "by hand"
"""In the titles of sections that no benchmark writes: they stay."""
RESULTS = Path(__file__).parent / "RESULTS.md"
TARGETS = "Targets"
"""The section that says which are missed, made from all others."""
MET, MISSED = "yes", "**no**"
"""As `Figure.cells` has it."""
_TITLE = re.compile(r"^## (.+)$", re.MULTILINE)


def write(
    head: str, sections: Mapping[str, str], keep: Collection[str] = (), path: Path = RESULTS
) -> None:
    """Begin anew with these sections by title; of the old ones stay those to `keep`, and those
    that were made by hand."""
    _, old = _read(path)
    kept = {title: text for title, text in old.items() if title in keep or BY_HAND in title}
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
    measured = {title: text for title, text in sections.items() if title != TARGETS}
    every = {TARGETS: _targets(measured), **measured}
    parts = [head, *(f"## {title}\n\n{text}" for title, text in every.items())]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _targets(sections: Mapping[str, str]) -> str:
    met, missed = 0, []
    for title, text in sections.items():
        place = re.split("[:,.] ", title)[0].rstrip(".")
        for line in text.splitlines():
            row = [cell.strip() for cell in line.strip("|").split("|")]
            met += row[-1] == MET
            if row[-1] == MISSED:
                name, value, _, ratio, target, _ = row
                # Where there is a ratio, it is what the target is for.
                missed.append(f"- {name}: {ratio or value}, target {target} ({place})")
    return "\n".join([f"{met} are met, {len(missed)} are missed:", "", *missed])
