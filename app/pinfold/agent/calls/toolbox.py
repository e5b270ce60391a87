"""The tools of a session."""

from collections.abc import Callable, Collection, Iterable, Sequence

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
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
        self._kept: Sequence[ToolSchema] = ()
        self.change(others)

    def change(self, others: Iterable[Tool]) -> None:
        tools = {tool.schema.name: tool for tool in (*self._own, *others)}
        if self._kept:
            tools = {
                one.name: tools.get(one.name) or self._more(one.name) or Withheld(one)
                for one in self._kept
            }
        self._tools = tools

    def keep(self, schemas: Sequence[ToolSchema]) -> None:
        """Have the model told of these, in that order, and refuse calls of those that are not
        there: a prompt cache that begins with them stays of use."""
        self._kept = schemas
        self.change(self._tools.values())

    def get(self, call: Item) -> Tool | None:
        """The tool that a call is for."""
        name = call.name or ""
        return self._tools.get(name) or self._more(name)

    @property
    def names(self) -> Collection[str]:
        return [name for name, tool in self._tools.items() if tool.offered]

    def schemas(self, wire_api: WireApi) -> list[ToolSchema]:
        """What a model is told of them, in that order."""
        hosts = wire_of(wire_api).hosts_tools
        offered = [tool.schema for tool in self._tools.values() if tool.offered]
        told = self._kept or offered
        return [schema for schema in told if not schema.hosted or hosts]


class Withheld(Tool):
    """A tool whose schema is sent but which the model may not call."""

    kind = "foreign"

    def __init__(self, schema: ToolSchema) -> None:
        self.schema = schema

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        raise ToolError(f"{self.schema.name} is not available to you: continue without it.")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        self.review(arguments, context)
        raise AssertionError
