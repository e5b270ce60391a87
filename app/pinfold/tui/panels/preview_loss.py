"""What a compaction would lose, and keys to keep it."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import ClassVar, NamedTuple

from textual import on, work
from textual.binding import Binding, BindingType
from textual.widget import Widget

from pinfold.commands.failures import told
from pinfold.compaction.loss import Loss, LostLine
from pinfold.rollout.items import Item
from pinfold.sanitize import one_line
from pinfold.tui.panels.item import item_panel
from pinfold.tui.panels.table import LineTable, ListLine, Table
from pinfold.tui.panels.table_panel import TablePanel

Losses = Callable[[], Awaitable[Loss]]


class Keeping(NamedTuple):
    """What the user keeps: whole items, and lines of the digest by their keys."""

    items: frozenset[int]
    lines: frozenset[str]


class LossPanel(TablePanel[Keeping]):
    """Its result is what to keep."""

    HEADING = "What would be lost"
    HINT = "Space keeps the line · K keeps its item · Enter reads · Esc closes"
    SHAPE = "full"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("K", "keep", show=False),
        Binding("space", "keep_line", show=False),
        Binding("enter", "read", show=False),
    ]

    def __init__(self, losses: Losses, item: Callable[[int], Item | None]) -> None:
        """`losses` may take a while; `item` returns an item of the session by number."""
        self._list: LineTable = LineTable()
        super().__init__(self._list, facts="Comparing both windows…")
        self._losses = losses
        self._item = item
        self._lost: tuple[LostLine, ...] = ()
        self._keep: set[int] = set()
        self._keep_lines: set[str] = set()

    def parts(self) -> Iterable[Widget]:
        return self._facts, self._list

    @work
    async def read(self) -> None:
        try:
            loss = await self._losses()
        except Exception as error:  # the panel stays, whatever it is
            self._facts.update(f"✗ {told(error)}")
            return
        self._lost = loss.named
        self._facts.update(" · ".join(_facts(loss)))
        self._show()

    def _show(self) -> None:
        width = max((len(loss.kind) for loss in self._lost), default=0)
        number = max((len(str(loss.item)) for loss in self._lost), default=0) + 1
        self._list.show_lines([self._line(loss, width, number) for loss in self._lost])

    def _line(self, lost: LostLine, width: int, number: int) -> ListLine:
        kept = self.is_kept(lost.item)
        own = lost.key in self._keep_lines
        head = f"{'✓' if kept or own else '−'} {lost.kind:<{width}}"
        right = f"{'kept with ' if kept else ''}{f'#{lost.item}':>{number}}"
        return ListLine(f"{lost.kind}/{lost.text}", head, one_line(lost.text), right=right)

    def is_kept(self, n: int) -> bool:
        return n in self._keep

    @property
    def current(self) -> LostLine | None:
        """The loss under the cursor."""
        keys = (lost for lost in self._lost if f"{lost.kind}/{lost.text}" == self._list.current)
        return next(keys, None)

    def action_keep(self) -> None:
        if (lost := self.current) is not None:
            self._keep ^= {lost.item}
            self.show_anew()

    def action_keep_line(self) -> None:
        if (lost := self.current) is not None and lost.key:
            self._keep_lines ^= {lost.key}
            self.show_anew()

    def show_anew(self) -> None:
        """Draw again after a change."""
        self._list.move(0)  # the cursor is the user's from here on
        self._show()

    @on(Table.Taken)
    def action_read(self) -> None:
        lost = self.current
        item = self._item(lost.item) if lost is not None else None
        if item is not None:
            self.app.push_screen(item_panel(item))

    def action_leave(self) -> None:
        self.dismiss(Keeping(frozenset(self._keep), frozenset(self._keep_lines)))


def _facts(loss: Loss) -> Iterator[str]:
    """How many are listed, and how many more there are of each kind."""
    if not loss:
        yield loss.without_lines
        return
    yield f"{len(loss.named):,} listed"
    if loss.more:
        yield "more: " + ", ".join(
            f"{count:,} {kind}{'s' if count != 1 else ''}" for kind, count in loss.more.items()
        )
    yield "all of it stays in the archive"
