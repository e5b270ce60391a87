"""Any window, any pins, any options: a plan that holds, or a plain reason why there is none."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.compactions import Live
from fakes.histories import histories
from pinfold.compaction.engine import event_of, plan_with, validate
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.refusals import Impossible, NoGain
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategies.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.events import Data
from pinfold.wire.atoms import atoms

OPTIONS = PlanOptions()
numbers = st.frozensets(st.integers(1, 40), max_size=3)
options = st.builds(
    PlanOptions,
    target_pct=st.sampled_from([0.05, 0.35, 1.0]),
    min_headroom_tokens=st.sampled_from([0, 100, 2_048, 50_000]),
    max_tail_messages=st.integers(0, 20),
    keep_files_glob=st.sampled_from([(), ("**",), ("src/**", "*.md")]),
    user_message_tokens=st.sampled_from([0, 10, 20_000]),
    keep=numbers,
    fold=numbers,
    text=st.sampled_from([None, None, "", "what the user made of it"]),
)
names = st.sampled_from(sorted(house()))
sizes = st.sampled_from([60, 120, 300, 1_000, 4_096, 8_192])


def planned(
    view: WindowView, name: str = "checkpoint", options: PlanOptions = OPTIONS
) -> CompactionPlan:
    return plan_with(name, view, Material(), options, strategies=house())


def apply(live: Live, plan: CompactionPlan, reason: str = "manual") -> int:
    """Apply a plan; the seq of its event."""
    event = event_of(plan, live.next_n, live.window.generation + 1, reason)
    return live.add(event).seq


def answered(live: Live) -> None:
    """The request can be written for a wire: no pair of it is broken."""
    waiting = {call.n for call in live.window.open_calls}
    atoms(item for item in live.window.items if item.n not in waiting)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), options, names, sizes)
def test_a_plan_holds_whatever_the_window(
    data: list[Data], options: PlanOptions, name: str, size: int
) -> None:
    live = Live(data)
    view = live.view(size, size // 4)
    try:
        plan = planned(view, name, options)
    except (Impossible, NoGain):
        return
    validate(view, plan)
    pinned = [entry.item.n for entry in view.entries if entry.pin is not None]
    request = view.latest_request
    apply(live, plan)
    answered(live)
    after = live.view(size, size // 4)
    assert sum(entry.tokens for entry in after.entries) == sum(live.gauge.tokens)
    assert after.corrected(after.tokens) == plan.sizes.after < plan.sizes.before
    assert plan.sizes.headroom >= 0
    assert set(pinned) <= set(live.window.forms)
    if request is not None:
        kept = {n for n in live.window.forms}
        assert request.item.n in kept or request.full > size / 4
