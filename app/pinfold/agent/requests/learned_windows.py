"""Context windows that refused requests taught, kept for later sessions in one small file."""

from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pinfold import atomic_files
from pinfold.ports.provider import ModelInfo

NAME = "learned_windows.json"
MOST = 200
"""Windows that are kept, the newest."""


class ModelPlace(Struct, frozen=True):
    """A model where it is served."""

    provider: str
    base_url: str
    model: str


class LearnedWindow(Struct, frozen=True):
    place: ModelPlace
    context_window: int
    """Tokens."""
    reported: int | None = None
    """The window that the server itself reports beside it."""


def place_of(provider: str, base_url: str, model: str) -> ModelPlace:
    """The place, without what in its address could be a secret."""
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    return ModelPlace(provider, f"{parts.scheme}://{host}{parts.path.rstrip('/')}", model)


def narrowed(model: ModelInfo, window: int) -> ModelInfo:
    """The model with a window that was learned."""
    return replace(model, context_window=window, window_source="learned")


class LearnedWindows:
    """The file. Everything here blocks."""

    def __init__(self, home: Path) -> None:
        self.path = home / NAME

    def find(self, place: ModelPlace) -> LearnedWindow | None:
        return next((learned for learned in self._read() if learned.place == place), None)

    def places(self) -> frozenset[ModelPlace]:
        return frozenset(learned.place for learned in self._read())

    def keep(self, learned: LearnedWindow) -> None:
        """In the place of what is known of that model. Raises `OSError`."""
        others = [known for known in self._read() if known.place != learned.place]
        self._write((*others[1 - MOST :], learned))

    def forget(self, place: ModelPlace) -> None:
        """Raises `OSError`."""
        every = self._read()
        left = tuple(learned for learned in every if learned.place != place)
        if left != every:
            self._write(left)

    def check(self, place: ModelPlace, reported: int | None) -> LearnedWindow | None:
        """What is known of a model whose server now reports that window: another one than before,
        or than was learned, replaces what was learned. Raises `OSError`."""
        learned = self.find(place)
        if learned is None or reported in (None, learned.reported, learned.context_window):
            return learned
        self.forget(place)
        return None

    def _read(self) -> tuple[LearnedWindow, ...]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=tuple[LearnedWindow, ...])
        except (OSError, ValueError):  # it is learned again
            return ()

    def _write(self, every: tuple[LearnedWindow, ...]) -> None:
        atomic_files.make_folder(self.path.parent)
        atomic_files.write_atomic(self.path, msgspec.json.format(msgspec.json.encode(every)))
