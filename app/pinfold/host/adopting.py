"""Finds and adopts sessions of other tools."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from pinfold import __version__, paths
from pinfold.adopt import detect, foreign_list
from pinfold.adopt.adoption import Adoption
from pinfold.adopt.foreign_list import ForeignSession, ToolFolder
from pinfold.adopt.formats.registry import BY_NAME, LISTINGS
from pinfold.adopt.own import Unconfirmed, unconfirmed
from pinfold.adopt.set_up import folding, set_up
from pinfold.agent.clock import CLOCK
from pinfold.host.app_context import AppContext
from pinfold.numbers import tokens
from pinfold.rollout import codec
from pinfold.rollout.events import (
    Event,
    ItemAdded,
    ModelChanged,
    SessionStarted,
    WindowCounted,
    WindowReplaced,
)
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal, JournalError
from pinfold.rollout.store import SessionStore
from pinfold.sanitize import one_line
from pinfold.tokens.catalog import look_up
from pinfold.tokens.counter import Counter
from pinfold.vault.shelf import SUFFIX, Shelf
from pinfold.window.placeholders import ranges

_BY_OPENING = (ModelChanged, WindowCounted)
"""Events that opening a session writes by itself."""


class Adopted(NamedTuple):
    """An adopted session."""

    folder: Path
    said: str
    """What was adopted and what was not, in a line."""


def adopt(ctx: AppContext, path: Path, index: int = 0, *, its_folder: bool = False) -> Adopted:
    """Copy the session in `path` into one of ours; if that was done and nobody continued the copy,
    return the copy.

    It works in the present folder, or with `its_folder` in the one that it names, if that exists.
    Approvals given in it do not count here; its goal, core and recorded facts only once confirmed.
    Raises `NotASession`, `JournalError`.
    """
    adoption = read(path, index)
    there = Path(adoption.cwd)
    exists = there.is_absolute() and there.is_dir()
    cwd = there.resolve() if its_folder and exists else ctx.cwd
    own, folded = unconfirmed(adoption.events), set_up(adoption)
    adopted = own.events
    if folded:
        adopted = (*adopted, folding(adoption, folded))
    said = "".join(
        [
            _summary(adoption),
            _moved(cwd, adoption.cwd, exists=exists),
            _folded(adoption, folded),
            _left(own),
        ]
    )
    untouched = _untouched(ctx.store, adopted, cwd)
    if untouched is not None:
        return Adopted(untouched, f"Adopted before, and unchanged since: {said}")
    with ctx.store.adopt(adopted, cwd, __version__, CLOCK.now) as journal:
        return Adopted(journal.folder, f"Adopted from {said}")


def read(path: Path, index: int = 0) -> Adoption:
    """The session in a file. Raises `NotASession`, `JournalError`."""
    try:
        return detect.read(path, index)
    except OSError as error:
        raise JournalError(f"{path} can't be read: {error.strerror or error}.") from error


def _untouched(store: SessionStore, adopted: Sequence[Event], cwd: Path) -> Path | None:
    """The session in `cwd` that holds exactly these events."""
    (first, *rest) = adopted
    assert isinstance(first.data, SessionStarted)
    assert first.data.adopted is not None
    source = replace(first.data.adopted, through=adopted[-1].seq)
    for folder in store.folders():
        with (
            suppress(JournalError, OSError),
            Journal.open(folder, CLOCK.now, read_only=True) as journal,
        ):
            if (journal.started.adopted, journal.started.cwd) != (source, str(cwd)):
                continue
            lines = islice(journal.whole_lines(), 1, None)
            same = all(next(lines, b"") == codec.written(event)[1] for event in rest)
            if same and all(_by_opening(line) for line in lines):
                return folder
    return None


def _by_opening(line: bytes) -> bool:
    try:
        return isinstance(codec.decode(line).data, _BY_OPENING)
    except ValueError:
        return False


def _summary(adoption: Adoption) -> str:
    items = sum(isinstance(event.data, ItemAdded) for event in adoption.events)
    windows = sum(isinstance(event.data, WindowReplaced) for event in adoption.events)
    tool = BY_NAME[adoption.tool].title
    said = [f"{tool}: “{one_line(adoption.title) or 'no title'}”, {items:,} items"]
    if windows:
        said.append(f", {windows + 1} windows")
    said.append(".")
    if adoption.skipped:
        skipped = ", ".join(f"{one_line(name)} ×{n}" for name, n in adoption.skipped.items())
        said.append(f" Not understood: {skipped}.")
    said += [f" {one_line(note)}" for note in adoption.notes]
    return "".join(said)


def _moved(cwd: Path, named: str, *, exists: bool) -> str:
    """A sentence on the folder, if it is not the one that the session names."""
    here = one_line(paths.shown(cwd))
    if exists and Path(named).resolve() != cwd:
        there = one_line(paths.shown(Path(named)))
        return (
            f" It worked in {there}; this session works in {here}. --use-its-folder continues "
            "there."
        )
    if not named or exists:
        return ""
    return f" Its folder {one_line(named)} does not exist here; working in {here}."


def _folded(adoption: Adoption, folded: Sequence[Item]) -> str:
    if not folded:
        return ""
    counter = Counter(look_up(adoption.model).encoding, paths.cache_folder())
    counter.load()
    size = tokens(sum(counter.measure(item.content) for item in folded))
    one = len(folded) == 1
    numbers = ranges([item.n for item in folded])
    tool = BY_NAME[adoption.tool].title
    return (
        f" {len(folded)} item{'' if one else 's'} of {tool}'s own instructions "
        f"{'is' if one else 'are'} folded ({size} tokens): "
        f"/unfold {numbers} brings {'it' if one else 'them'} back."
    )


def _left(own: Unconfirmed) -> str:
    said = ""
    if own.suggested:
        is_ = "is" if own.suggested == 1 else "are"
        said = f" {own.suggested} of its goal, core and records {is_} not confirmed: see /core."
    if own.waiting:
        was = "1 prompt" if own.waiting == 1 else f"{own.waiting:,} prompts"
        said += f" Left out: {was} queued there."
    return said


def adoptable(ctx: AppContext, search: str = "") -> Iterator[ForeignSession]:
    """Sessions of other tools, last used first, each as soon as it is read; with `search`, those
    whose title, folder, model or id contains all of its words."""
    words = search.lower().split()
    shelf = Shelf(ctx.home)
    kept = [ToolFolder(tool, shelf.root / tool, (f"*/*{SUFFIX}",)) for tool in LISTINGS]
    there = {
        shelf.file(entry, version)
        for entry in shelf.entries()
        for version in entry.versions
        if version.original
    }
    where = (*foreign_list.tool_folders(), *kept)
    for hit in foreign_list.sessions(where, ctx.home / "state.db"):
        if hit.file in there:  # the original is listed
            continue
        text = f"{hit.title} {hit.cwd} {hit.model} {hit.tool} {hit.session}".lower()
        if all(word in text for word in words):
            yield hit
