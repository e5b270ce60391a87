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
        """Whether a compaction ended here: what came before is out of the window."""
        self.host = self
        """The compaction that kept this node's items, where one did."""


class Chain:
    """The nodes of a file, by the records that they came from."""

    def __init__(self) -> None:
        self._root = ChainNode(None)
        self._nodes: dict[str, ChainNode] = {}
        self._path = {self._root}
        self.tip = self._root
        """Where the conversation stands."""

    def find(self, uuid: str) -> ChainNode | None:
        """The node that the record stands for, None where it is missing."""
        node = self._nodes.get(uuid)
        return node.host if node else None

    def parent(self, uuid: str) -> ChainNode:
        """The node that a record hangs on: the root without one, the tip where it is missing."""
        return (self.find(uuid) or self.tip) if uuid else self._root

    def link(self, uuid: str, node: ChainNode) -> None:
        """Let the record `uuid` stand for `node`."""
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
        """Give item `n` to `node`; whether it belongs in the window there."""
        node.items.append(n)
        if node.host is not node:
            node.host.items.append(n)
        return node.host in self._path

    def keep(self, uuids: Iterable[str], host: ChainNode) -> list[int]:
        """The items of whole nodes that the compaction `host` keeps."""
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
