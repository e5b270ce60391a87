"""The files that the work is about: edited in this session, or named, read or found since the
user's last request."""

import posixpath
import re
from collections.abc import Iterable, Iterator

from pinfold.checkpoint.reduce import is_request
from pinfold.rollout.events import (
    ApprovalDecided,
    ArtifactObserved,
    Event,
    ItemAdded,
    SessionStarted,
)
from pinfold.rollout.items import Item
from pinfold.rollout.provenance import typed

LONGEST = 400
"""Characters of a path that is looked for in a text."""

_CHUNK = re.compile(r"[^\s\"'`“”‘’«»:,;()<>|=*\[\]{}]+")
_DIFFS = ("a/", "b/")
"""What git puts before the paths of a diff."""
_NAMELESS = frozenset({"edit", "refused"})
"""Acts whose results name files only because a call tried to edit them."""
_TEST = re.compile(r"^tests?[_-]|[_.-](?:tests?|spec)$|(?<=[a-z0-9])(?:Tests?|Spec)$")


class Named:
    """A projection. Paths are as the journal has them: relative to the working directory."""

    def __init__(self) -> None:
        self._root = "/"
        self._edited: set[str] = set()
        """In the whole session: later requests speak of that work without a name."""
        self._allowed: set[str] = set()
        """Folders in which the user always allows edits."""
        self._search: int | None = None
        """The last item that listed a folder."""
        self._begin()

    def _begin(self) -> None:
        self.seen: set[str] = set()
        """Files that were read or edited since the last request."""
        self._found: set[str] = set()
        """Paths in results, and in what the user did not type."""
        self._said: set[str] = set()
        """Possible names in what the user typed."""

    def step(self, event: Event) -> None:
        match event.data:
            case SessionStarted(cwd=cwd):
                self._root = cwd.rstrip("/") + "/"
            case ItemAdded(item=item):
                self._add(item)
            case ArtifactObserved(kind="file", op="list", item=n):
                self._search = n
            case ArtifactObserved(kind="file", op="read", item=n, uri=uri) if n is not None:
                (self._found if n == self._search else self.seen).add(uri)
            case ArtifactObserved(kind="file", uri=uri, item=n) if n is not None:
                self.seen.add(uri)
                self._edited.add(uri)
            case ApprovalDecided(verdict="always", folders=folders):
                self._allowed.update(folders)

    def others(self, uris: Iterable[str], texts: Iterable[str]) -> list[str]:
        """The files that neither this session nor any of the texts names."""
        said = self._said.union(*(self._names(text) for text in texts))
        folders = {posixpath.dirname(uri) for uri in self.seen} | self._allowed
        stems = {_stem(path) for path in self.seen | self._edited | said}
        return [
            uri
            for uri in uris
            if uri not in self.seen
            and uri not in self._edited
            and posixpath.dirname(uri) not in folders
            and self._found.isdisjoint(_ends(uri))
            and not any(_is_name_of(name, uri) for name in said)
            and not _is_test_of(uri, stems)
        ]

    def _add(self, item: Item) -> None:
        if is_request(item):
            self._begin()
        if item.detail.get("act") in _NAMELESS:
            return
        for text in typed(item):
            self._said.update(self._names(text))
        if item.kind in ("user", "tool_result"):
            for text in (item.content, str(item.detail.get("command") or "")):
                for name in self._names(text):
                    if "/" in name or "." in name:
                        self._found.add(name)

    def _names(self, text: str) -> Iterator[str]:
        for chunk in _CHUNK.findall(text):
            if len(chunk) > LONGEST:
                continue
            name = chunk.rstrip(".!?…").lstrip("@").removeprefix("./").removeprefix(self._root)
            if name.strip("/"):
                yield name
                if name.startswith(_DIFFS):
                    yield name[2:]


def _ends(uri: str) -> Iterator[str]:
    """The path and its ends of two parts or more: a command may have run in another folder."""
    yield uri
    parts = uri.split("/")
    for at in range(1, len(parts) - 1):
        yield "/".join(parts[at:])


def _is_name_of(name: str, uri: str) -> bool:
    """Whether it is the file's name, the end of its path, or a folder that it is in."""
    path = f"/{uri}"
    return path.endswith(f"/{name}") or ("/" in name and f"/{name.strip('/')}/" in path)


def _stem(path: str) -> tuple[str, bool]:
    """A file's name without its ending and the mark of a test, and whether it had that mark."""
    name = posixpath.basename(path)
    stem = name.rpartition(".")[0] or name
    bare = _TEST.sub("", stem)
    return bare.casefold(), bare != stem


def _is_test_of(uri: str, stems: set[tuple[str, bool]]) -> bool:
    bare, test = _stem(uri)
    return (bare, not test) in stems
