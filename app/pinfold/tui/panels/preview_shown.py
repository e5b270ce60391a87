"""The preview's plans, and what is shown of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from textual import on, work
from textual.dom import NoScreen
from textual.widget import Widget

from pinfold.agent.compaction.trigger import BY_HAND, CompactionTrigger
from pinfold.agent.updates import Appended, Update
from pinfold.commands.compact_text import price
from pinfold.compaction.strategies.registry import traits
from pinfold.compaction.view import PlanOptions
from pinfold.ports.errors import ProviderError
from pinfold.rollout.events import CompactionFinished, RequestFinished, WindowReplaced
from pinfold.tui.panels.preview_claims import ClaimsPanel
from pinfold.tui.panels.preview_foot import PreviewFoot
from pinfold.tui.panels.preview_head import Outcome
from pinfold.tui.panels.preview_list import PreviewList
from pinfold.tui.panels.preview_plans import Plans
from pinfold.tui.panels.preview_rows import rows_now, rows_of
from pinfold.tui.panels.preview_steps import PlanProgress
from pinfold.tui.panels.preview_summary import SHORT, PreviewSummary
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.table_panel import TablePanel

if TYPE_CHECKING:
    from pinfold.agent.compaction.draft import CompactionDraft
    from pinfold.agent.session import Session

HINT = "Enter reads · Tab, 1 to {} strategy · Esc closes"


class ShownPlan(TablePanel[bool]):
    """The preview without its keys: has plans made, and shows them."""

    HEADING = "Compaction preview"
    REFRESH = 0.2

    def __init__(
        self,
        session: Session,
        strategy: str = "",
        options: PlanOptions | None = None,
        *,
        trigger: CompactionTrigger = BY_HAND,
    ) -> None:
        """Without a strategy or options: the session's."""
        self._list: PreviewList = PreviewList()
        super().__init__(self._list, session)
        self._session = session
        self._window = session.window
        self._compaction = session.compaction
        self._strategy = strategy or self._compaction.strategy
        self._options = options or self._compaction.options
        self._trigger = trigger
        available = self._compaction.is_available
        self._names = [
            name
            for name in self._compaction.strategies
            if available(name) or name == self._strategy
        ]
        self.HINT = HINT.format(min(9, len(self._names)))
        self._plans = Plans(self._compaction, self._names, self._walk, trigger)
        self._claims: ClaimsPanel | None = None
        """The list of a summary's entries, while it is open."""
        self._wanted: int | None = None
        """The item that the last key was to keep or fold."""
        self._applying = False
        self._early = False
        """Whether a key was refused because the plan was not ready."""
        self._rows = list(rows_now(self._window.overview().rows))
        """The window as it is, until there is a plan."""
        self._summary = PreviewSummary()
        self._foot: PreviewFoot = PreviewFoot()

    def parts(self) -> Iterable[Widget]:
        return self._summary, self._list, self._foot

    def on_mount(self) -> None:
        self._list.show_rows(self._rows)
        if self._trigger.cause == "model":
            self._summary.say_why(self._for_model())
        self._explain()
        self._show_choice()

    def _explain(self) -> None:
        """Say what the chosen strategy makes of the window, where there is room."""
        about = traits(self._strategy).about if self.app.size.height >= SHORT else ""
        self._foot.say(f"{self._strategy}: {about}." if about else "")

    @property
    def _read_key(self) -> str:
        return self.key_of("preview.read")

    def _for_model(self) -> str:
        """Why it opens when the user chooses a model with a smaller window."""
        reading, key = self._session.reading(), self.key_of("preview.apply")
        left = "stays" if reading.used > reading.usable else "switches without compacting"
        return (
            f"{self._session.model.name} takes {reading.usable:,} tokens, and this window has "
            f"{reading.used:,}: {key} makes room, {self.key_of('preview.leave')} {left}."
        )

    def on_unmount(self) -> None:
        self._plans.forget(asked=True)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    # The plans

    @property
    def _draft(self) -> CompactionDraft | None:
        """The plan shown, if it can be applied."""
        found = self._plans.drafts.get(self._strategy)
        return None if isinstance(found, Exception) else found

    def _shown(self) -> CompactionDraft | None:
        """The same; says why where there is none."""
        if self._draft is None:
            refused = self._strategy in self._plans.drafts
            waits = self._plans.must_ask(self._strategy)
            self._early = not (refused or waits)
            why = "Nothing to compact." if refused else "Still planning: wait a moment."
            if waits:
                why = f"{self._strategy} uses the model: {self._read_key} runs it."
            self._foot.say(why, "warning")
        return self._draft

    def hear(self, update: Update) -> None:
        if not isinstance(update, Appended) or self._applying:
            return
        match update.event.data:
            case RequestFinished(purpose="compaction") | CompactionFinished():
                return  # our own asking
            case WindowReplaced():
                self._plans.forget(asked=True)
        self._plans.forget()
        self.read_soon()

    def read(self) -> None:
        """Plan again."""
        self._plans.forget()
        self._plan()

    def _begin(self) -> None:
        """Plan for the chosen strategy."""
        self._show_choice()
        self._plan()

    def _show_choice(self) -> None:
        """Show what is chosen; where a plan takes a model's time, show no other's meanwhile."""
        waits, focus = self._plans.must_ask(self._strategy), self._options.focus
        if waits:
            self._summary.offer(self._strategy, self._read_key, focus)
        elif self._plans.is_written(self._strategy):
            self._summary.wait(self._strategy, focus)
        if waits or self._plans.is_written(self._strategy):
            self._say_price()
            self._list.show_rows(list(rows_now(self._window.overview().rows)))
        self._show_strategies()

    @work(exclusive=True, group="plan")
    async def _plan(self) -> None:
        """Plan with the chosen strategy and show that, then with the others."""
        with suppress(NoScreen):  # it was closed meanwhile
            await self._plans.make(self._strategy, self._options, self._made)

    @work(exclusive=True, group="price")
    async def _say_price(self) -> None:
        used = self._session.reading().used
        with suppress(ProviderError, NoScreen):  # the plan says it; it was closed meanwhile
            quote = await self._compaction.quote(used)
            waits = self._plans.must_ask(self._strategy)
            if waits or self._plans.is_written(self._strategy):
                self._summary.say_price(price(quote, used))

    def _made(self, name: str) -> None:
        if name == self._strategy:
            self._show()
        else:
            self._show_strategies()

    def _walk(self, standing: PlanProgress | None) -> None:
        if self.is_attached:  # a model that is told to stop may still say something
            self._foot.walk(standing)

    # What is shown

    def _show(self) -> None:
        found = self._plans.drafts[self._strategy]
        if self._early:
            self._early = False
            self._explain()
        if self._claims is not None:
            self._claims.show(found)
        if isinstance(found, Exception):
            self._summary.show(found)
            self._list.show_rows(list(rows_now(self._window.overview().rows)))
        else:
            self._summary.show(found.report, self.key_of("preview.claims"))
            edited = found.options.text is not None
            self._list.show_rows(rows_of(found.report, found.plan, edited=edited), runs=True)
            self._list.planned = True
            self._answer()
        if self._plans.has_failed(self._strategy):
            at = self._names.index(self._strategy) + 1
            self._foot.say(f"{self._strategy} failed. Press {at} to try it again.", "error")
        self._show_strategies()

    def _answer(self) -> None:
        """Say why a key had no effect."""
        row, wanted, self._wanted = self._list.row, self._wanted, None
        if row is None or wanted is None or row.n != wanted:
            return
        out = wanted in self._options.fold
        if out and not row.goes and row.verdict in ("kept", "pinned"):
            self._foot.say(f"#{wanted} stays: {row.reason}.", "warning")

    def _show_strategies(self) -> None:
        names = self._names
        outcomes: dict[str, Outcome | None] = {
            name: None for name in names if self._plans.must_ask(name)
        }
        for name, found in self._plans.drafts.items():
            outcomes[name] = found if isinstance(found, Exception) else found.report
        self._summary.compare(names, self._strategy, outcomes)

    @on(Table.Moved)
    def _moved(self) -> None:
        row, draft = self._list.row, self._draft
        summary = row is not None and row.inserted is not None and row.inserted.kind == "summary"
        entries = len(draft.material.entries) if summary and draft is not None else 0
        self._foot.show_row(row, entries)

    def _fit(self) -> None:
        self._foot.explain(self._list.columns)
        self._show_strategies()
