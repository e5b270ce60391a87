"""Builds an adoption from what a reader finds, by the rules of pinfold's own rollouts.

Whatever it is given, every tool call in the window has exactly one result, with the response number
and call id of the call; a result without a call becomes a `context` item.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from pinfold.adopt.adoption import Adoption
from pinfold.adopt.items import Matches, NumberedItems
from pinfold.adopt.numbering import numbered
from pinfold.adopt.pairs import OpenCalls, Whole, answering, lone_result, unknown_result
from pinfold.rollout.acts import told
from pinfold.rollout.context import Context
from pinfold.rollout.events import (
    SCHEMA,
    ArtifactObserved,
    ContextSet,
    Data,
    Event,
    ItemAdded,
    ItemsMarked,
    ModelChanged,
    RequestFinished,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    WindowReplaced,
)
from pinfold.rollout.items import WRITTEN, Form, Item, Kind, Origin
from pinfold.rollout.summaries import title_of
from pinfold.rollout.values import AdoptedFrom, PlanBase, Usage
from pinfold.tokens.catalog import look_up

_EPOCH = datetime.fromtimestamp(0, UTC)


class Builder:
    """Takes events in the order of the foreign file; `finish` numbers them."""

    def __init__(self, tool: str, file: str) -> None:
        self.window: list[int] = []
        """Numbers of the items in the window, in order."""
        self._known = NumberedItems()
        self.items = self._known.by_number
        """All items so far."""
        self.turn_open = False
        self._adopted = AdoptedFrom(tool, file)
        self._tool = tool
        self._started_at: datetime | None = None
        self._cwd = ""
        self._version = ""
        self._events: list[tuple[datetime, Data]] = []
        self._closing: dict[int, Item] = {}
        """Results for calls that never got one, by the index of the call's event."""
        self._calls = OpenCalls()
        self._at: dict[int, int] = {}
        """Index of the event that brought an open call, by its number."""
        self._turn = 0
        self._response = 0
        self._seen: dict[int, int] = {}
        """How many events each response had seen."""
        self._model: ModelChanged | None = None
        self._context_window = 0
        self._context_hash = ""
        self._generation = 0
        self._masked: set[int] = set()
        self._matches = Matches()
        self._title = ""
        self._skipped: Counter[str] = Counter()
        self._notes: list[str] = []

    def start(self, at: datetime, *, session: str = "", cwd: str = "", version: str = "") -> None:
        """Say where the session comes from. The first value of each counts."""
        self._started_at = self._started_at or at
        self._adopted = replace(self._adopted, session=self._adopted.session or session)
        self._cwd = self._cwd or cwd
        self._version = self._version or version

    def model(self, at: datetime, provider: str, model: str, context_window: int = 0) -> None:
        """Say which model answers from now on; a `context_window` of 0 is unknown."""
        self._context_window = context_window or self._context_window
        entry = look_up(model)
        source = "server" if context_window else "table" if entry.known else "assumed"
        changed = ModelChanged(
            provider=provider,
            model=model,
            context_window=context_window or entry.context_window,
            window_source=source,
            reason="adopted",
        )
        if changed != self._model:
            self._model = changed
            self._add(at, changed)

    def context(self, at: datetime, context: Context) -> None:
        """Say what stands before the window from now on."""
        digest = hashlib.sha256(msgspec.json.encode(context)).hexdigest()[:16]
        if digest != self._context_hash:
            self._context_hash = digest
            self._add(at, ContextSet(hash=digest, context=context))

    def turn(self, at: datetime) -> None:
        """Begin a turn; one that is open ends."""
        self.end_turn(at)
        self._turn += 1
        self.turn_open = True
        self._add(at, TurnStarted(turn=self._turn))

    def end_turn(
        self,
        at: datetime,
        state: Literal["done", "waiting", "interrupted", "failed"] = "done",
        reason: str = "",
    ) -> None:
        """End the turn, if one is open."""
        if self.turn_open:
            self.turn_open = False
            self._add(at, TurnFinished(turn=self._turn, state=state, reason=reason))

    def response(self) -> int:
        """Begin a response, and return its number."""
        self._response += 1
        self._seen[self._response] = len(self._events)
        return self._response

    def item(self, at: datetime, new: Item) -> int:
        """Add an item, and return its number. A result takes the response of its call.

        Of `new.origin` only the foreign id counts.
        """
        n = self._known.next_number()
        item = replace(
            new,
            n=n,
            turn=self._turn if self.turn_open else 0,
            call_id=new.call_id or None,
            origin=self._origin(new),
        )
        self._matches.add(item)
        if item.kind == "tool_result":
            call = self._calls.answer(item.call_id)
            if call is None:
                item = lone_result(item)
            else:
                self._at.pop(call.n, None)
                item = replace(answering(item, call), n=n)
        elif item.kind in WRITTEN:
            item = replace(item, response=item.response or self._response or self.response())
            if item.kind == "tool_call":
                item = self._calls.open(item)
                self._at[n] = len(self._events)
        if item.kind == "user" and not self._title:
            self._title = title_of(told(item))
        self._known.keep(item)
        self.window.append(n)
        self._add(at, ItemAdded(item=item))
        return n

    def waiting_call(self) -> str | None:
        """The id of the call that has waited longest for its result."""
        return self._calls.oldest()

    def observe(
        self,
        at: datetime,
        uri: str,
        kind: Literal["file", "command", "tool_output"],
        op: Literal["read", "create", "update", "delete", "run", "list"],
        item: int,
    ) -> None:
        """Say that `item` touched an artifact. Its hash is not known."""
        self._add(at, ArtifactObserved(uri=uri, kind=kind, op=op, item=item))

    def usage(self, at: datetime, usage: Usage, *, response: int, status: str = "ok") -> None:
        """Say what the provider counted for the request that `response` answered."""
        self._add(
            at,
            RequestFinished(
                purpose="turn",
                provider=self._model.provider if self._model else "",
                model=self._model.model if self._model else "",
                response=response,
                through_seq=self._seen.get(response, len(self._events)),
                estimate=0,
                status=status,
                usage=usage,
            ),
        )

    def match(
        self, kind: Kind, content: str, call_id: str | None = None, name: str | None = None
    ) -> int | None:
        """The newest item that is the same, each once until the next `replace`; None if there is
        none.

        To match a whole window, start with its last entry.
        """
        return self._matches.find(kind, content, call_id or None, name)

    def replace(
        self,
        at: datetime,
        window: Sequence[int | Item],
        *,
        reason: str = "adopted",
        strategy: str = "",
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Replace the window: numbers of items that exist, and new items (their `n` is 0)."""
        self._close_calls()
        before = len(self._events)
        entries = Whole(self._calls.distinct, self._known.result_of).window(
            self._known.entries(window, self.response)
        )
        inserted: list[Item] = []
        self.window = []
        for entry in entries:
            item = entry
            if item.n == 0:
                turn = self._turn if self.turn_open else 0
                item = replace(entry, n=self._known.next_number(), turn=entry.turn or turn)
                self._matches.add(item)
                self._known.keep(item)
                inserted.append(item)
            self.window.append(item.n)
        self._add(
            at,
            WindowReplaced(
                generation=self._generation + 1,
                base=PlanBase(self._generation, before),
                reason=reason,
                strategy=strategy,
                window=tuple((n, self._form(n)) for n in self.window),
                inserted=tuple(inserted),
                meta=meta or {},
            ),
        )
        self._generation += 1
        self._matches.clear()

    def mask(self, at: datetime, numbers: Iterable[int]) -> None:
        """Mask results in the window; others stay whole."""
        masked = [n for n in numbers if n in self.window]
        if masked:
            self._masked.update(masked)
            marks: tuple[tuple[int, Form], ...] = tuple((n, "masked") for n in masked)
            self._add(at, ItemsMarked(items=marks, adopted=True))

    def skip(self, what: str) -> None:
        """Count something that was not understood."""
        self._skipped[what] += 1

    def note(self, sentence: str) -> None:
        """Add a note for the user, once."""
        if sentence not in self._notes:
            self._notes.append(sentence)

    def finish(self) -> Adoption:
        """Close what is open, and number the events."""
        self._close_calls()
        at = self._events[-1][0] if self._events else self._started_at or _EPOCH
        self.end_turn(at, "interrupted", "The session ends here.")
        started_at = self._started_at or (self._events[0][0] if self._events else _EPOCH)
        return Adoption(
            tool=self._tool,
            session=self._adopted.session,
            title=self._title,
            cwd=self._cwd,
            started_at=started_at,
            model=self._model.model if self._model else "",
            context_window=self._context_window,
            events=self._numbered(started_at),
            skipped=dict(self._skipped),
            notes=tuple(self._notes),
        )

    def _add(self, at: datetime, data: Data) -> None:
        self._events.append((at, data))

    def _form(self, n: int) -> Form:
        return "masked" if n in self._masked else "full"

    def _origin(self, item: Item) -> Origin | None:
        foreign_id = item.origin.foreign_id if item.origin else None
        if self._model and item.kind in WRITTEN and item.kind != "tool_result":
            return Origin(self._model.provider, self._model.model, foreign_id)
        return Origin(foreign_id=foreign_id) if foreign_id else None

    def _close_calls(self) -> None:
        """Give each open call a result, right after the call itself."""
        results: dict[int, int] = {}
        for call in self._calls.take():
            result = replace(unknown_result(call), n=self._known.next_number())
            self._closing[self._at.pop(call.n)] = result
            self._known.keep(result)
            results[call.n] = result.n
        if results:
            pairs = ((n, results.get(n)) for n in self.window)
            self.window = [n for pair in pairs for n in pair if n is not None]

    def _numbered(self, started_at: datetime) -> tuple[Event, ...]:
        started = SessionStarted(
            schema=SCHEMA,
            id=self._adopted.session,
            cwd=self._cwd,
            version=self._version,
            adopted=self._adopted,
        )
        return numbered(Event(1, started_at, started), self._events, self._closing)
