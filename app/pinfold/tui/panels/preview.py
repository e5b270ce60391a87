"""The preview: what a compaction would do, item by item, before it is done."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer

from pinfold.agent.updates import Appended, Update
from pinfold.commands.context import SessionPort
from pinfold.commands.failures import told
from pinfold.compaction.loss import Loss
from pinfold.compaction.report import Inserted
from pinfold.compaction.view import PlanOptions
from pinfold.sanitize import clean
from pinfold.tui.panels.item import ItemPanel, page, title
from pinfold.tui.panels.line_list import LineList
from pinfold.tui.panels.preview_foot import PreviewFoot, Step
from pinfold.tui.panels.preview_keys import ACTS, CHANGES, MOVES
from pinfold.tui.panels.preview_list import PreviewList
from pinfold.tui.panels.preview_loss import LossPanel
from pinfold.tui.panels.preview_rows import rows_now, rows_of
from pinfold.tui.panels.preview_summary import PreviewSummary
from pinfold.tui.panels.preview_text import TextPanel
from pinfold.window.actions import Act

if TYPE_CHECKING:
    from pinfold.agent.compacting import Draft

SIDE = 120
"""Columns from which the transcript stays in view beside it."""
REFRESH = 0.2
"""Seconds between two plans for a window that changes."""
SETTLED = 0.1
"""Seconds without a key after which the other strategies are planned too."""
HINT = "Enter read · Tab, 1 to 9 strategy · Esc leaves all as it is"


class PreviewPanel(ModalScreen[bool]):
    """Its result tells whether the plan was applied. What is applied is the draft that is shown."""

    CSS_PATH = "panels.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*MOVES, *CHANGES, *ACTS]

    def __init__(
        self,
        session: SessionPort,
        keys: Mapping[str, str],
        strategy: str = "",
        options: PlanOptions | None = None,
        *,
        by_hand: bool = False,
    ) -> None:
        """`keys` are the user's own, by action; without a strategy or options the session's.

        `by_hand`: no turn waits for its end, so nothing is applied while one runs.
        """
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-wide"), (SIDE, "-side")]
        self._session = session
        self._window = session.window
        self._compaction = session.compaction
        self._strategy = strategy or self._compaction.strategy
        self._options = options or self._compaction.options
        self._by_hand = by_hand
        self._before: list[PlanOptions] = []
        """Options to go back to, the last on top."""
        self._drafts: dict[str, Draft | Exception] = {}
        """What each strategy would do to the window of now, with the options of now."""
        self._wanted: int | None = None
        """The item that was to be kept or to go by the last key."""
        self._applying = False
        self._refreshing: Timer | None = None
        self._summary = PreviewSummary()
        self._list = PreviewList()
        self._foot = PreviewFoot(keys)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel preview") as panel:
            panel.border_title = "Compaction preview"
            panel.border_subtitle = HINT
            yield self._summary
            yield self._list
            yield self._foot

    def on_mount(self) -> None:
        self._unsubscribe = self._session.subscribe(self._hear)
        self._list.show_rows(list(rows_now(self._window.overview().rows)))
        self._show_strategies()
        self._plan()

    def on_unmount(self) -> None:
        self._unsubscribe()

    # The plans

    @property
    def _draft(self) -> "Draft | None":
        """What is shown and can be applied."""
        found = self._drafts.get(self._strategy)
        return None if isinstance(found, Exception) else found

    def _shown(self) -> "Draft | None":
        """The same; says why where there is none."""
        if self._draft is None:
            refused = self._strategy in self._drafts
            why = "There is no plan." if refused else "It is being planned anew."
            self._foot.say(why, "warning")
        return self._draft

    def _hear(self, update: Update) -> None:
        if not isinstance(update, Appended) or self._applying:
            return
        self._drafts = {}
        if self._refreshing is None:
            self._refreshing = self.set_timer(REFRESH, self._replan)

    def _replan(self) -> None:
        """Nothing that was planned holds any longer."""
        if self._refreshing is not None:
            self._refreshing.stop()
            self._refreshing = None
        self._drafts = {}
        self._plan()

    @work(exclusive=True, group="plan")
    async def _plan(self) -> None:
        """Plan with the chosen strategy and show that, then with the others."""
        drafts = self._drafts
        names = [self._strategy, *self._compaction.strategies]
        for at, name in enumerate(dict.fromkeys(names)):
            if name in drafts:
                if at == 0:
                    self._show()
                continue
            if at == 1:
                await asyncio.sleep(SETTLED)
            first: Step = "planning" if self._list.planned else "reading the session"
            self._foot.step("comparing" if at else first, name if at else "")
            try:
                # What it reads is of use to the next plan too: it is not cut off.
                drafts[name] = await asyncio.shield(self._compaction.draft(name, self._options))
            except Exception as error:  # the panel stays, whatever it is
                drafts[name] = error
            if drafts is not self._drafts:
                return
            if at == 0:
                self._show()
            self._show_strategies()
        self._foot.step(None)

    # What is shown

    def _show(self) -> None:
        found = self._drafts[self._strategy]
        if isinstance(found, Exception):
            self._summary.show(found)
            self._list.show_rows(list(rows_now(self._window.overview().rows)))
        else:
            self._summary.show(found.report)
            edited = found.options.text is not None
            self._list.show_rows(rows_of(found.report, found.plan, edited=edited))
            self._list.planned = True
            self._answer()
        self._show_strategies()

    def _answer(self) -> None:
        """Say where a key has changed nothing."""
        row, wanted, self._wanted = self._list.row, self._wanted, None
        if row is None or wanted is None or row.n != wanted:
            return
        out = wanted in self._options.fold
        if out and not row.goes and row.verdict in ("kept", "pinned"):
            self._foot.say(f"#{wanted} stays: {row.reason}.", "warning")

    def _show_strategies(self) -> None:
        outcomes = {
            name: found if isinstance(found, Exception) else found.report
            for name, found in self._drafts.items()
        }
        self._summary.compare(self._compaction.strategies, self._strategy, outcomes)

    @on(LineList.Moved)
    def _moved(self) -> None:
        self._foot.show(self._list.row)

    # Keys: the cursor, the strategy

    def action_move(self, step: int) -> None:
        self._list.move(step)

    def action_page(self, way: int) -> None:
        self._list.page(way)

    def action_edge(self, way: int) -> None:
        self._list.move(way * len(self._list.lines))

    def action_turn(self, step: int) -> None:
        names = self._compaction.strategies
        self.action_choose((names.index(self._strategy) + step) % len(names))

    def action_choose(self, at: int) -> None:
        names = self._compaction.strategies
        if at < len(names) and not self._applying:
            self._strategy = names[at]
            self._foot.say("")
            self._show_strategies()
            self._plan()

    # Keys: changes of the plan

    async def action_pin(self, act: Act) -> None:
        row = self._list.row
        if row is None or row.n is None or self._applying:
            return
        self._list.stay()
        pin = self._window.pin_on(row.n) if act == "unpin" else None
        try:
            await self._window.act(act, [row.n if pin is None else pin])
        except Exception as error:  # the panel stays, whatever it is
            self._foot.say(told(error), "error")
            return
        self._foot.say(f"{'Pinned' if act == 'pin' else 'Unpinned'} #{row.n}.")
        self._replan()

    def action_keep(self) -> None:
        self._want(self._options.keep, keep=True)

    def action_fold(self) -> None:
        self._want(self._options.fold, keep=False)

    def _want(self, before: frozenset[int], *, keep: bool) -> None:
        """Keep the item under the cursor, or fold it out; with its other half, and this once."""
        row = self._list.row
        if row is None or row.n is None:
            return
        self._list.stay()
        partner = self._window.partner(row.n)
        both = {row.n} if partner is None else {row.n, partner}
        off = bool(both & before)
        kept = self._options.keep - both
        out = self._options.fold - both
        if not off and keep:
            kept |= {row.n}
        elif not off:
            out |= {row.n}
        name = f"#{row.n}"
        verb = "Kept this once" if keep else "Folded out this once"
        said = f"{name} is the strategy's again." if off else f"{verb}: {name}. z undoes it."
        self._wanted = row.n
        self._change(replace(self._options, keep=kept, fold=out), said)

    def _change(self, options: PlanOptions, said: str) -> None:
        if self._applying:
            return
        self._before.append(self._options)
        self._options = options
        self._foot.say(said)
        self._replan()

    def action_undo(self) -> None:
        if self._before and not self._applying:
            self._options = self._before.pop()
            self._foot.say("Undone.")
            self._replan()

    @work
    async def action_edit(self) -> None:
        draft = self._shown()
        if draft is None:
            return
        own = (each for each in draft.report.inserted if each.instead_of is None)
        text = next(own, None)
        if text is None and draft.options.text is None:
            self._foot.say(f"{draft.report.strategy} inserts no text.", "warning")
            return
        edited = await self.app.push_screen_wait(TextPanel(text.text if text else ""))
        if edited is not None:
            said = "It is your text now. z undoes it."
            self._change(replace(self._options, text=edited), said)

    @work
    async def action_loss(self) -> None:
        draft = self._shown()
        if draft is None:
            return

        async def loss() -> Loss:
            return await self._compaction.loss(draft)

        kept = await self.app.push_screen_wait(LossPanel(loss, self._window.item))
        if kept:
            names = ", ".join(f"#{n}" for n in sorted(kept))
            options = self._options
            options = replace(options, keep=options.keep | kept, fold=options.fold - kept)
            self._change(options, f"Kept this once: {names}. z undoes it.")

    # Keys: the rest

    @on(LineList.Taken)
    def action_read(self) -> None:
        row = self._list.row
        if row is None:
            return
        if row.inserted is not None:
            self.app.push_screen(ItemPanel(_about(row.inserted), clean(row.inserted.text)))
        elif row.n is not None and (item := self._window.item(row.n)) is not None:
            self.app.push_screen(ItemPanel(title(item), page([item])))

    def action_defaults(self) -> None:
        self._compaction.keep_defaults(self._strategy, self._options)
        self._foot.say(f"This session compacts by {self._strategy} from now on.")

    def action_apply(self) -> None:
        draft = self._shown()
        if draft is None:
            return
        if self._by_hand and self._session.phase != "idle":
            self._foot.say("A turn is running: apply when it has ended.", "warning")
        elif not self._applying:
            self._applying = True
            self._apply(draft)

    @work(group="apply")
    async def _apply(self, draft: "Draft") -> None:
        self.workers.cancel_group(self, "plan")
        self._foot.step("writing")
        try:
            await self._compaction.apply(draft)
        except Exception as error:  # the panel stays, whatever it is
            self._applying = False
            self._foot.say(told(error), "error")
            self._replan()
            return
        self.dismiss(True)

    def action_leave(self) -> None:
        if not self._applying:
            self.dismiss(False)


def _about(inserted: Inserted) -> str:
    """What an inserted item is, in a title."""
    return f"To be inserted: {inserted.kind}, {inserted.tokens:,} tokens"
