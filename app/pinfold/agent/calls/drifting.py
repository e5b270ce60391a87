"""Edits of files that neither the task nor the plan names, after the window was replaced."""

import posixpath
from collections.abc import Sequence
from pathlib import Path

from pinfold.agent.record import Record
from pinfold.agent.updates import Appended, Update
from pinfold.checkpoint.reduce import is_request
from pinfold.ports.tool import Review
from pinfold.rollout.events import ApprovalDecided, ItemAdded, WindowReplaced
from pinfold.settings import Drift, Mode
from pinfold.tools import workspace


class Drifting:
    """Watches for such edits from a new window, or a resumed session, to the user's next
    request."""

    def __init__(self, record: Record, cwd: Path, when: Drift, *, attended: bool) -> None:
        self._record = record
        self._cwd = cwd
        self._when = when
        self._attended = attended
        self._watches = record.state.turn > 0
        self._is_agent = record.journal.started.parent is not None
        record.subscribe(self._hear)

    def _hear(self, update: Update) -> None:
        match update:
            case Appended(event=event) if isinstance(event.data, WindowReplaced):
                self._watches = True
            case Appended(event=event) if isinstance(event.data, ItemAdded):
                item = event.data.item
                # An agent is asked by the session that started it, in a prompt that nobody typed.
                asked = item.kind == "user" if self._is_agent else is_request(item)
                self._watches = self._watches and not asked

    async def of(self, review: Review) -> tuple[str, ...]:
        """The files of an edit that nothing names, if that matters now. Raises `JournalError`."""
        matters = self._when == "always" or (self._when == "after-compaction" and self._watches)
        if review.access not in ("write", "foreign") or not matters:
            return ()
        uris = [workspace.uri(path, self._cwd) for path in review.paths]
        free = [uri for uri in uris if not self._is_pinned(uri)]
        if not free:
            return ()
        return tuple(await self._record.learn(lambda known: known.unnamed(free)))

    def _is_pinned(self, uri: str) -> bool:
        window = self._record.window
        if window.pins.over((), [uri]) is not None:
            return True
        return any(uri in window.archive.files(n) for n in window.pins if isinstance(n, int))

    def why(self, uris: tuple[str, ...]) -> str:
        """Why an edit of these files asks; empty if it does not."""
        return _reason(uris) if uris and self._attended else ""

    def folders(self, uris: tuple[str, ...], mode: Mode) -> tuple[str, ...]:
        """What "always" may allow: nothing where each edit asks anyway."""
        found = dict.fromkeys(posixpath.dirname(uri) for uri in uris)
        return tuple(found) if mode == "workspace" else ()

    async def tell(self, call_id: str, uris: tuple[str, ...]) -> None:
        """Tell of an edit that runs without asking. Raises `JournalError`."""
        said = _reason(uris)
        self._record.warn(f"{said[0].upper()}{said[1:]}.")
        await self._record.append(ApprovalDecided(call_id=call_id, verdict="policy", asked=said))


def _reason(uris: Sequence[str]) -> str:
    more = f" and {len(uris) - 1} more" if len(uris) > 1 else ""
    return f"edits {uris[0]}{more}, which neither the task, the plan nor anything read since names"
