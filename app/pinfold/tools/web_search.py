"""The `web_search` tool, which the provider runs as part of its reply."""

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.context import ToolSchema


class WebSearch(Tool):
    """The provider handles its calls: only one that a model makes up gets here."""

    schema = ToolSchema("web_search", "Search the web.", {}, hosted="web_search")
    kind: ToolKind = "web"
    read_only = True

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        raise ToolError("The provider searches the web by itself: it is not a tool to call.")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        raise NotImplementedError
