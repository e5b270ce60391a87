"""Finds skills and commands, and reads each file again only once it has changed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from pinfold.front_matter import FrontMatter, FrontMatterError, read
from pinfold.paths import shown
from pinfold.sanitize import one_line
from pinfold.skills.extension import Extension, Extensions, Kind, State
from pinfold.skills.places import SkillPlace
from pinfold.small_files import head

FILE = "SKILL.md"
MOST = 200
"""Skills, and as many commands."""
LISTED = 100
"""Files of a skill."""
LONGEST = 64_000
"""Characters of a body."""
_SCANNED = 20_000
"""Entries of a folder that are looked at."""
_DEEP = 3
"""Folders below `commands`, and below a skill's."""
_HASHED = 1_048_576
"""Bytes of a skill's file that its hash covers; of what is larger, its size and time as well."""
_MADE = ("__pycache__", "node_modules")
_OTHER_MODELS = frozenset({"inherit", "default", "sonnet", "opus", "haiku"})
"""What Claude Code's files say for a model."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)

_Stamp = tuple[int, int, int, int]


class SkillReader:
    def __init__(self) -> None:
        self._read: dict[Path, tuple[_Stamp, FrontMatter | str]] = {}
        self._digests: dict[Path, tuple[_Stamp, str]] = {}

    def shelf(
        self, places: Sequence[SkillPlace], accepted: Callable[[], Mapping[str, str] | None]
    ) -> Extensions:
        """All that there is now; `accepted` are the hashes of projects' texts by file, or None
        where the folder is not trusted. Blocking."""
        bad_skills: list[str] = []
        bad_commands: list[str] = []
        skills = self._all(_skill_files(places, bad_skills), self._skill, bad_skills)
        commands = self._all(_command_files(places, bad_commands), self._command, bad_commands)
        found = [*_marked(skills), *_marked(commands)]
        if any(one.source == "project" for one in found):
            known = accepted()
            found = [replace(one, state=_state(one, known)) for one in found]
        unusable: dict[Kind, tuple[str, ...]] = {
            "skill": tuple(bad_skills),
            "command": tuple(bad_commands),
        }
        return Extensions(tuple(found), unusable)

    def _all(
        self,
        files: Iterable[tuple[Path, str, SkillPlace]],
        make: Callable[[Path, str, SkillPlace], Extension],
        problems: list[str],
    ) -> list[Extension]:
        found: dict[Path, Extension] = {}
        for file, name, place in files:
            if len(found) == MOST:
                problems.append(f"Only {MOST} are read: {_shown(file)} and the rest are left out.")
                break
            try:
                path = _resolved(file, place)
                if path not in found:
                    found[path] = make(path, name, place)
            except FrontMatterError as why:
                problems.append(str(why))
        return list(found.values())

    def _skill(self, path: Path, name: str, place: SkillPlace) -> Extension:
        matter = self._matter(path)
        made = _extension(matter, path, place)
        own = matter.text("name")
        notes = list(made.notes)
        if not matter.values:
            raise matter.error("it has no front matter with a name and a description")
        if not _NAME.fullmatch(own):
            notes.append(f"“{own}” is no valid name: it is called {name}, like its folder")
        if not made.description:
            notes.append("it has no description: its first line is used")
        if not (description := made.description or one_line(made.body.partition("\n")[0])):
            raise matter.error("it has no description and no text")
        beside = list(islice(_every(path.parent), _SCANNED)) if place.source == "project" else []
        return replace(
            made,
            kind="skill",
            name=own if _NAME.fullmatch(own) else name,
            description=description,
            manual=matter.flag("disable-model-invocation"),
            notes=tuple(notes),
            files=tuple(files(path.parent, LISTED)) if beside else (),
            hash=self._tree(path.parent, matter.hash, beside),
        )

    def _command(self, path: Path, name: str, place: SkillPlace) -> Extension:
        matter = self._matter(path)
        made = _extension(matter, path, place)
        if not made.body:
            raise matter.error("it has no text")
        description = made.description or one_line(made.body.partition("\n")[0])[:200]
        model = matter.text("model")
        known = model not in _OTHER_MODELS
        return replace(
            made,
            name=f"prompts:{name}" if place.source == "prompts" else name,
            description=description,
            hint=matter.text("argument-hint"),
            model=model if known else "",
            notes=made.notes if known else (*made.notes, f"no model is called {model} here"),
        )

    def _matter(self, path: Path) -> FrontMatter:
        """Raises `FrontMatterError`."""
        try:
            stamp = _stamp(path)
        except OSError as error:
            raise FrontMatterError(f"{_shown(path)} can't be read: {error.strerror}.") from error
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            found: FrontMatter | str
            try:
                found = read(path)
            except FrontMatterError as error:
                found = str(error)
            self._read[path] = known = stamp, found
        if isinstance(known[1], str):
            raise FrontMatterError(known[1])
        return known[1]

    def _tree(self, folder: Path, own: str, beside: Iterable[str]) -> str:
        """A hash of a skill's file, and of the files `beside` it."""
        digest = hashlib.sha256(own.encode())
        for name in beside:
            digest.update(f"\0{name}\0{self._digest(folder / name)}".encode("utf-8", "replace"))
        return digest.hexdigest()

    def _digest(self, path: Path) -> str:
        try:
            if path.is_symlink():
                return f"link to {path.readlink()}"
            stamp = _stamp(path)
            known = self._digests.get(path)
            if known is None or known[0] != stamp:
                found = hashlib.sha256(head(path, _HASHED)).hexdigest()
                more = str(stamp) if stamp[2] > _HASHED else ""
                self._digests[path] = known = stamp, found + more
            return known[1]
        except OSError as error:
            return error.strerror or "unreadable"


