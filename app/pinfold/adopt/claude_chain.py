"""Which items are in the window: those on the way from the leaf back to the root.

Lines of one response, and the results of its calls, hang on each other in many ways (parallel
calls fork the chain), so a node is a whole response with its results, or one message.
"""

from collections.abc import Iterable, Iterator


class ChainNode:
    """A step of the conversation."""

    __slots__ = ("host", "items", "opens_window", "parent")

    def __init__(self, parent: "ChainNode | None", *, opens_window: bool = False) -> None:
        self.parent = parent
        self.items: list[int] = []
        self.opens_window = opens_window
        """Whether it is a compaction's: the window begins here."""
        self.host = self
        """The compaction that kept this node's items, else the node itself."""


class Chain:
    """The nodes of a file, by record."""

    def __init__(self) -> None:
        self._root = ChainNode(None)
        self._nodes: dict[str, ChainNode] = {}
        self._path = {self._root}
        self.tip = self._root
        """The end of the conversation."""

    def find(self, uuid: str) -> ChainNode | None:
        """The node of a record; None if the record is missing."""
        node = self._nodes.get(uuid)
        return node.host if node else None

    def parent(self, uuid: str) -> ChainNode:
        """The node of a parent: the root if `uuid` is empty, the tip if it is missing."""
        return (self.find(uuid) or self.tip) if uuid else self._root

    def link(self, uuid: str, node: ChainNode) -> None:
        """Make `node` the node of the record `uuid`."""
        if uuid:
            self._nodes[uuid] = node

    def move(self, node: ChainNode) -> None:
        """Make `node` the tip."""
        if node.parent is self.tip and not node.opens_window:
            self._path.add(node)
        else:
            self._path = set(_way_back(node))
        self.tip = node

    def add(self, node: ChainNode, n: int) -> bool:
        """Give item `n` to `node`; returns whether the item is in the window."""
        node.items.append(n)
        if node.host is not node:
            node.host.items.append(n)
        return node.host in self._path

    def keep(self, uuids: Iterable[str], host: ChainNode) -> list[int]:
        """Let the compaction `host` keep the nodes of these records; returns their items."""
        nodes = dict.fromkeys(self._nodes[uuid] for uuid in uuids if uuid in self._nodes)
        for node in nodes:
            if node is not self._root:
                node.host = host
        return list(dict.fromkeys(n for node in nodes for n in node.items))

    def window(self) -> list[int]:
        """The numbers of the items on the way to the tip, in order."""
        way = reversed(list(_way_back(self.tip)))
        return list(dict.fromkeys(n for node in way for n in node.items))


def _way_back(tip: ChainNode) -> Iterator[ChainNode]:
    node: ChainNode | None = tip
    while node:
        yield node
        node = None if node.opens_window else node.parent
