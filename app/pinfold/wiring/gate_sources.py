"""Reads the rules of a gate and what they name: from the folder, or from a commit."""

import stat
import tomllib
from pathlib import Path, PurePosixPath

import msgspec

from pinfold import paths
from pinfold.compaction import prompts
from pinfold.evaluation.gate.rules import RulesError
from pinfold.host.prompts import FOLDER
from pinfold.settings import CompactSettings
from pinfold.settings_check import complaint
from pinfold.small_files import read_text

MAX_BYTES = 262_144
"""Of a file."""


class WorkingFiles:
    """The files in the folder of the rules. Every method raises `RulesError`."""

    def __init__(self, path: Path) -> None:
        """`path` is that of the rules."""
        self._path = path

    def file(self, name: str = "") -> str:
        """The rules, or a file that they name."""
        path = self._path.parent / name if name else self._path
        try:
            return read_text(path, MAX_BYTES)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise RulesError(f"{paths.shown(path)} can't be read: {why}") from error


class CommitFiles:
    """The files in a commit, with the project's config and prompts. Reading them runs nothing:
    neither git nor a filter. Every method raises `RulesError`."""

    def __init__(self, path: Path, ref: str) -> None:
        """`path` is that of the rules."""
        from dulwich.objectspec import parse_commit
        from dulwich.repo import Repo

        path = path.resolve()
        root = paths.repository_root(path.parent)
        if root is None:
            raise RulesError("--against needs a Git repository, and the rules are not in one.")
        self._ref = ref
        self._folder = PurePosixPath(path.parent.relative_to(root).as_posix())
        self._name = path.name
        self._repo = Repo(str(root))
        try:
            self._tree = parse_commit(self._repo, ref.encode()).tree
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise RulesError(f"There is no commit {ref} in this repository.") from error

    def file(self, name: str = "") -> str:
        """The rules, or a file that they name."""
        path = self._folder / (name or self._name)
        text = self._read(path)
        if text is None:
            raise RulesError(f"{path} does not exist at {self._ref}.")
        return text

    def compact(self) -> CompactSettings:
        """`[compact]` of the project's config."""
        name = PurePosixPath(".pinfold/config.toml")
        text = self._read(name)
        try:
            data = tomllib.loads(text or "").get("compact", {})
            return msgspec.convert(data, CompactSettings)
        except msgspec.ValidationError as error:
            why = complaint(data, CompactSettings) or error
            raise RulesError(f"{name} at {self._ref}: {why}") from error
        except (ValueError, RecursionError) as error:
            raise RulesError(f"{name} at {self._ref} is not valid TOML: {error}") from error

    def prompts(self) -> dict[str, str]:
        """The project's own prompts, by name."""
        folder = PurePosixPath(".pinfold") / FOLDER
        found = {name: self._read(folder / f"{name}{prompts.ENDING}") for name in prompts.names()}
        return {name: text.strip() for name, text in found.items() if text and text.strip()}

    def _read(self, path: PurePosixPath) -> str | None:
        from dulwich.object_store import tree_lookup_path

        try:
            mode, sha = tree_lookup_path(
                self._repo.object_store.__getitem__, self._tree, str(path).encode()
            )
            found = self._repo[sha] if stat.S_ISREG(mode) else None
        except (KeyError, ValueError, OSError):
            return None
        if found is None or found.raw_length() > MAX_BYTES:
            raise RulesError(f"{path} at {self._ref} is not a file of at most {MAX_BYTES:,} bytes.")
        try:
            return found.as_raw_string().decode()
        except UnicodeDecodeError as error:
            raise RulesError(f"{path} at {self._ref} is not text.") from error
