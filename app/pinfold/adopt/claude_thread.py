"""A Claude Code conversation as it is replayed: chain and builder, kept in step.

The lines are replayed in the order of the file: where one hangs on anything but the tip of the
chain, the user went back, and what came after that point leaves the window (`reason="rewind"`).
Side chains (sub-agents) are kept in the same way: added where they ran, then out of the window.
"""

from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from pinfold.adopt.builder import Builder
from pinfold.adopt.claude_chain import Chain, ChainNode
from pinfold.adopt.claude_queue import Queue
from pinfold.adopt.claude_records import Record, figures, flag, preserved
from pinfold.adopt.claude_words import detail_of
from pinfold.adopt.lines import object_of, text_of
from pinfold.rollout.items import Item, Origin


class Thread:
    """Takes records in the order of the file."""

    def __init__(self, file: Path) -> None:
        self.builder = Builder("claude", str(file))
        self.chain = Chain()
        self.queue = Queue()
        self.at = datetime.fromtimestamp(0, UTC)
        """The time of this record."""
        self.cwd = ""
        """The first working directory."""
        self.waiting: set[str] = set()
        """Calls outside side chains that no result has answered."""
        self.parents: dict[str, str] = {}
        self._boundaries: dict[str, Record] = {}
        """Compactions without a summary so far."""
        self._astray = False
        """Whether the builder's window has items that do not belong there."""

    def node(
        self, record: Record, after: ChainNode | None = None, *, settle: bool = False
    ) -> ChainNode | None:
        """Make a new tip for the record; None in a side chain, which has no place in the chain.

        It follows `after`, else the record's parent. `settle` says that open calls get no more
        results, so that a side chain between can leave the window.
        """
        if flag(record, "isSidechain"):
            return None
        self._take_queued()
        parent = after.host if after else self.chain.parent(text_of(record, "parentUuid"))
        went_back = parent is not self.chain.tip
        node = ChainNode(parent)
        self.chain.move(node)
        self.chain.link(text_of(record, "uuid"), node)
        if went_back or (self._astray and (settle or not self.waiting)):
            self._settle()
        return node

    def follow(self, record: Record) -> None:
        """Skip a record that no model sees, but that others follow."""
        parent = self.chain.parent(text_of(record, "parentUuid"))
        self.chain.link(text_of(record, "uuid"), parent)

    def add(self, record: Record, node: ChainNode | None, item: Item) -> int:
        """Add an item to `node`, and return its number."""
        aside = {"aside": True} if flag(record, "isSidechain") else {}
        origin = Origin(foreign_id=text_of(record, "uuid") or None)
        n = self.builder.item(
            self.at, replace(item, origin=origin, detail={**item.detail, **aside})
        )
        shown = node is not None and self.chain.add(node, n)
        self._astray = self._astray or not shown
        return n

    def boundary(self, record: Record) -> None:
        """Begin a compaction; its summary comes next."""
        uuid = text_of(record, "uuid")
        before = self.chain.find(text_of(record, "logicalParentUuid"))
        self.chain.link(uuid, before or self.chain.tip)
        self._boundaries[uuid] = record

    def compact(self, record: Record, summary: str) -> None:
        """Replace the window by the summary and the messages that the compaction kept."""
        uuid, boundary_uuid = text_of(record, "uuid"), text_of(record, "parentUuid")
        boundary = self._boundaries.pop(boundary_uuid, {})
        metadata = object_of(boundary, "compactMetadata")
        anchor, kept_uuids = preserved(metadata, self.parents)
        node = ChainNode(self.chain.tip, opens_window=True)
        kept = self.chain.keep(kept_uuids, node)
        item = Item(n=0, kind="summary", content=summary, origin=Origin(foreign_id=uuid or None))
        kept_first = bool(anchor) and anchor == boundary_uuid
        window: list[int | Item] = [*kept, item] if kept_first else [item, *kept]
        self.builder.replace(self.at, window, strategy="claude", meta=figures(metadata))
        node.items = list(self.builder.window)
        self.chain.move(node)
        self.chain.link(uuid, node)
        if boundary:
            self.chain.link(boundary_uuid, node)
        self.waiting.clear()
        self._astray = False

    def finish(self, leaf: str) -> None:
        """Make the record `leaf` the tip if it exists, and the window what leads there."""
        self._take_queued()
        node = self.chain.find(leaf)
        if node and node is not self.chain.tip:
            self.chain.move(node)
            self._astray = True
        if self._astray:
            self._settle()
        for _ in self._boundaries:
            self.builder.skip("compaction without a summary")

    def _take_queued(self) -> None:
        for text in self.queue.take():
            detail = {"queued": True, **detail_of(text)}
            self.add({}, self.chain.tip, Item(n=0, kind="context", content=text, detail=detail))

    def _settle(self) -> None:
        """Make the builder's window what leads to the tip."""
        window = self.chain.window()
        if window != self.builder.window:
            self.builder.replace(self.at, window, reason="rewind", strategy="claude")
        self._astray = False
