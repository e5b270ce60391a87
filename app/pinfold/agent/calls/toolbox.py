"""The tools of a session."""

from collections.abc import Callable, Collection, Iterable, Sequence

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.context import ToolSchema
from pinfold.rollout.items import Item
from pinfold.settings import WireApi
from pinfold.wire.wires import wire_of


class Toolbox:
    def __init__(
        self,
        tools: Iterable[Tool],
        of_servers: Callable[[str], Tool | None],
        kept: Sequence[ToolSchema],
    ) -> None:
        """`of_servers` finds the tools of servers by name. With `kept`, the model is told of these,
        in that order, and calls of those that are not there are refused: a prompt cache that begins
        with them stays of use."""
        self._of_servers = of_servers
        self._kept = kept
        self._tools = {tool.schema.name: tool for tool in tools}
        if kept:
            self._tools = {
                schema.name: self._find(schema.name) or Withheld(schema) for schema in kept
            }

    def _find(self, name: str) -> Tool | None:
        return self._tools.get(name) or self._of_servers(name)

    def get(self, call: Item) -> Tool | None:
        """The tool that a call is for."""
        return self._find(call.name or "")

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
