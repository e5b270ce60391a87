"""What a session knows beyond its window: counters, queue, consent. Folded from events."""

from pinfold.rollout.events import (
    UNREADABLE,
    ApprovalDecided,
    Context,
    ContextSet,
    Event,
    ItemAdded,
    ModelChanged,
    PromptQueued,
    PromptUnqueued,
    RequestFinished,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
)


class State:
    """A projection: `step` mutates it, the session reads it."""

    def __init__(self) -> None:
        self.id = ""
        self.seq = 0
        self.last_n = 0
        self.turn = 0
        self.response = 0
        self.turn_open = False
        self.turn_state = ""
        """How the last turn ended."""
        self.context = ContextSet(hash="", context=Context())
        self.model: ModelChanged | None = None
        self.prefixes: set[str] = set()
        """Command prefixes that the user allowed for this session."""
        self.queue: dict[int, str] = {}
        self.last_queue_id = 0
        self.unreadable = 0
        """Lines of the journal that are damaged."""

    def step(self, event: Event) -> None:
        self.seq = event.seq
        match event.data:
            case SessionStarted(id=session_id):
                self.id = session_id
            case ContextSet() as context:
                self.context = context
            case ModelChanged() as model:
                self.model = model
            case TurnStarted(turn=turn):
                self.turn, self.turn_open = turn, True
            case TurnFinished(state=state):
                self.turn_open, self.turn_state = False, state
            case ItemAdded(item=item):
                self.last_n = max(self.last_n, item.n)
                self.response = max(self.response, item.response)
            case RequestFinished(response=response):
                self.response = max(self.response, response)
            case ApprovalDecided(verdict="always", prefix=prefix) if prefix:
                self.prefixes.add(prefix)
            case PromptQueued(id=queue_id, text=text):
                self.queue[queue_id] = text
                self.last_queue_id = queue_id
            case Unknown(type=kind) if kind == UNREADABLE:
                self.unreadable += 1
            case PromptUnqueued(id=queue_id):
                self.queue.pop(queue_id, None)
