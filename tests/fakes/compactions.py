"""Windows to compact: a session that works on files, and views of it."""

from collections.abc import Iterable, Sequence

from fakes.histories import events
from pinfold.agent.projections import Projections
from pinfold.checkpoint.known import Known
from pinfold.compaction.engine import event_of, plan_with
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import Context
from pinfold.rollout.events import (
    ArtifactObserved,
    ContextSet,
    Data,
    Event,
    ItemAdded,
    SessionStarted,
)
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

OPTIONS = PlanOptions()


class Live:
    """All projections of one session, fed with events."""

    def __init__(self, data: Iterable[Data] = (), counter: Counter | None = None) -> None:
        self._projections = Projections(counter or Counter("none"), "chat")
        self.window = self._projections.window
        self.gauge = self._projections.gauge
        for event in data:
            self.add(event)

    def add(self, data: Data) -> Event:
        """Take an event."""
        event = Event(self._projections.seq + 1, events([data])[0].ts, data)
        self._projections.step(event)
        return event

    @property
    def known(self) -> Known:
        return self._projections.catch_up()

    @property
    def next_n(self) -> int:
        return max(self.window.archive, default=0) + 1

    def view(
        self, context_window: int = 16_000, max_output: int = 2_000, name: str = "m"
    ) -> WindowView:
        """What strategies see, on a model of that size and name."""
        model = ModelInfo(name, "p", context_window, "config", max_output)
        self._projections.catch_up()
        return self._projections.view(model)


def working(turns: int, *, first: int = 1, output: int = 40) -> list[Data]:
    """Turns of eight items each: the user asks, the agent reads, edits, tests and tells."""
    data: list[Data] = []
    n = first
    for turn in range(1, turns + 1):
        response = 3 * ((n - 1) // 8) + 1
        path = f"src/part_{turn % 7}.py"
        body = "\n".join(f"def function_{turn}_{line}(value): ..." for line in range(output))
        some: Sequence[Item] = (
            Item(n=n, kind="user", content=f"Make part {turn} faster. Keep port 80{turn:02}."),
            _item(n + 1, "reasoning", "It reads the file twice.", response),
            _item(n + 2, "tool_call", f'{{"path": "{path}"}}', response, "a", "read_file"),
            _item(n + 3, "tool_result", body, response, "a", "read_file"),
            _item(n + 4, "tool_call", f'{{"path": "{path}"}}', response + 1, "b", "edit_file"),
            _item(n + 5, "tool_result", f"Edited {path}", response + 1, "b", "edit_file"),
            _item(n + 6, "assistant", f"Part {turn} takes {turn}.5 seconds less.", response + 2),
            Item(n=n + 7, kind="user", content="Good. Always run the tests before you go on."),
        )
        data += [ItemAdded(item=item) for item in some]
        for result, op in ((n + 3, "read"), (n + 5, "update")):
            data.append(
                ArtifactObserved(
                    uri=path,
                    kind="file",
                    op=op,  # type: ignore[arg-type]
                    hash=f"{turn:040x}",
                    item=result,
                )
            )
        n += 8
    return data


def session(turns: int, *, output: int = 40) -> Live:
    """A session of so many turns."""
    started = SessionStarted(schema=1, id="s", cwd="/w", version="0")
    context = ContextSet(hash="1", context=Context(instructions="Be brief, and careful."))
    return Live([started, context, *working(turns, output=output)])


def _item(n: int, kind: str, text: str, response: int, call: str = "", name: str = "") -> Item:
    return Item(
        n=n,
        kind=kind,  # type: ignore[arg-type]
        content=text,
        response=response,
        call_id=f"{call}{response}" if call else None,
        name=name or None,
    )


def planned(
    view: WindowView, name: str = "checkpoint", options: PlanOptions = OPTIONS
) -> CompactionPlan:
    """A plan of the house's strategy of that name."""
    return plan_with(name, view, Material(), options, strategies=house())


def apply(live: Live, plan: CompactionPlan, reason: str = "manual") -> int:
    """Apply a plan; the seq of its event."""
    event = event_of(plan, live.next_n, live.window.generation + 1, reason)
    return live.add(event).seq
