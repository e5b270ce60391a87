"""What other tools do, as strategies to compare with ours, at the same budget."""

from dataclasses import replace

from pinfold.compaction import handoff_text
from pinfold.compaction.atoms import atoms
from pinfold.compaction.budget import room
from pinfold.compaction.content import ends_of
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.plan_builder import PlanBuilder
from pinfold.compaction.rendering import tokens_as
from pinfold.compaction.replacement import Front, replace_history
from pinfold.compaction.strategies.handoff import Handoff
from pinfold.compaction.strategy import Material, ModelFree, Strategy
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.summarizer import Summarizer
from pinfold.rollout.items import Item
from pinfold.window.refused import Refused

CODEX_MESSAGES = 20_000
"""Tokens of the user's messages that Codex keeps, if the budget allows."""
LEAST_CUT = 64
"""With less room than these tokens, a message is left out instead of cut."""
RECENT = 10
"""The newest items, whose results `masking` keeps."""
ASKED = """\
Write a summary with which another model takes over this task. Cover the progress so far and the
decisions that were made; context, constraints and preferences of the user that matter; what is left
to be done, as clear next steps; and data, examples or references that are needed to go on. Be
concise and structured."""
PREFIX = """\
Another model worked on this task before and wrote the summary below. The tools are as it left them.
Build on what is done, and don't do it twice."""


class Tail(ModelFree):
    """Keeps the newest responses and messages."""

    name = "tail"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:  # noqa: ARG002
        builder = PlanBuilder(view)
        _keep_newest(builder, room(view, options).target)
        return builder.build(self.name)


class Masking(ModelFree):
    """Masks old results; if that is not enough, drops the oldest items."""

    name = "masking"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:  # noqa: ARG002
        builder = PlanBuilder(view)
        recent = {entry.n for entry in view.entries[-RECENT:]}
        cost = {entry.n: entry.tokens for entry in view.entries}
        for entry in view.entries:
            if entry.item.kind == "tool_result" and entry.n not in recent and entry.sent:
                builder.put(entry.n, "mask", "an old result")
                cost[entry.n] = tokens_as(entry, "masked", view)
        _keep_newest(builder, room(view, options).target, cost)
        return builder.build(self.name)


class _Summarized:
    needs_model = True

    async def prepare(
        self, view: WindowView, summarizer: Summarizer | None, options: PlanOptions
    ) -> Material:
        """Raises `Refused`, `ProviderError`."""
        asked = replace(options, prompts={**options.prompts, "handoff": ASKED})
        return await handoff_text.write(view, summarizer, asked, checked=False)


class Codex(_Summarized):
    """Codex's local compaction: the user's messages, newest first, then a model's summary.

    The summary may be as long as our handoff; Codex sets no limit.
    """

    name = "codex"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`."""
        item = _inserted(material)
        builder = PlanBuilder(view)
        left = min(CODEX_MESSAGES, room(view, options).target - view.count_item(item))
        for entry in view.entries:
            builder.put(entry.n, "replace", "the summary stands for it")
        for entry in reversed([entry for entry in view.entries if entry.item.kind == "user"]):
            if entry.tokens > left and entry is not view.latest_request:
                if left > LEAST_CUT:
                    text = ends_of(entry.item.content, entry.n, left, view.count)
                    builder.replace(entry.n, Item(n=0, kind="user", content=text), "cut")
                break
            builder.put(entry.n, "keep", "a user message")
            left -= entry.tokens
        last = next(entry for entry in reversed(view.entries) if entry is not view.latest_request)
        builder.replace(last.n, item, "the summary stands for it")
        return builder.build(self.name)


class BareHandoff(Handoff):
    """Our handoff without core and digest, to show what they add."""

    name = "bare-handoff"
    _front: Front = "nothing"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`."""
        item = handoff_text.item_of(view, material, options)
        return replace_history(view, material, options, self.name, item, self._front)


class CoreHandoff(BareHandoff):
    """Our handoff with the core but without the digest, to show what the core adds."""

    name = "core-handoff"
    _front = "core"


class SummaryTail(_Summarized):
    """A model's summary, then as many of the newest items as fit the budget."""

    name = "summary+tail"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        """Raises `Refused`."""
        builder = PlanBuilder(view)
        builder.first = _inserted(material)
        _keep_newest(builder, room(view, options).target - view.count_item(builder.first))
        return builder.build(self.name)


def baselines() -> tuple[Strategy, ...]:
    return (Tail(), Masking(), Codex(), BareHandoff(), CoreHandoff(), SummaryTail())


def _inserted(material: Material) -> Item:
    if not material.text:
        raise Refused("No summary has been written.")
    return Item(n=0, kind="summary", content=f"{PREFIX}\n\n{material.text}")


def _keep_newest(builder: PlanBuilder, budget: int, cost: dict[int, int] | None = None) -> None:
    """Drop everything older than what fits `budget`. `cost`: tokens by item, if other than their
    own."""
    request = builder.view.latest_request
    fixed = request.n if request is not None else 0
    size = 0
    full = False
    for atom in reversed(atoms(builder.view)):
        size += sum(entry.tokens if cost is None else cost[entry.n] for entry in atom)
        full = full or size > budget
        for entry in atom if full else ():
            if entry.n != fixed:
                builder.put(entry.n, "archive", "older than the tail")
