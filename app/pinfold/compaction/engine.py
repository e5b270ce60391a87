"""Checks plans of any strategy, and turns one into the event that applies it."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from pinfold.compaction.budget import LARGE_REQUEST, MAX_HEADROOM, least_headroom, pins_text
from pinfold.compaction.guards import MIN_GAIN
from pinfold.compaction.kept_files import files_left_out
from pinfold.compaction.next_window import OLDER
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.plan_builder import STAYS, form_of
from pinfold.compaction.refusals import BadPlan, NoGain
from pinfold.compaction.rendering import can_mask, measure, rendered
from pinfold.compaction.replacement import REPLACED
from pinfold.compaction.strategies.registry import registry, traits
from pinfold.compaction.strategies.snapshot import Snapshot
from pinfold.compaction.strategy import Material, Strategy, traits_of
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.rollout.events import WindowReplaced
from pinfold.rollout.items import Kind
from pinfold.rollout.values import Sizes
from pinfold.window.refused import Refused

LAST = "checkpoint"
"""What every strategy falls back on."""
_COMMON = frozenset({"", OLDER, REPLACED})
"""Reasons that are not journalled."""
_INSERTABLE: frozenset[Kind] = frozenset({"checkpoint", "summary", "compaction", "user"})


def plan_with(
    name: str,
    view: WindowView,
    material: Material,
    options: PlanOptions,
    *,
    strategies: Mapping[str, Strategy] | None = None,
    must_gain: bool = False,
) -> CompactionPlan:
    """The plan of that strategy, or, where it fails or saves too little, of `checkpoint`.

    With `must_gain`, a plan that saves less than `MIN_GAIN` is refused; else a note says so. Raises
    `Impossible`,
    `NoGain`, and `Refused` where there is no such strategy.
    """
    known = registry().strategies if strategies is None else strategies
    if name not in known:
        raise Refused(f"There is no strategy {name}. There are: {', '.join(sorted(known))}.")
    small: CompactionPlan | None = None
    notes: list[str] = []
    for rung in dict.fromkeys([name, LAST]):
        if material.error and rung != LAST:
            notes.append(f"{rung} failed: {material.error}")
            continue
        try:
            plan = known[rung].plan(view, material, options)
            validate(view, plan)
        except NoGain:
            notes.append(f"{rung} would not make the window smaller.")
        except (Exception, SystemExit) as error:  # a third party's may raise anything
            if rung == LAST:
                raise
            notes.append(f"{rung} failed: {str(error) or type(error).__name__}")
        else:
            if rung != LAST and plan.sizes.headroom < least_headroom(view, options):
                notes.append(f"{rung} would leave {plan.sizes.headroom:,} tokens of headroom.")
                continue
            if plan.sizes.saved >= MIN_GAIN or _removes_unreadable(view, plan):
                return _noted(view, plan, notes, known[name], options)
            small = small or plan
            notes.append(f"{rung} would save only {plan.sizes.saved:.0%} of the window.")
    if small is None or must_gain:
        notes += _pins(view)
        raise NoGain(" ".join(notes))
    return _noted(view, small, notes, known[name], options)


def _pins(view: WindowView) -> Iterator[str]:
    """What pins have to do with it, in a sentence."""
    if pinned := view.pinned:
        count = f"{len(pinned)} of its {len(view.entries)} items are pinned"
        used = sum(entry.tokens for entry in pinned)
        yield f"{count} and stay, with {used:,} of {view.tokens:,} tokens: unpin some of them."


def _noted(
    view: WindowView,
    plan: CompactionPlan,
    notes: Iterable[str],
    asked: Strategy,
    options: PlanOptions,
) -> CompactionPlan:
    """The plan with these notes, and notes on options without full effect."""
    unmet = (*_without_effect(view, plan, asked, options), *files_left_out(view, plan, options))
    pins = filter(None, (pins_text(view, options),))
    return replace(plan, notes=(*plan.notes, *pins, *notes, *unmet))


def _without_effect(
    view: WindowView, plan: CompactionPlan, asked: Strategy, options: PlanOptions
) -> Iterator[str]:
    if options.focus and (not asked.needs_model or traits_of(asked).at_provider):
        yield f"The focus has no effect on {asked.name}: only snapshot and handoff use it."
    name = plan.strategy if traits_of(asked).keeps_roles else asked.name
    given = options.roles_given or options.keep_roles != PlanOptions().keep_roles
    if given and not traits(name).keeps_roles:
        yield f"keep_roles has no effect on {name}: only {Snapshot.name} uses it."
    wanted, most = options.min_headroom_tokens, int(MAX_HEADROOM * view.usable)
    given = options.headroom_given or wanted != PlanOptions().min_headroom_tokens
    if given and max(plan.sizes.headroom, most) < wanted:
        yield (
            f"min_headroom_tokens asks for {wanted:,}, and {plan.sizes.headroom:,} are free: no "
            f"more than {most:,}, {MAX_HEADROOM:.0%} of what a request may have, is aimed at."
        )


def validate(view: WindowView, plan: CompactionPlan) -> None:
    """Raises `BadPlan` with all that is wrong, `NoGain` where the window would not get smaller. It
    may grow if items that the model can't read leave it.
    """
    if not isinstance(plan, CompactionPlan):
        raise BadPlan(["it is not a plan"])
    if plan.base != view.base:
        raise BadPlan(["the window has changed since it was made"])
    reasons = [*_wrong_verdicts(view, plan), *_wrong_insertions(plan)]
    if reasons:
        raise BadPlan(reasons)
    reasons = [*_lost(view, plan), *_torn(view, plan), *_wrong_sizes(view, plan)]
    if reasons:
        raise BadPlan(reasons)
    if plan.sizes.after >= plan.sizes.before and not _removes_unreadable(view, plan):
        raise NoGain("The window would not get smaller.")


def _removes_unreadable(view: WindowView, plan: CompactionPlan) -> bool:
    """Whether the plan removes all items that the model can't read."""
    return bool(view.unreadable) and view.unreadable.isdisjoint(n for n, _ in plan.window)


