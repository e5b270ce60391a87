"""What the agent reads, and what of its work can be used. Pure, except `written`."""

from collections.abc import Sequence
from pathlib import Path

from pinfold.memories import applying, baseline, trees
from pinfold.memories.agent import AgentFailed
from pinfold.memories.places import EXTENSIONS, MEMORY, SKILLS, SUMMARY
from pinfold.memories.proof import RecordIndex, checked
from pinfold.memories.statements import cited

MAX_WRITTEN = 2_000_000
"""Bytes of all files that a consolidation writes."""


def lasting(tree: trees.Tree) -> trees.Tree:
    """The files that nobody may change meanwhile; other tools may add notes."""
    return {name: data for name, data in tree.items() if not name.startswith(f"{EXTENSIONS}/")}


def changes(was: trees.Tree, now: trees.Tree) -> str:
    """The diff that the agent reads first."""
    files = "\n".join(f"- {line}" for line in baseline.status(was, now))
    return f"# Changes since the last consolidation\n\n{files}\n\n{baseline.diff(was, now)}"


def written(staging: Path) -> trees.Tree:
    """What the agent wrote. Raises `AgentFailed` if it can't be used, and `OSError`."""
    made = applying.outputs(trees.read(staging))
    for name in (MEMORY, SUMMARY):
        if name not in made:
            raise AgentFailed(f"It wrote no {name}.")
    if sum(map(len, made.values())) > MAX_WRITTEN:
        raise AgentFailed(f"It wrote more than {MAX_WRITTEN:,} bytes.")
    if odd := next((name for name, data in made.items() if trees.text(data) is None), None):
        raise AgentFailed(f"{odd} is not text.")
    return made


def proven(
    before: trees.Tree, made: trees.Tree, records: RecordIndex, gone: Sequence[str]
) -> tuple[trees.Tree, int, tuple[tuple[str, str], ...]]:
    """The files with every line checked, how many lines are proven, and which are not, and why."""
    after: trees.Tree = {}
    lines, doubts = 0, list[tuple[str, str]]()
    for name in sorted({*made, *(path for path in before if is_users(path, before[path]))}):
        data, old = made.get(name, b""), before.get(name)
        if old is not None and (data == old or name not in made) and is_users(name, old):
            after[name] = old
            continue
        if not name.endswith(".md"):
            doubts.append((name, "only Markdown can cite what proves it"))
            continue
        found = checked(
            trees.text(data) or "",
            trees.text(old or b"") or "",
            records,
            gone,
            steps=name.startswith(f"{SKILLS}/"),
        )
        doubts += [(doubt.text, doubt.why) for doubt in found.doubts]
        if found.proven or not name.startswith(f"{SKILLS}/"):
            lines += found.proven
            after[name] = found.text.encode()
        elif old is not None and is_users(name, old):
            after[name] = old
    return after, lines, tuple(doubts)


def is_users(name: str, data: bytes) -> bool:
    """Whether it is a file of a skill that cites nothing: the user wrote it."""
    return name.startswith(f"{SKILLS}/") and not any(cited(trees.text(data) or ""))
