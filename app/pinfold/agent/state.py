"""The state of a session beyond its window, folded from events: counters, queue, consent."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

from msgspec import Struct, field

from pinfold.rollout import acts, provenance
from pinfold.rollout.codec import UNREADABLE
from pinfold.rollout.context import Context, FrontMemories
from pinfold.rollout.events import (
    KILLED,
    ApprovalDecided,
    ChildFinished,
    ChildStarted,
    ContextSet,
    Event,
    GoalSet,
    ItemAdded,
    JobEnded,
    JobStarted,
    MemoryUsed,
    ModelChanged,
    PromptQueued,
    PromptUnqueued,
    RequestFinished,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    WindowReplaced,
)
from pinfold.rollout.items import ABOUT, CHILD, CHILDREN, GOAL, JOB, JOBS, SANDBOX, Item
from pinfold.rollout.race_events import RaceKept, RaceStarted, RaceTested
from pinfold.rollout.values import is_compaction


class State(Struct):
    """A projection: `step` mutates it, the session reads it. Plain data, for the cache."""

    id: str = ""
    seq: int = 0
    last_n: int = 0
    turn: int = 0
    response: int = 0
    turn_open: bool = False
    turn_state: str = ""
    """How the last turn ended."""
    turn_reason: str = ""
    """Why it ended so."""
    context: ContextSet = ContextSet(hash="", context=Context())
    memories: FrontMemories | None = None
    """As they were decided when the session began, also while a model is told of none."""
    sent_to: str = ""
    """`provider/model` of the last request with this context, since the last compaction."""
    asked_model: str = ""
    """`provider/model` of the last request that was answered."""
    asked_at: datetime | None = None
    cited: tuple[str, ...] = ()
    """What the last citation of memories names: `session#item`."""
    model: ModelChanged | None = None
    prefixes: set[str] = field(default_factory=set)
    """Commands, and first words of those that only read, that the user allowed for this session."""
    goal_set: str = ""
    """What the session is for, where the user said so."""
    goal_told: str = ""
    """The same as the model knows it."""
    told: dict[str, str] = field(default_factory=dict)
    """What the window's items tell the state of (`items.ABOUT`), with the digest of that state."""
    _tellings: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The same of all items there ever were, by number."""
    _first_request: str = ""
    queue: dict[int, provenance.Prompt] = field(default_factory=dict)
    last_queue_id: int = 0
    plan: tuple[acts.Step, ...] = ()
    """The agent's plan; none once the user has gone on after all of it was done."""
    skills: dict[str, int] = field(default_factory=dict)
    """The last item with the text of each skill that was read."""
    jobs: dict[int, JobStarted] = field(default_factory=dict)
    """Background commands that run."""
    ended_jobs: dict[int, tuple[JobStarted, JobEnded]] = field(default_factory=dict)
    """Those of whose end the model has not been told."""
    last_job: int = 0
    children: dict[int, ChildStarted] = field(default_factory=dict)
    """All agents that were ever started."""
    finished: dict[int, ChildFinished] = field(default_factory=dict)
    """Those of them that have ended."""
    children_behind: tuple[int, ...] = ()
    """Those that had ended before the last compaction."""
    children_untold: set[int] = field(default_factory=set)
    """Those in the background of whose end the model has not been told."""
    races: dict[int, RaceStarted] = field(default_factory=dict)
    races_tested: dict[int, RaceTested] = field(default_factory=dict)
    """The last command that ran in all folders of each."""
    races_kept: dict[int, RaceKept] = field(default_factory=dict)
    spent_on_turns: int = 0
    """Tokens of all requests that turns made, and of their replies."""
    spent_preparing: int = 0
    """The same of summaries written in the background."""
    unreadable: int = 0
    """Lines of the journal that are damaged."""

    @property
    def goal(self) -> str:
        """What the session is for: in the user's words, else the first request."""
        return self.goal_set or self._first_request

    @property
    def in_background(self) -> dict[int, ChildStarted]:
        """The agents that run and for which no call waits. Of a race the model knows nothing."""
        return {
            n: child
            for n, child in self.children.items()
            if child.background and not child.race and n not in self.finished
        }

    @property
    def agents_untold(self) -> bool:
        """Whether the model knows of other agents than those that run in the background, and
        those of which a compaction took the results."""
        return self.told.get(CHILDREN, running({})) != self.agents_now

    @property
    def agents_now(self) -> str:
        """The digest of what the model is to know of them."""
        return agents_known(self.in_background, self.children_behind)

    @property
    def jobs_untold(self) -> bool:
        """Whether the model knows of other background commands than those that run."""
        return self.told.get(JOBS, running({})) != running(self.jobs)

    def step(self, event: Event) -> None:
        self.seq = event.seq
        match event.data:
            case SessionStarted(id=session_id):
                self.id = session_id
            case ContextSet() as context:
                self.context, self.sent_to = context, ""
                self.memories = context.context.memories or self.memories
            case MemoryUsed(via="citation", sources=sources) if sources:
                self.cited = sources
            case ModelChanged() as model:
                self.model = model
            case TurnStarted(turn=turn):
                self.turn, self.turn_open = turn, True
            case TurnFinished(state=state, reason=reason):
                self.turn_open, self.turn_state, self.turn_reason = False, state, reason
            case ItemAdded(item=item):
                self.last_n = max(self.last_n, item.n)
                self.response = max(self.response, item.response)
                if item.kind == "user" and not self._first_request:
                    self._first_request = provenance.words(item)
                if item.kind == "context" and isinstance(told := item.detail.get(GOAL), str):
                    self.goal_told = told
                if item.kind == "context" and isinstance(job := item.detail.get(JOB), int):
                    self.ended_jobs.pop(job, None)
                if (steps := acts.plan(item)) is not None:
                    self.plan = steps
                elif item.kind == "user" and all(step.status == "done" for step in self.plan):
                    self.plan = ()
                if item.kind == "context" and isinstance(child := item.detail.get(CHILD), int):
                    self.children_untold.discard(child)
                if isinstance(skill := item.detail.get("skill"), str):
                    self.skills[skill] = item.n
                if telling := told_in(item):
                    self._tellings[item.n] = telling
                    self.told[telling[0]] = telling[1]
            case WindowReplaced(inserted=inserted, window=window, reason=reason):
                known = (self._tellings.get(n) for n in sorted(n for n, _ in window))
                self.told = dict(telling for telling in known if telling)
                if is_compaction(reason):
                    self.sent_to = ""
                    self.children_behind = tuple(filter(self._knows, sorted(self.finished)))
                self.last_n = max(self.last_n, *(item.n for item in inserted), 0)
            case GoalSet(text=text):
                self.goal_set = text
            case RequestFinished() as request:
                self.response = max(self.response, request.response)
                if request.purpose in ("turn", "prewarm") and request.status == "ok":
                    self.sent_to = self.asked_model = f"{request.provider}/{request.model}"
                    self.asked_at = event.ts
                self._spend(request)
            case ApprovalDecided(verdict="always", prefix=prefix) if prefix:
                self.prefixes.add(prefix)
            case PromptQueued(id=queue_id, text=text, pasted=pasted, expands=expands):
                self.queue[queue_id] = provenance.Prompt(text, pasted, expands=expands)
                self.last_queue_id = queue_id
            case JobStarted(job=job) as started:
                told = not self.jobs_untold
                self.jobs[job], self.last_job = started, max(self.last_job, job)
                self._know_jobs(others=told)  # by the result of the call
            case JobEnded(job=job) as ended:
                told = not self.jobs_untold
                begun = self.jobs.pop(job, None)
                self._know_jobs(others=told)
                if begun is not None and ended.reason != KILLED:
                    self.ended_jobs[job] = (begun, ended)
            case ChildStarted(child=child) as begins:
                told = not self.agents_untold
                self.children[child] = begins
                if told:  # by the result of the call
                    self.told[CHILDREN] = self.agents_now
            case ChildFinished(child=child) as over:
                told = not self.agents_untold
                self.finished[child] = over
                begun_as = self.children.get(child)
                if begun_as is not None and begun_as.background and not begun_as.race:
                    self.children_untold.add(child)
                if told:
                    self.told[CHILDREN] = self.agents_now
            case RaceStarted(race=race) as race_begins:
                self.races[race] = race_begins
            case RaceTested(race=race) as tested:
                self.races_tested[race] = tested
            case RaceKept(race=race) as kept:
                self.races_kept[race] = kept
            case Unknown(type=kind) if kind == UNREADABLE:
                self.unreadable += 1
            case PromptUnqueued(id=queue_id):
                self.queue.pop(queue_id, None)

    def _knows(self, child: int) -> bool:
        """Whether the model is to know of an agent: of a race it knows the one that was kept."""
        begun = self.children.get(child)
        if begun is None or not begun.race:
            return True
        kept = self.races_kept.get(begun.race)
        return kept is not None and kept.child == child

    def _know_jobs(self, *, others: bool) -> None:
        """What started or ended now is told by itself; `others` is whether the rest was, before."""
        if others:
            self.told[JOBS] = running(self.jobs)

    def _spend(self, request: RequestFinished) -> None:
        usage = request.usage
        tokens = usage.input + usage.output if usage else request.estimate
        if request.purpose == "turn":
            self.spent_on_turns += tokens
        elif request.compaction is not None and request.compaction.phase == "background":
            self.spent_preparing += tokens


def digest(text: str) -> str:
    """A short hash of a state."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def running(jobs: Iterable[int]) -> str:
    """The digest of what runs in the background."""
    return digest(",".join(map(str, jobs)))


def agents_known(in_background: Iterable[int], behind: Iterable[int]) -> str:
    """The digest of agents: those that run, and those that had ended before a compaction."""
    return digest(",".join(map(str, in_background)) + "".join(f";{n}" for n in behind))


def told_in(item: Item) -> tuple[str, str] | None:
    """What a context item tells the state of, and the digest of that state."""
    if item.kind != "context":
        return None
    match item.detail.get(ABOUT):
        case [str(subject), str(state)]:
            return subject, state
    return (SANDBOX, digest(item.content)) if SANDBOX in item.detail else None
