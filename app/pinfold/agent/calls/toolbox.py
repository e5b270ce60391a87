"""The tools of a session."""

from collections.abc import Callable, Collection, Iterable, Sequence

from pinfold.ports.tool import Tool
from pinfold.rollout.context import ToolSchema
from pinfold.rollout.items import Item
from pinfold.settings import WireApi
from pinfold.wire.wires import wire_of


class Toolbox:
    """`own` are the session's; what is beside them may change between turns."""

    def __init__(
        self,
        own: Sequence[Tool],
        others: Iterable[Tool],
        more: Callable[[str], Tool | None] = lambda _: None,
    ) -> None:
        """`more` finds tools of servers by name."""
        self._own = own
        self._more = more
        self.change(others)

    def change(self, others: Iterable[Tool]) -> None:
        self._tools = {tool.schema.name: tool for tool in (*self._own, *others)}

    def get(self, call: Item) -> Tool | None:
        """The tool that a call is for."""
        name = call.name or ""
        return self._tools.get(name) or self._more(name)

    @property
    def names(self) -> Collection[str]:
        return self._tools

    def schemas(self, wire_api: WireApi) -> list[ToolSchema]:
        """What a model is told of them, in that order."""
        hosts = wire_of(wire_api).hosts_tools
        told = (tool.schema for tool in self._tools.values())
        return [schema for schema in told if not schema.hosted or hosts]
