"""Adopting the sessions of other tools, and listing them."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pinfold import __version__, paths
from pinfold.adopt import found
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.found import Found
from pinfold.adopt.set_up import folding, set_up
from pinfold.commands.context_text import age
from pinfold.numbers import tokens
from pinfold.rollout import events
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
from pinfold.window.placeholders import ranges
from pinfold.wiring.house import House, house
from pinfold.wiring.sessions import CLOCK, own_folder
from pinfold.wiring.sources import read

TOOLS = {
    "codex": "Codex",
    "claude": "Claude Code",
    "messages": "a list of messages",
    "pinfold": "pinfold",
}
ID_SHOWN = 13
_BY_OPENING = (ModelChanged, WindowCounted)
"""What opening a session alone writes."""


class Adopted(NamedTuple):
    """A session of ours that holds another tool's."""

    folder: Path
    said: str
    """What was adopted and what was not, on a line."""


def adopt(at: House, path: Path, index: int = 0) -> Adopted:
    """Copy the session in `path` into one of ours, or find the copy that nobody went on in.

    Raises `NotASession`, `JournalError`.
    """
    adoption = read(path, index)
    adopted, folded = adoption.events, set_up(adoption)
    if folded:
        adopted = (*adopted, folding(adoption, folded))
    said = "".join([_told(adoption), _moved(at, adoption), _folded(adoption, folded)])
    there = _untouched(at.store, adopted)
    if there is not None:
        return Adopted(there, f"Adopted before, and still as it was: {said}")
    with at.store.adopt(adopted, at.cwd, __version__, CLOCK.now) as journal:
        return Adopted(journal.folder, f"Adopted from {said}")


def _untouched(store: SessionStore, adopted: Sequence[Event]) -> Path | None:
    """The session that holds just these events."""
    (first, *rest) = adopted
    assert isinstance(first.data, SessionStarted)
    for summary in store.list():
        with (
            suppress(JournalError, OSError),
            Journal.open(summary.folder, CLOCK.now, read_only=True) as journal,
        ):
            if journal.started.adopted != first.data.adopted:
                continue
            lines = islice(journal.lines(), 1, None)
            same = all(next(lines, b"") == events.written(event)[1] for event in rest)
            if same and all(_by_opening(line) for line in lines):
                return summary.folder
    return None


def _by_opening(line: bytes) -> bool:
    try:
        return isinstance(events.decode(line).data, _BY_OPENING)
    except ValueError:
        return False


def _told(adoption: Adoption) -> str:
    items = sum(isinstance(event.data, ItemAdded) for event in adoption.events)
    windows = sum(isinstance(event.data, WindowReplaced) for event in adoption.events)
    said = [f"{TOOLS[adoption.tool]}: “{one_line(adoption.title) or 'no title'}”, {items:,} items"]
    if windows:
        said.append(f", {windows + 1} windows")
    said.append(".")
    if adoption.skipped:
        skipped = ", ".join(f"{one_line(name)} ×{n}" for name, n in adoption.skipped.items())
        said.append(f" Not understood: {skipped}.")
    said += [f" {one_line(note)}" for note in adoption.notes]
    return "".join(said)


def _moved(at: House, adoption: Adoption) -> str:
    """Where it goes on, if its own folder is not here."""
    there = Path(adoption.cwd)
    if not adoption.cwd or (there.is_absolute() and there.is_dir()):
        return ""
    here = one_line(paths.shown(at.cwd))
    return f" Its folder {one_line(adoption.cwd)} does not exist here; working in {here}."


def _folded(adoption: Adoption, folded: Sequence[Item]) -> str:
    if not folded:
        return ""
    counter = Counter(look_up(adoption.model).encoding, paths.cache_folder())
    counter.load()
    size = tokens(sum(counter.measure(item.content) for item in folded))
    one = len(folded) == 1
    numbers = ranges([item.n for item in folded])
    return (
        f" {len(folded)} item{'' if one else 's'} of Codex's own instructions "
        f"{'is' if one else 'are'} folded ({size} tokens): "
        f"/unfold {numbers} brings {'it' if one else 'them'} back."
    )


def adoptable(at: House, search: str = "") -> Iterator[Found]:
    """The sessions of other tools here, last used first, each as soon as it is read.

    With `search`, those whose title, folder, model or id holds all of its words.
    """
    words = search.lower().split()
    for each in found.found(found.places(), at.home / "state.db"):
        text = f"{each.title} {each.cwd} {each.model} {each.tool} {each.session}".lower()
        if all(word in text for word in words):
            yield each


def command(arguments: argparse.Namespace) -> int:
    """`pinfold adopt [FILE|TEXT]`."""
    at = house(arguments)
    text = " ".join(arguments.words)
    opens = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.no_open
    if len(arguments.words) == 1 and paths.is_file_name(text):
        return _adopt(at, paths.typed(text), arguments.index, opens=opens)
    if opens and not (text or arguments.json):
        return _pick(at, text)
    listed = list(adoptable(at, text))
    if arguments.json:
        _print_json(listed[: arguments.limit])
    elif text and not listed:
        raise NotASession(f"There is no file and no session of Codex or Claude Code like “{text}”.")
    elif text and len(listed) == 1:
        return _adopt(at, listed[0].file, arguments.index, opens=opens)
    elif opens:
        return _pick(at, text)
    else:
        _print(listed, arguments.limit)
    return 0


def _adopt(at: House, path: Path, index: int, *, opens: bool) -> int:
    folder, said = adopt(at, path, index)
    print(said)
    if not opens:
        print(f"Session {folder.name}. Go on with: pinfold resume {folder.name[:ID_SHOWN]}")
        return 0
    from pinfold.wiring.screen import Sessions, run

    at = own_folder(at, folder)
    host = Sessions(at)
    return run(at, partial(host.open_folder, folder), host)


def _pick(at: House, search: str) -> int:
    from pinfold.wiring.screen import Sessions, run

    host = Sessions(at)
    return run(at, host.new, host, adopting=search)


def _print_json(listed: Sequence[Found]) -> None:
    import msgspec

    for each in listed:
        told = {**msgspec.structs.asdict(each), "full": each.full}
        print(msgspec.json.encode(told, enc_hook=str).decode())


def _print(listed: Sequence[Found], limit: int) -> None:
    if not listed:
        where = " or ".join(paths.shown(place.folder) for place in found.places())
        print(f"There is no session of Codex or Claude Code in {where}.")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("session", "tool", "age", "size", "tokens", "full", "folder", "title"):
        right = heading in ("size", "tokens", "full")
        # The title alone gives way where the terminal is narrow.
        table.add_column(heading, no_wrap=heading != "title", justify="right" if right else "left")
    now = datetime.now(UTC)
    for each in listed[:limit]:
        table.add_row(
            Text(one_line(each.session[:ID_SHOWN])),
            each.tool,
            age(each.updated_at, now),
            f"{each.size / 1e6:.1f}M",
            tokens(each.used) if each.used else "",
            f"{each.full:.0%}" if each.full is not None else "",
            Text(one_line(Path(each.cwd).name)),
            Text(one_line(each.title or each.note), overflow="ellipsis", no_wrap=True),
        )
    Console().print(table)
    if len(listed) > limit:
        print(f"Left out: {len(listed) - limit} older ones; -n shows more.")
    print("Adopt one with: pinfold adopt SESSION (or a FILE)")
