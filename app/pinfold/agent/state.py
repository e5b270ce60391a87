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
    known_goal: str = ""
    """The last goal that the model was told."""
    known: dict[str, str] = field(default_factory=dict)
    """What the model knows from the window: subjects (`items.ABOUT`) with the digest of the state
    that it was told last."""
    _known_from: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The subject and the digest that an item tells, by its number; also of items that have left
    the window."""
    _first_request: str = ""
    queue: dict[int, provenance.Prompt] = field(default_factory=dict)
    last_queue_id: int = 0
    plan: tuple[acts.Step, ...] = ()
    """The agent's plan; none once the user has gone on after all of it was done."""
    skills: dict[str, int] = field(default_factory=dict)
    """The last item with the text of each skill that was read."""
    jobs: dict[int, JobStarted] = field(default_factory=dict)
    """Background commands that run."""
    unreported_jobs: dict[int, tuple[JobStarted, JobEnded]] = field(default_factory=dict)
    """Background commands that have ended, until the model is told."""
    last_job: int = 0
    children: dict[int, ChildStarted] = field(default_factory=dict)
    """All agents that were ever started."""
    finished: dict[int, ChildFinished] = field(default_factory=dict)
    """Those of them that have ended."""
    children_behind: tuple[int, ...] = ()
    """Those that had ended before the last compaction."""
    unreported_children: set[int] = field(default_factory=set)
    """Background agents that have ended, until the model is told."""
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
    def agents_digest(self) -> str:
        """The digest of the agents that the model should know: those that run in the background,
        and those that had ended before the last compaction."""
        return digest_of_agents(self.in_background, self.children_behind)

    @property
    def knows_agents(self) -> bool:
        """Whether the model knows exactly these agents."""
        return self.known.get(CHILDREN, running({})) == self.agents_digest

    @property
    def knows_jobs(self) -> bool:
        """Whether the model knows exactly the background commands that run."""
        return self.known.get(JOBS, running({})) == running(self.jobs)

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
                if item.kind == "context" and isinstance(goal := item.detail.get(GOAL), str):
                    self.known_goal = goal
                if item.kind == "context" and isinstance(job := item.detail.get(JOB), int):
                    self.unreported_jobs.pop(job, None)
                if (steps := acts.plan(item)) is not None:
                    self.plan = steps
                elif item.kind == "user" and all(step.status == "done" for step in self.plan):
                    self.plan = ()
                if item.kind == "context" and isinstance(child := item.detail.get(CHILD), int):
                    self.unreported_children.discard(child)
                if isinstance(skill := item.detail.get("skill"), str):
                    self.skills[skill] = item.n
                if (stated := subject_and_digest(item)) is not None:
                    self._known_from[item.n] = stated
                    self.known.update([stated])
            case WindowReplaced(inserted=inserted, window=window, reason=reason):
                left = sorted(n for n, _ in window)
                self.known = dict(self._known_from[n] for n in left if n in self._known_from)
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
                knew_jobs = self.knows_jobs
                self.jobs[job], self.last_job = started, max(self.last_job, job)
                if knew_jobs:  # the result of the call tells of this one
                    self.known[JOBS] = running(self.jobs)
            case JobEnded(job=job) as ended:
                knew_jobs = self.knows_jobs
                begun = self.jobs.pop(job, None)
                if knew_jobs:  # an item of its own tells of this end
                    self.known[JOBS] = running(self.jobs)
                if begun is not None and ended.reason != KILLED:
                    self.unreported_jobs[job] = (begun, ended)
            case ChildStarted(child=child) as begins:
                knew_agents = self.knows_agents
                self.children[child] = begins
                if knew_agents:  # the result of the call tells of this one
                    self.known[CHILDREN] = self.agents_digest
            case ChildFinished(child=child) as over:
                knew_agents = self.knows_agents
                self.finished[child] = over
                begun_as = self.children.get(child)
                if begun_as is not None and begun_as.background and not begun_as.race:
                    self.unreported_children.add(child)
                if knew_agents:  # an item of its own tells of this end
                    self.known[CHILDREN] = self.agents_digest
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


def digest_of_agents(in_background: Iterable[int], behind: Iterable[int]) -> str:
    """The digest of agents: those that run, and those that had ended before a compaction."""
    return digest(",".join(map(str, in_background)) + "".join(f";{n}" for n in behind))


def subject_and_digest(item: Item) -> tuple[str, str] | None:
    """The subject that a context item tells of, and the digest of its state."""
    if item.kind != "context":
        return None
    match item.detail.get(ABOUT):
        case [str(subject), str(state)]:
            return subject, state
    return (SANDBOX, digest(item.content)) if SANDBOX in item.detail else None
