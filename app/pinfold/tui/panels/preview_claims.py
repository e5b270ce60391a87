"""The entries of a summary: what each says, which items confirm it, and what of it none does."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from pinfold.commands.failures import told
from pinfold.compaction.summary import SummaryEntry, entries_of, line_of
from pinfold.rollout.items import Item
from pinfold.sanitize import one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.item import ItemPanel, page, title
from pinfold.tui.panels.modal import Modal
from pinfold.tui.panels.table import LineTable, ListLine, Table

if TYPE_CHECKING:
    from pinfold.agent.compaction.draft import CompactionDraft

CITED = 3
"""Items of an entry that its line names."""
_STATES = {
    "told": ("✓", "confirmed"),
    "doubted": ("?", "left out"),
    "unconfirmed": ("~", "marked as unconfirmed"),
    "kept": ("!", "kept anyway"),
    "crowded": ("−", "left out for lack of room"),
}
"""Sign and words."""


class ClaimsPanel(Modal[None]):
    """What a key changes is planned by the preview beneath, which shows the new plan here."""

    DEFAULT_CSS = """
    ClaimsPanel {
        & .facts { height: 1; color: $foreground 60%; }
        & .about { height: auto; min-height: 3; max-height: 7; border-top: solid $rule; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,c", "dismiss(None)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("K,space", "keep", show=False),
        Binding("enter", "read", show=False),
    ]

    def __init__(
        self,
        draft: "CompactionDraft",
        item: Callable[[int], Item | None],
        toggle: Callable[[str], None],
    ) -> None:
        """`item` gives any of the session; `toggle` keeps the entry of an id, or no longer."""
        super().__init__()
        self._draft = draft
        self._item = item
        self._toggle = toggle
        self._entries = _in_order(draft.material.entries)
        self._facts = Static(classes="facts", markup=False)
        self._list = LineTable()
        self._about = Static(classes="about", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel full") as panel:
            panel.border_title = "What the summary says"
            panel.border_subtitle = "K keeps it anyway · Enter reads what it cites · Esc closes"
            yield self._facts
            yield self._list
            yield self._about

    def on_mount(self) -> None:
        self.show(self._draft)

    def show(self, outcome: "CompactionDraft | Exception") -> None:
        """What the plan is by now, or why there is none."""
        if isinstance(outcome, Exception):
            self._facts.update(f"✗ {told(outcome)}")
            return
        self._draft = outcome
        doubted = [entry for entry in self._entries if entry.unsupported]
        marked = [entry for entry in self._entries if self._state(entry) == "unconfirmed"]
        kept = [entry for entry in doubted if entry.id in outcome.options.claims]
        tokens = sum(
            inserted.tokens for inserted in outcome.report.inserted if inserted.kind == "summary"
        )
        said = [f"{len(self._entries):,} entries, {tokens:,} tokens inserted"]
        if doubted:
            said.append(f"{len(doubted):,} that no item confirms, {len(kept):,} of them kept")
        if marked:
            said.append(f"{len(marked):,} marked as unconfirmed")
        self._facts.update(" · ".join(said))
        width = max((len(entry.field) for entry in self._entries), default=0)
        self._list.show_lines([self._line(entry, width) for entry in self._entries])

    def _line(self, entry: SummaryEntry, width: int) -> ListLine:
        items = [f"#{n}" for n in _cited(entry)]
        more = ["…"] if len(items) > CITED else []
        return ListLine(
            entry.id,
            f"{_STATES[self._state(entry)][0]} {entry.field:<{width}}",
            one_line(_entry_text(entry)),
            right=" ".join((*items[:CITED], *more)),
        )

    def _state(self, entry: SummaryEntry) -> str:
        if entry.unsupported or entry.unconfirmed:
            if entry.id in self._draft.options.claims:
                return "kept"
            return "doubted" if entry.unsupported else "unconfirmed"
        written = (other for item in self._draft.plan.inserted for other in entries_of(item))
        standing = {other.id for other in written}
        return "crowded" if standing and entry.id not in standing else "told"

    @property
    def _current(self) -> SummaryEntry | None:
        return next((entry for entry in self._entries if entry.id == self._list.current), None)

    @on(Table.Moved)
    def _moved(self) -> None:
        entry = self._current
        if entry is None:
            return
        state = self._state(entry)
        doubts = dict.fromkeys(("doubted", "unconfirmed", "kept"), "warning")
        colour = {**doubts, "crowded": "foreground 60%"}
        names = ", ".join(entry.unconfirmed)
        absent = f"not in what it cites: {names}" if names else ""
        why = "; ".join(filter(None, (entry.unsupported, absent)))
        missing = f": {one_line(why)}" if why else ""
        text = Text().append(f"{entry.field} ", "bold")
        text.append(f"{_STATES[state][1]}{missing}", ink(self.app, colour.get(state, "success")))
        text.append(f"\n{one_line(_entry_text(entry))}")
        for source in entry.evidence[:CITED]:
            quote = f"\n#{source.item} “{one_line(source.quote)}”"
            text.append(quote, ink(self.app, "foreground 60%"))
        self._about.update(text)

    def action_move(self, step: int) -> None:
        self._list.move(step)

    def action_page(self, way: int) -> None:
        self._list.page(way)

    def action_keep(self) -> None:
        entry = self._current
        if entry is not None and (entry.unsupported or entry.unconfirmed):
            self._list.move(0)  # the cursor is the user's from here on
            self._toggle(entry.id)

    @on(Table.Taken)
    def action_read(self) -> None:
        entry = self._current
        items = [] if entry is None else [self._item(n) for n in _cited(entry)]
        found = [item for item in items if item is not None]
        if found:
            name = title(found[0]) if len(found) == 1 else "What the entry cites"
            self.app.push_screen(ItemPanel(name, page(found)))


def _in_order(entries: Sequence[SummaryEntry]) -> Sequence[SummaryEntry]:
    """What no item confirms comes first, then what is not confirmed."""
    return sorted(entries, key=lambda entry: (not entry.unsupported, not entry.unconfirmed))


def _entry_text(entry: SummaryEntry) -> str:
    return line_of(replace(entry, evidence=(), unconfirmed=()))


def _cited(entry: SummaryEntry) -> Sequence[int]:
    return tuple(dict.fromkeys(source.item for source in entry.evidence))
