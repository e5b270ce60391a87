"""The `update_plan` tool."""

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from pinfold.ports.tool import Review, Tool, ToolContext, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools.arguments import Arguments, parse, schema

MAX_STEPS = 32
MAX_CHARS = 1_000


class WrittenStep(Arguments):
    also: ClassVar = {"step": "text", "content": "text", "activeForm": ""}

    text: str = Field(max_length=MAX_CHARS)
    status: Literal["pending", "in_progress", "done"]

    @field_validator("status", mode="before")
    @classmethod
    def _in_our_words(cls, status: object) -> object:
        return "done" if status == "completed" else status

    @field_validator("text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("it is empty")
        return text.strip()


class PlanArguments(Arguments):
    also: ClassVar = {"plan": "steps", "todos": "steps", "explanation": ""}

    steps: list[WrittenStep] = Field(max_length=MAX_STEPS, description="all steps, in order")


class UpdatePlan(Tool):
    """Its result holds the plan; the checkpoint takes the newest one."""

    schema = schema(
        "update_plan",
        "Record the plan for work of several steps. It replaces the previous plan and survives "
        "compaction.",
        PlanArguments,
    )
    kind: ToolKind = "plan"
    read_only = True

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        return Review("read", _counted(parse(PlanArguments, arguments).steps))

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:  # noqa: ARG002
        steps = parse(PlanArguments, arguments).steps
        message = f"Plan recorded: {_counted(steps)}." if steps else "Plan cleared."
        return ToolOutcome(message, detail={"plan": [step.model_dump() for step in steps]})


def _counted(steps: list[WrittenStep]) -> str:
    done = sum(step.status == "done" for step in steps)
    return f"{done} of {len(steps)} steps done"