def _wrong_verdicts(view: WindowView, plan: CompactionPlan) -> list[str]:
    """Items that the plan leaves out, or whose verdict its window contradicts."""
    if [item.n for item in plan.items] != list(view.by_number):
        return ["it does not name every item of the window in its order"]
    staying = [
        (view.by_number[item.n], item.verdict) for item in plan.items if item.verdict in STAYS
    ]
    expected = [(entry.item.n, form_of(entry, verdict)) for entry, verdict in staying]
    if [pair for pair in plan.window if pair[0] > 0] != expected:
        return ["its window is not what it says of the items"]
    return [
        f"#{entry.item.n} has no body that it could lose"
        for entry, verdict in staying
        if (verdict == "shorten" and entry.item.kind != "tool_result")
        or (verdict == "mask" and not can_mask(entry, view))
    ]


def _wrong_insertions(plan: CompactionPlan) -> list[str]:
    places = [n for n, _ in plan.window if n <= 0]
    reasons: list[str] = []
    if sorted(places, reverse=True) != [-at for at in range(1, len(plan.inserted) + 1)]:
        reasons.append("what it inserts has no place, or several")
    if any(form != "full" for n, form in plan.window if n < 0):
        reasons.append("what it inserts is not in full")
    for item in plan.inserted:
        if item.kind not in _INSERTABLE:
            reasons.append(f"it inserts an item of kind {item.kind}")
        elif item.n != 0 or item.images or not (item.content.strip() or item.opaque):
            reasons.append("it inserts an item that is empty, has pictures or a number")
    return reasons


def _lost(view: WindowView, plan: CompactionPlan) -> list[str]:
    """Pins and the latest request, if the plan would drop or change them."""
    stays = dict(plan.window)
    reasons = [
        f"#{entry.item.n} is pinned by {entry.pin} and would change"
        for entry in view.pinned
        if stays.get(entry.item.n) != entry.form
    ]
    request = view.latest_request
    if request is None or stays.get(request.item.n) == request.form:
        return reasons
    n = request.item.n
    large = request.full > LARGE_REQUEST * view.context_window
    cut = any(item.detail.get("replaces") == n for item in plan.inserted if item.kind == "user")
    replaced = any(item.n == n and item.verdict == "replace" for item in plan.items)
    if not (replaced and large and cut and request.pin is None):
        reasons.append(f"your latest request, #{n}, would go")
    return reasons


def _torn(view: WindowView, plan: CompactionPlan) -> list[str]:
    """Calls without results, results without calls, thoughts without what they led to."""
    stays = dict(plan.window)
    entries = [view.by_number[n] for n in stays if n in view.by_number]
    reasons = [
        f"#{entry.n} would stay without its other half, #{entry.partner}"
        for entry in entries
        if entry.partner in view.by_number and entry.partner not in stays
    ]
    if thoughts := [e for e in entries if e.item.kind == "reasoning" and e.pin is None]:
        outcomes = (*view.of_kind("assistant"), *view.of_kind("tool_call"))
        torn = {entry.item.response for entry in outcomes if entry.n not in stays}
        reasons += [
            f"the thought #{entry.n} would stay without what it led to"
            for entry in thoughts
            if entry.item.response and entry.item.response in torn
        ]
    return [*reasons, *_unanswered(view, plan)]


def _unanswered(view: WindowView, plan: CompactionPlan) -> list[str]:
    """The same of calls and results in the next request."""
    items = [shown.item for shown in rendered(view, plan.window, plan.inserted)]
    calls = {(i.response, i.call_id): i.n for i in items if i.kind == "tool_call"}
    results = {(i.response, i.call_id): i.n for i in items if i.kind == "tool_result"}
    alone = [f"the result #{n}" for key, n in results.items() if key not in calls]
    for key, n in calls.items():
        if key not in results and view.by_number[n].partner is not None:
            alone.append(f"the call #{n}")
    return [f"{call_id} would come without its other half" for call_id in alone]


def _wrong_sizes(view: WindowView, plan: CompactionPlan) -> list[str]:
    sizes, counted = measure(view, plan.window, plan.inserted)
    told = {item.n: item.after for item in plan.items if item.after}
    if sizes != plan.sizes or told != {n: t for n, t in counted.items() if n > 0 and t}:
        return ["its tokens are not what they are said to be"]
    if sizes.headroom < 0:
        return [f"the next request would be {-sizes.headroom:,} tokens too large"]
    return []


def event_of(plan: CompactionPlan, next_n: int, generation: int, reason: str) -> WindowReplaced:
    """The event that applies the plan; what is inserted is numbered from `next_n` on.

    Its `why` leaves out items that are only old: there may be thousands.
    """
    inserted = tuple(replace(item, n=next_n + at) for at, item in enumerate(plan.inserted))
    sizes = plan.sizes
    return WindowReplaced(
        generation=generation,
        base=plan.base,
        reason=reason,
        window=tuple((n if n > 0 else next_n - n - 1, form) for n, form in plan.window),
        strategy=plan.strategy,
        inserted=inserted,
        why={item.n: item.reason for item in plan.items if item.reason not in _COMMON},
        tokens=Sizes(sizes.before, sizes.after),
        meta={
            **plan.meta,
            "context": sizes.context,
            "headroom": sizes.headroom,
            "notes": [*plan.told, *plan.notes],
        },
    )
