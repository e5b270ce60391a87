"""The skills and commands of a session."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock

from msgspec import Struct

from pinfold import trust
from pinfold.skills.extension import Extension, Extensions, Kind, Source
from pinfold.skills.places import SkillPlace
from pinfold.skills.reader import SkillReader

_CALL = re.compile(r"/([A-Za-z0-9][\w.:-]*)(?:\s+(.*))?\Z", re.DOTALL | re.ASCII)
_WHOSE: Mapping[str, Source] = {"user": "user", "project": "project"}


class Invocation(Struct, frozen=True):
    """What the user typed, as a skill or a command with its arguments."""

    extension: Extension
    arguments: str


class Library:
    """`places` says where they lie, `trusted` whether the user trusts the folder; both may block.

    Only `refresh` and `accept` touch the disk: call them in a thread.
    """

    def __init__(
        self, places: Callable[[], Sequence[SkillPlace]], home: Path, trusted: Callable[[], bool]
    ) -> None:
        self._places = places
        self._home = home
        self._trusted = trusted
        self._reader = SkillReader()
        self._lock = Lock()
        self.shelf = Extensions()

    def refresh(self) -> Extensions:
        """Read again what has changed."""
        with self._lock:
            self.shelf = self._reader.shelf(self._places(), self._accepted)
        return self.shelf

    def _accepted(self) -> Mapping[str, str] | None:
        return trust.accepted(self._home) if self._trusted() else None

    def accept(self, extensions: Iterable[Extension]) -> Extensions:
        """Record that the user accepts these as they are now. Raises `OSError`."""
        with self._lock:
            trust.accept(self._home, {str(one.path): one.hash for one in extensions})
        return self.refresh()

    @property
    def waiting(self) -> tuple[Extension, ...]:
        """Those that wait for the user's approval."""
        return tuple(one for one in self.shelf.found if one.state != "ready")

    @property
    def skills(self) -> tuple[Extension, ...]:
        """Those that the model may use."""
        return tuple(
            one
            for one in self.shelf.of("skill")
            if one.state == "ready" and not one.manual and not one.hidden_by
        )

    def skill(self, name: str) -> Extension | None:
        """The first of that name, whatever its state."""
        return next((one for one in self.shelf.of("skill") if one.name == name), None)

    def parse(self, text: str, builtin: Collection[str]) -> Invocation | None:
        """What the user called by `text`: `/NAME ...`, `/skill NAME ...`; None where it is none of
        these. `builtin` are names that nothing replaces."""
        match = _CALL.match(text) if text.startswith("/") else None
        if match is None:
            return None
        name, arguments = match[1], (match[2] or "").strip()
        if name == "skill":
            name, _, arguments = arguments.partition(" ")
            found = self._find(name, ("skill",))
        elif name in builtin:
            return None
        else:
            found = self._find(name, ("command", "skill"))
        return Invocation(found, arguments.strip()) if found is not None else None

    def _find(self, name: str, kinds: Sequence[Kind]) -> Extension | None:
        whose, _, rest = name.partition(":")
        source = _WHOSE.get(whose) if rest else None
        for kind in kinds:
            for one in self.shelf.of(kind):
                if source is not None and (one.name, one.source) == (rest, source):
                    return one
                if source is None and one.name == name:
                    return one
        return None

    def names(self, builtin: Collection[str]) -> dict[str, Extension]:
        """All that can be typed behind `/`: where the plain name is taken, `project:NAME`."""
        found: dict[str, Extension] = {}
        for one in (*self.shelf.of("command"), *self.shelf.of("skill")):
            taken = one.name in builtin or one.name in found
            found.setdefault(f"{one.source}:{one.name}" if taken else one.name, one)
        return found


def count_text(found: Collection[Extension]) -> str:
    """`2 skills and 1 command`."""
    skills = sum(one.kind == "skill" for one in found)
    parts = [(skills, "skill"), (len(found) - skills, "command")]
    return " and ".join(
        f"{number} {name}{'s' if number > 1 else ''}" for number, name in parts if number
    )
