"""The files that consolidation reads, written from the records."""

import re
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path

from pinfold.export.redact import Secrets
from pinfold.memories import trees
from pinfold.memories.places import EXTENSIONS, RAW, SUMMARIES
from pinfold.memories.records import Output
from pinfold.sanitize import one_line, safe

KEPT_DAYS = 7
"""How long a file below an extension's `resources` stays."""
EMPTY = "# Raw memories\n\nNo memories are selected.\n"
_HEAD = "# Raw memories\n\nOne block a session, in ascending order of their ids.\n"
_LONGEST_SLUG = 60
_SESSION = "Session: "


def raw_memories(selected: Iterable[Output]) -> str:
    """All records in one text, in ascending order of session ids."""
    blocks = [
        f"## Session {row.session_id}\n\n{_described(row)}{_body(row.raw_memory)}\n"
        for row in sorted(selected, key=lambda output: output.session_id)
    ]
    return _ended("\n".join([_HEAD, *blocks])) if blocks else EMPTY


def summaries(selected: Iterable[Output]) -> dict[str, str]:
    """The summary files, by their names: `<date>-<slug>.md`.

    Where two sessions have the same, the later ids get a number.
    """
    found: dict[str, str] = {}
    for row in sorted(selected, key=lambda output: output.session_id):
        stem = f"{_utc(row.source_updated_at):%Y-%m-%d}-{_slug(row.rollout_slug)}"
        name, number = stem, 1
        while f"{name}.md" in found:
            number += 1
            name = f"{stem}-{number}"
        head = f"{_SESSION}{row.session_id}\n{_described(row)}"
        found[f"{name}.md"] = f"{head}{_body(row.rollout_summary)}\n"
    return found


def sync(
    folder: Path,
    selected: Collection[Output],
    now: datetime,
    check: Callable[[], None],
) -> None:
    """Bring the files up to date: what is not selected goes, and so do old resources and secrets.

    `check` is called before each write, and raises where it must not happen. What consolidation
    writes is left alone. Blocking. Raises `OSError`.
    """
    for path in _old_resources(folder, now):
        check()
        path.unlink(missing_ok=True)
    present = trees.read(folder)
    wanted = {RAW: raw_memories(selected).encode()}
    for name, text in summaries(selected).items():
        wanted[f"{SUMMARIES}/{name}"] = text.encode()
    kept = {name: data for name, data in present.items() if not name.startswith(f"{SUMMARIES}/")}
    wanted = redacted({**kept, **wanted})
    for name in present:
        if name not in wanted:
            check()
            trees.remove(folder, name)
    for name, data in wanted.items():
        if present.get(name) != data:
            check()
            trees.put(folder, name, data)


def redacted(tree: trees.Tree) -> trees.Tree:
    """Files without the secrets in them."""
    found = {name: text for name, data in tree.items() if (text := trees.text(data)) is not None}
    secrets = Secrets(found.values())
    if not len(secrets):
        return dict(tree)
    return {**tree, **{name: secrets.replaced(text).encode() for name, text in found.items()}}


def session_of(summary: str) -> str:
    """The session that a summary file is about; empty where it does not say."""
    first = summary.partition("\n")[0]
    return first.removeprefix(_SESSION).strip() if first.startswith(_SESSION) else ""


def without(raw: str, gone: Collection[str]) -> str:
    """`raw_memories` without the blocks of these sessions."""
    head, *blocks = re.split(r"(?m)^(?=## Session )", raw)
    left = [block for block in blocks if _block_of(block) not in gone]
    return _ended("".join([head, *left])) if left or not blocks else EMPTY


def _ended(text: str) -> str:
    return text.rstrip() + "\n"


def _block_of(block: str) -> str:
    return block.partition("\n")[0].removeprefix("## Session ").strip()


def _old_resources(folder: Path, now: datetime) -> list[Path]:
    """Files below `extensions/*/resources` that were last changed more than `KEPT_DAYS` ago."""
    oldest = now.timestamp() - KEPT_DAYS * 86_400
    return [
        folder / name
        for name in trees.names(folder, EXTENSIONS)
        if len(parts := name.split("/")) > 3
        and parts[2] == "resources"
        and (folder / name).lstat().st_mtime < oldest
    ]


def _described(row: Output) -> str:
    updated = _utc(row.source_updated_at)
    return f"Folder: {one_line(row.cwd)}\nUpdated: {updated:%Y-%m-%dT%H:%M:%SZ}\n\n"


def _body(text: str) -> str:
    """A record's text, whose lines can't be taken for the head of another's block."""
    lines = safe(text).strip().split("\n")
    return "\n".join(f" {line}" if line.startswith("## Session ") else line for line in lines)


def _slug(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
    return words[:_LONGEST_SLUG].strip("-") or "session"


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
