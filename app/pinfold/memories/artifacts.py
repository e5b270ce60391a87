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
"""Days that a file below an extension's `resources` is kept."""
EMPTY = "# Raw memories\n\nNo memories are selected.\n"
_HEAD = "# Raw memories\n\nOne block a session, in ascending order of their ids.\n"
_LONGEST_SLUG = 60
_SESSION = "Session: "


def raw_memories(selected: Iterable[Output]) -> str:
    """All records in one text, ordered by session id."""
    blocks = [
        f"## Session {row.session_id}\n\n{_described(row)}{_body(row.raw_memory)}\n"
        for row in sorted(selected, key=lambda output: output.session_id)
    ]
    return _ended("\n".join([_HEAD, *blocks])) if blocks else EMPTY


def summaries(selected: Iterable[Output]) -> dict[str, str]:
    """The summary files by name: `<date>-<slug>.md`, with a number for later sessions that have the
    same date and slug."""
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
    """Write the files for the selected records, and remove all others, old resources and secrets.

    `check` is called before each write and may raise. Files that consolidation writes are not
    touched. Blocking. Raises `OSError`.
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
    """The files without secrets."""
    found = {name: text for name, data in tree.items() if (text := trees.text(data)) is not None}
    secrets = Secrets(found.values())
    if not len(secrets):
        return dict(tree)
    return {**tree, **{name: secrets.replaced(text).encode() for name, text in found.items()}}


def session_of(summary: str) -> str:
    """The id of the session in a summary file; empty if there is none."""
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
    """Files below `extensions/*/resources` that have not changed for `KEPT_DAYS`."""
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
    """A record's text, in which no line looks like the heading of another block."""
    lines = safe(text).strip().split("\n")
    return "\n".join(f" {line}" if line.startswith("## Session ") else line for line in lines)


def _slug(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
    return words[:_LONGEST_SLUG].strip("-") or "session"


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
