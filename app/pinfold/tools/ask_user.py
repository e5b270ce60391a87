"""The `ask_user` tool."""

from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.provenance import typed_in
from pinfold.tools.arguments import Arguments, parse, schema, title_line

MAX_QUESTION = 2_000
MAX_CHOICE = 300
"""Characters."""
Choice = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CHOICE)
]


class AskArguments(Arguments):
    also: ClassVar = {"options": "choices"}

    question: str = Field(max_length=MAX_QUESTION)
    choices: list[Choice] = Field(min_length=2, max_length=5)


class AskUser(Tool):
    """Its result holds what the user chose or wrote, which are the user's words."""

    schema = schema(
        "ask_user",
        "Ask the user to decide between choices; they may also answer in their own words.",
        AskArguments,
    )
    kind: ToolKind = "question"
    read_only = True

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        return Review("read", title_line(parse(AskArguments, arguments).question))

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        asked = parse(AskArguments, arguments)
        reply = await context.ask(asked.question, asked.choices) if context.ask else None
        if reply is None:
            raise ToolError("Nobody can be asked here. Decide, and say what you assumed.")
        head = "The user chose: " if reply.text in asked.choices else "The user answered: "
        words = "\n".join(typed_in(reply.text, reply.pasted))
        detail = {"words": words, "host": [[0, len(head)]]}
        return ToolOutcome(f"{head}{reply.text}", detail=detail)
