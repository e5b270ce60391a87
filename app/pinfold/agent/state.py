"""What a session knows beyond its window: counters, queue, consent. Folded from events."""

from msgspec import Struct, field

from pinfold.rollout import provenance
from pinfold.rollout.events import (
    UNREADABLE,
    ApprovalDecided,
    Context,
    ContextSet,
    Event,
    GoalSet,
    ItemAdded,
    Memories,
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
from pinfold.rollout.items import GOAL, SANDBOX


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
    memories: Memories | None = None
    """As they were decided when the session began, also while a model is told of none."""
    model: ModelChanged | None = None
    prefixes: set[str] = field(default_factory=set)
    """Commands, and first words of those that only read, that the user allowed for this session."""
    goal_set: str = ""
    """What the session is for, where the user said so."""
    goal_told: str = ""
    """The same as the model knows it."""
    sandbox_told: str = ""
    """What the model knows of its approvals and its sandbox."""
    _sandbox_item: int = 0
    _first_request: str = ""
    queue: dict[int, provenance.Prompt] = field(default_factory=dict)
    last_queue_id: int = 0
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

    def step(self, event: Event) -> None:
        self.seq = event.seq
        match event.data:
            case SessionStarted(id=session_id):
                self.id = session_id
            case ContextSet() as context:
                self.context = context
                self.memories = context.context.memories or self.memories
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
                if item.kind == "context" and SANDBOX in item.detail:
                    self.sandbox_told, self._sandbox_item = item.content, item.n
            case WindowReplaced(inserted=inserted, window=window):
                if all(n != self._sandbox_item for n, _ in window):
                    self.sandbox_told = ""
                self.last_n = max(self.last_n, *(item.n for item in inserted), 0)
            case GoalSet(text=text):
                self.goal_set = text
            case RequestFinished() as request:
                self.response = max(self.response, request.response)
                self._spend(request)
            case ApprovalDecided(verdict="always", prefix=prefix) if prefix:
                self.prefixes.add(prefix)
            case PromptQueued(id=queue_id, text=text, pasted=pasted):
                self.queue[queue_id] = provenance.Prompt(text, pasted)
                self.last_queue_id = queue_id
            case Unknown(type=kind) if kind == UNREADABLE:
                self.unreadable += 1
            case PromptUnqueued(id=queue_id):
                self.queue.pop(queue_id, None)

    def _spend(self, request: RequestFinished) -> None:
        usage = request.usage
        tokens = usage.input + usage.output if usage else request.estimate
        if request.purpose == "turn":
            self.spent_on_turns += tokens
        elif request.compaction is not None and request.compaction.phase == "background":
            self.spent_preparing += tokens
