"""The memories after the last consolidation, as the only commit of a git repository.

A new baseline replaces the whole repository, so that nothing deleted stays in its objects, packs or
logs.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from pinfold.memories import trees
from pinfold.memories.places import GIT, MemoryPlaces
from pinfold.tools.diffs import unified

_AUTHOR = b"pinfold <pinfold@localhost>"
_BRANCH = b"refs/heads/main"
_FILE = 0o100644


def read(places: MemoryPlaces) -> trees.Tree:
    """The files of the baseline; none if it is missing or damaged: then everything counts as new.
    Blocking."""
    from dulwich.repo import Repo

    try:
        with Repo(str(places.files)) as repo:
            commit = repo[_BRANCH]
            entries = repo.object_store.iter_tree_contents(commit.tree)  # type: ignore[attr-defined]
            return {os.fsdecode(entry.path): repo[entry.sha].as_raw_string() for entry in entries}
    except Exception:  # a damaged repository may raise anything
        return {}


def reset(places: MemoryPlaces, files: Mapping[str, bytes]) -> None:
    """Make these files the baseline, and delete the old one. Blocking. Raises `OSError`."""
    from dulwich.index import IndexEntry, commit_tree
    from dulwich.objects import Blob, Commit
    from dulwich.refs import Ref
    from dulwich.repo import Repo

    made = places.work / "baseline.tmp"
    trees.drop(made)
    made.mkdir(mode=0o700)
    with Repo.init(str(made)) as repo:
        blobs = {name: Blob.from_string(data) for name, data in files.items()}
        for blob in blobs.values():
            repo.object_store.add_object(blob)
        every = [(name.encode(), blob.id, _FILE) for name, blob in blobs.items()]
        commit = Commit()
        commit.tree = commit_tree(repo.object_store, every)
        commit.author = commit.committer = _AUTHOR
        commit.author_time = commit.commit_time = 0
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = b"Memories as last consolidated\n"
        repo.object_store.add_object(commit)
        repo.refs.set_if_equals(Ref(_BRANCH), None, commit.id)
        repo.refs.set_symbolic_ref(Ref(b"HEAD"), Ref(_BRANCH))
        index = repo.open_index()  # so that `git diff` works there
        for name, blob in blobs.items():
            size = len(files[name])
            index[name.encode()] = IndexEntry(0, 0, 0, 0, _FILE, 0, 0, size, blob.id)
        index.write()
    trees.drop(_new_repository(places))
    (made / GIT).rename(_new_repository(places))
    trees.drop(made)
    recover(places)


def recover(places: MemoryPlaces) -> None:
    """Finish an interrupted reset. Blocking. Raises `OSError`."""
    new, old, git = _new_repository(places), places.work / "baseline.old", places.files / GIT
    if new.exists():
        if git.is_symlink() or git.exists():
            trees.drop(old)
            git.rename(old)
        new.rename(git)
    trees.drop(old)


def _new_repository(places: MemoryPlaces) -> Path:
    return places.work / "baseline.new"


def diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """The changes as git shows them; empty if there are none."""
    parts: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        parts.append(f"diff --git a/{name} b/{name}\n")
        if old is None:
            parts.append("new file\n")
        if new is None:
            parts.append("deleted file\n")
        one, two = (None if line is None else trees.text(line) for line in (old, new))
        binary = (one is None) != (old is None) or (two is None) != (new is None)
        parts.append("Binary files differ\n" if binary else unified(one, two, name).text)
    return "".join(parts)


def status(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """One line per change: `A`, `M` or `D`, and the file."""
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return [
        f"{'A' if name not in before else 'D' if name not in after else 'M'} {name}"
        for name in changed
    ]
