"""The folders of a race: Git worktrees; copies where the user's folder is in no repository.

A folder is read as a Git tree, through a temporary index; nothing that the repository's
configuration names is run. The trees of copies are kept in a store of the session.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pinfold import paths
from pinfold.agent.children.race_folders import Base, FileChange
from pinfold.host import worktrees
from pinfold.host.app_context import WrongUse
from pinfold.host.race_taking import Entry, TakeOver
from pinfold.ports.tool import Observation, ToolError
from pinfold.sanitize import one_line
from pinfold.tools.git import git, git_bytes, no_filters

MOST_FILES = 20_000
MOST_BYTES = 300_000_000
"""Most that is copied for each agent: all files without a repository, else untracked ones."""
LISTED = 50_000_000
"""Bytes of a list of files."""
MAX_DIFF = 2_000_000
"""Bytes of a diff that are shown."""
PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
BASE_REF = "refs/worktree/pinfold-base"
"""Keeps the tree of the start while the worktree exists."""


@dataclass(frozen=True, slots=True)
class CopiedFolders:
    """Folders of races in `folder`; a port of `agent.children.race_folders`."""

    folder: Path
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def base(self, store: Path) -> Base:
        top = await self._top()
        if top is not None:
            return await self._base("worktree", top, store)
        if not await asyncio.to_thread((store / "HEAD").is_file):
            await asyncio.to_thread(store.mkdir, parents=True, exist_ok=True)
            await git(store, "init", "-q", "--bare", "--template=", ".")
        return await self._base("copy", self.folder, store)

    async def _base(self, apart: str, top: Path, store: Path) -> Base:
        base = Base("worktree" if apart == "worktree" else "copy", "", store)
        others = await self._names(top, base, "ls-files", "--others", "--exclude-standard", "-z")
        left = tuple(name for name in others if name.endswith("/"))
        await asyncio.to_thread(_check_size, top, [name for name in others if name not in left])
        return Base(base.apart, await self._tree(top, base, left), store, left)

    async def make(self, name: str, base: Base) -> Path:
        if base.apart == "worktree":
            head = (await git(self.folder, "rev-parse", "HEAD")).strip()
            try:
                async with self._making:  # Git makes one at a time
                    await worktrees.use(self.folder, name)
            except WrongUse as error:
                raise ToolError(str(error)) from error
            top = await self._place(name, base)
            settings = await no_filters(top)
            await git(top, "read-tree", "--reset", "-u", base.tree, settings=settings)
            await git(top, "reset", "-q", "--mixed", head, settings=settings)
            await git(top, "update-ref", BASE_REF, base.tree)
        else:
            top = await self._place(name, base)
            try:
                top.mkdir(parents=True)
            except OSError as error:
                raise ToolError(
                    f"{paths.shown(top)} could not be created: {error.strerror}"
                ) from error
            with tempfile.TemporaryDirectory(prefix="pinfold-") as scratch:
                env = _env(top, base, Path(scratch) / "index")
                words = ("read-tree", "--reset", "-u", base.tree)
                await git_bytes(top, *words, env=env, settings=await no_filters(top))
        return await self._inside(top, base)

    async def find(self, name: str, base: Base) -> Path | None:
        top = await self._place(name, base)
        return await self._inside(top, base) if top.is_dir() else None

    async def changes(self, name: str, base: Base) -> Sequence[FileChange]:
        top = await self._there(name, base)
        tree = await self._tree(top, base)
        words = ("diff", "--numstat", "-z", *PLAIN, base.tree, tree)
        return [_counted(line) for line in await self._names(top, base, *words)]

    async def diff(self, name: str, base: Base) -> str:
        top = await self._there(name, base)
        tree = await self._tree(top, base)
        words = ("diff", *PLAIN, "--src-prefix=a/", "--dst-prefix=b/", base.tree, tree, "--")
        printed = await git_bytes(top, *words, env=_env(top, base), most=MAX_DIFF)
        return printed.decode(errors="replace")

    async def take(
        self, name: str, base: Base, save: Callable[[Path], str]
    ) -> Sequence[Observation]:
        source = await self._there(name, base)
        top = (await self._top()) if base.apart == "worktree" else self.folder
        if top is None:
            raise ToolError(f"{paths.shown(self.folder)} is no longer in a Git repository.")
        now = await self._tree(top, base, base.left)
        changed = await self._entries(source, base, await self._tree(source, base))
        moved = await self._entries(top, base, now)
        taking = TakeOver(source, top, self.folder, changed, moved, save)
        return await asyncio.to_thread(taking.run)

    async def remove(self, name: str, base: Base) -> None:
        top = await self._there(name, base)
        if base.apart == "copy":
            await asyncio.to_thread(shutil.rmtree, top)
            return
        settings = await no_filters(top)
        await git(self.folder, "worktree", "remove", "--force", "--", str(top), settings=settings)
        await git(self.folder, "branch", "-D", "--", f"pinfold/{name}")

    # Where

    async def _top(self) -> Path | None:
        """The folder's working tree; None without a repository that has a commit."""
        try:
            await git(self.folder, "rev-parse", "--verify", "--quiet", "HEAD")
            shown = await git(self.folder, "rev-parse", "--show-toplevel")
        except ToolError:
            return None
        return Path(shown.rstrip("\n"))

    async def _place(self, name: str, base: Base) -> Path:
        try:
            if base.apart == "worktree":
                return worktrees.path_beside(await worktrees.main_tree(self.folder), name)
            return worktrees.path_beside(self.folder, name)
        except WrongUse as error:
            raise ToolError(str(error)) from error

    async def _there(self, name: str, base: Base) -> Path:
        top = await self._place(name, base)
        if not top.is_dir():
            raise ToolError(f"{paths.shown(top)} is gone.")
        return top

    async def _inside(self, top: Path, base: Base) -> Path:
        """The folder in `top` that corresponds to the user's."""
        own = await self._top() if base.apart == "worktree" else None
        inside = top / self.folder.resolve().relative_to(own) if own is not None else top
        return inside if inside.is_dir() else top

    # What Git says

    async def _tree(self, top: Path, base: Base, left: Sequence[str] = ()) -> str:
        """The Git tree of `top` now, without the repositories `left` out."""
        with tempfile.TemporaryDirectory(prefix="pinfold-") as scratch:
            index = Path(scratch) / "index"
            if base.apart == "worktree":  # it knows which files have not changed
                words = ("rev-parse", "--path-format=absolute", "--git-path", "index")
                own = Path((await git(top, *words)).rstrip("\n"))
                if await asyncio.to_thread(own.is_file):
                    await asyncio.to_thread(shutil.copyfile, own, index)
            env = _env(top, base, index)
            settings = [*await no_filters(top), ("advice.addEmbeddedRepo", "false")]
            without = (f":(top,exclude,literal){name.rstrip('/')}" for name in left)
            await git_bytes(top, "add", "-A", "--", ".", *without, env=env, settings=settings)
            return (await git_bytes(top, "write-tree", env=env, settings=settings)).decode().strip()

    async def _entries(self, top: Path, base: Base, tree: str) -> Mapping[str, Entry]:
        """Changes of files since the start, by name."""
        words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", base.tree, tree)
        fields = await self._names(top, base, *words)
        return {
            name: Entry(*meta.lstrip(":").split()[:4])
            for meta, name in zip(fields[::2], fields[1::2], strict=True)
        }

    async def _names(self, top: Path, base: Base, *words: str) -> Sequence[str]:
        """The NUL-terminated fields that Git prints, as file system names."""
        printed = await git_bytes(top, *words, env=_env(top, base), most=LISTED)
        if len(printed) == LISTED:
            raise ToolError(f"There are too many files in {paths.shown(top)}.")
        return [os.fsdecode(field) for field in printed.split(b"\0") if field]


def _env(top: Path, base: Base, index: Path | None = None) -> Mapping[str, str]:
    env = {"GIT_INDEX_FILE": str(index)} if index is not None else {}
    if base.apart == "copy":
        env |= {"GIT_DIR": str(base.store), "GIT_WORK_TREE": str(top)}
    return env


def _counted(line: str) -> FileChange:
    """A line of `--numstat`, which has dashes for binary files."""
    added, removed, name = line.split("\t", 2)
    return FileChange(
        name,
        int(added) if added.isdecimal() else None,
        int(removed) if removed.isdecimal() else None,
    )


def _check_size(top: Path, names: Sequence[str]) -> None:
    """Blocking. Raises `ToolError`."""
    size = 0
    for name in names:
        try:
            size += (top / name).lstat().st_size
        except OSError:
            continue
    if len(names) > MOST_FILES or size > MOST_BYTES:
        raise ToolError(
            f"{one_line(paths.shown(top))} has {len(names):,} files with {size / 1e6:,.0f} MB that "
            f"would be copied for each agent; at most {MOST_FILES:,} files with "
            f"{MOST_BYTES / 1e6:,.0f} MB are. What .gitignore names is not copied."
        )