def files(folder: Path, most: int = LISTED + 1) -> list[str]:
    """The files of a skill but for its own, by their paths below it; at most so many. Links are
    named, not followed. Blocking."""
    return list(islice((name for name in _below(folder) if name != FILE), most))


def _every(folder: Path) -> Iterator[str]:
    """All files of a skill except SKILL.md and what Python and npm generate."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _MADE)
        for name in sorted(names):
            if (path := str((Path(here) / name).relative_to(folder))) != FILE:
                yield path


def _below(folder: Path, suffix: str = "", *, links: bool = False) -> Iterator[str]:
    """Files by their paths below `folder`, in order; what is hidden is left out."""
    for here, folders, names in os.walk(folder, followlinks=links):
        inner = Path(here).relative_to(folder)
        deep = len(inner.parts) >= _DEEP
        folders[:] = (
            [] if deep else sorted(f for f in folders if not f.startswith(".") and f not in _MADE)
        )
        for name in sorted(names):
            if name.endswith(suffix) and not name.startswith("."):
                yield str(inner / name)


def _skill_files(
    places: Iterable[SkillPlace], problems: list[str]
) -> Iterator[tuple[Path, str, SkillPlace]]:
    for place in places:
        if place.source == "prompts":
            continue
        folder = place.folder / "skills"
        for name in _entries(folder, problems):
            if os.path.lexists(folder / name / FILE):
                yield folder / name / FILE, name, place


def _command_files(
    places: Iterable[SkillPlace], problems: list[str]
) -> Iterator[tuple[Path, str, SkillPlace]]:
    for place in places:
        prompts = place.source == "prompts"
        folder = place.folder / ("prompts" if prompts else "commands")
        below = (
            (name for name in _entries(folder, problems) if name.endswith(".md"))
            if prompts
            else islice(_below(folder, ".md", links=place.root is None), _SCANNED)
        )
        for name in below:
            parts = Path(name.removesuffix(".md")).parts
            if all(map(_NAME.fullmatch, parts)):
                yield folder / name, ":".join(parts), place
            else:
                problems.append(
                    f"{_shown(folder / name)} is not a command: its name must be letters, digits, "
                    "-, _ and dots."
                )


def _entries(folder: Path, problems: list[str]) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, _SCANNED))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(f"{_shown(folder)} can't be read: {error.strerror}.")
        return []
    return [name for name in names if not name.startswith(".")]


def _resolved(file: Path, place: SkillPlace) -> Path:
    """Raises `FrontMatterError` where it is not there, or leads out of its project."""
    try:
        path = file.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or "its links form a loop"
        raise FrontMatterError(f"{_shown(file)} can't be read: {why}.") from error
    # Else a repository could have any file of the user's sent to the model.
    if place.root is not None and not path.is_relative_to(place.root.resolve()):
        raise FrontMatterError(f"{_shown(file)} links out of the project: it is not read.")
    return path


def _extension(matter: FrontMatter, path: Path, place: SkillPlace) -> Extension:
    """What skills and commands have in common. Raises `FrontMatterError`."""
    body = matter.body
    notes = [note.removeprefix(f"{matter.name}: ") for note in matter.notes]
    if len(body) > LONGEST:
        notes.append(f"only the first {LONGEST:,} of its {len(body):,} characters are used")
        body = f"{body[:LONGEST]}\n[cut after {LONGEST:,} of {len(body):,} characters]"
    return Extension(
        kind="command",
        name="",
        source=place.source,
        path=path,
        shown=_shown(path) if place.root is None else one_line(_below_root(path, place.root)),
        body=body,
        description=matter.text("description"),
        tools=matter.words("allowed-tools"),
        hash=matter.hash,
        notes=tuple(notes),
    )


def _below_root(path: Path, root: Path) -> str:
    return str(path.relative_to(root.resolve()))


def _marked(found: Iterable[Extension]) -> Iterator[Extension]:
    """Marks each that has the name of an earlier one."""
    first: dict[str, str] = {}
    for one in found:
        by = first.setdefault(one.name, one.shown)
        yield one if by == one.shown else replace(one, hidden_by=by)


def _state(one: Extension, accepted: Mapping[str, str] | None) -> State:
    if one.source != "project":
        return "ready"
    if accepted is None:
        return "untrusted"
    known = accepted.get(str(one.path))
    return "ready" if known == one.hash else "changed" if known else "new"


def _stamp(path: Path) -> _Stamp:
    found = path.stat()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _shown(path: Path) -> str:
    return one_line(shown(path))
