"""A compaction that is ready to be applied."""

from dataclasses import dataclass, field
from functools import cached_property

from pinfold.agent.compaction.trigger import BY_HAND, CompactionTrigger
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.report import DryRunReport, report_of
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.values import Usage


@dataclass(frozen=True)
class CompactionDraft:
    """A plan that may be applied as long as the window does not change, with what it was made
    from."""

    view: WindowView
    plan: CompactionPlan
    strategy: str
    """The one that was asked for; the plan tells which one it is."""
    options: PlanOptions
    trigger: CompactionTrigger = BY_HAND
    revision: int = 0
    """The window's, when it was made."""
    material: Material = field(default_factory=Material)
    """It serves for further drafts of the same strategy: no model is asked again."""
    permitted: bool = False
    """Whether the hooks were asked: before a model was."""
    seconds: float = 0.0
    spent: Usage = field(default_factory=Usage)
    """Tokens that a model used for it."""
    cost: float | None = None
    """US dollars of these, where the prices are known."""

    @cached_property
    def report(self) -> DryRunReport:
        """The dry run; a turn that waits for its compaction does without."""
        return report_of(self.view, self.plan)
