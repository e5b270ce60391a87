"""The order in which bodies are masked."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pinfold.compaction.atoms import atoms
from pinfold.compaction.rendering import tokens_as
from pinfold.compaction.view import WindowEntry, WindowView
from pinfold.rollout.acts import Act, act
from pinfold.rollout.items import WRITTEN

RESPONSES = 4
"""The newest responses are spared."""
LEAST, SHARE = 150, 0.5
"""A mask must save this many tokens, and this share of the item."""


class FinishedCall(Struct, frozen=True):
    """A result, with its call."""

    did: Act
    entries: tuple[WindowEntry, ...]
    turn: int

    @property
    def failed(self) -> bool:
        return self.did.kind != "refused" and self.did.failed

    @property
    def files(self) -> frozenset[str]:
        """The files whose text it holds."""
        touches = self.entries[0].touches
        return frozenset(path for path, touch in touches.items() if touch != "found")

    @property
    def edits(self) -> bool:
        """Older journals name no act; what it touched tells."""
        return self.did.kind == "edit" or "edit" in self.entries[0].touches.values()

    @property
    def whole(self) -> bool:
        """Whether it holds all of its files."""
        return self.did.whole and (self.did.kind == "edit" or not self.edits)

    @property
    def command(self) -> str:
        """Equal for calls that ask for the same."""
        title = self.did.title
        return "" if self.edits or self.files else f"{self.did.kind} {title}"


def saved(entry: WindowEntry, view: WindowView) -> int:
    """Tokens that a mask saves; 0 where it does not pay."""
    if entry.tokens < LEAST:
        return 0
    less = entry.tokens - tokens_as(entry, "masked", view)
    return less if less >= max(LEAST, SHARE * entry.tokens) else 0


def superseded(view: WindowView) -> frozenset[int]:
    """Results with old versions of files, and those of calls that were made again."""
    return _superseded_and_spared(view)[0]


def spared(view: WindowView) -> frozenset[int]:
    """Results in use: the newest responses, the newest version of each file that the newest turn
    read or edited, unresolved errors."""
    return _superseded_and_spared(view)[1]


def _superseded_and_spared(view: WindowView) -> tuple[frozenset[int], frozenset[int]]:
    return view.once("masks", lambda: _sort_results(view))


def _sort_results(view: WindowView) -> tuple[frozenset[int], frozenset[int]]:
    old: set[int] = set()
    used = {entry.n for atom in _responses(view)[-RESPONSES:] for entry in atom}
    every = list(_done(view))
    later = _Later()
    latest = every[-1].turn if every else 0
    newest = [done for done in every if done.turn == latest] if latest else []
    in_use = {path for done in newest for path in done.files}
    for done in reversed(every):
        numbers = [entry.n for entry in done.entries]
        if later.supersedes(done):
            old.update(numbers)
        elif done.failed or not in_use.isdisjoint(done.files):
            used.update(numbers)
        later.add(done)
    return frozenset(old - used), frozenset(used)


class _Later:
    """What came after the current item; items are read backwards."""

    def __init__(self) -> None:
        self._commands: set[str] = set()
        self._edited: set[str] = set()
        """Files that an edit named, whether it went well or not."""
        self._changed: set[str] = set()
        """Those that one changed."""
        self._whole: set[str] = set()
        """Those whose whole text is in an item."""
        self._spans: dict[str, list[tuple[int, int]]] = {}

    def supersedes(self, done: FinishedCall) -> bool:
        if done.failed and done.edits:
            return not self._edited.isdisjoint(done.did.names)
        if not done.files:
            return done.command in self._commands
        return all(self._replaces(path, done) for path in done.files)

    def _replaces(self, path: str, done: FinishedCall) -> bool:
        if path in self._whole:
            return True
        if done.edits:
            return not done.whole and path in self._changed
        span, later = done.did.span, self._spans.get(path, ())
        return span is not None and any(a <= span[0] and span[1] <= b for a, b in later)

    def add(self, done: FinishedCall) -> None:
        did, files = done.did, done.files
        if command := done.command:
            self._commands.add(command)
        if done.edits:
            self._edited.update(did.names, files)
        if done.failed:
            return
        if done.edits:
            self._changed.update(files)
        if done.whole:
            self._whole.update(files)
        elif did.span is not None:
            for path in files:
                self._spans.setdefault(path, []).append(did.span)


def _responses(view: WindowView) -> Sequence[tuple[WindowEntry, ...]]:
    return [atom for atom in atoms(view) if atom[0].item.kind in WRITTEN]


def _done(view: WindowView) -> Iterator[FinishedCall]:
    """The results that are sent, oldest first."""
    for entry in view.of_kind("tool_result"):
        call = view.by_number.get(entry.partner or 0)
        did = act(None if call is None else call.item, entry.item)
        if did is not None and entry.sent and entry.item.state == "complete":
            both = (entry,) if call is None else (call, entry)
            yield FinishedCall(did, both, entry.item.turn)
