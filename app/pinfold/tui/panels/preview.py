"""The preview: what a compaction would do, item by item, before it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on, work
from textual.binding import Binding, BindingType
from textual.dom import NoScreen
from textual.widget import Widget

from pinfold.agent.compaction.trigger import BY_HAND, CompactionTrigger
from pinfold.agent.updates import Appended, Update
from pinfold.commands.compact_text import price
from pinfold.commands.failures import told
from pinfold.compaction.loss import Loss
from pinfold.compaction.report import Inserted
from pinfold.compaction.view import PlanOptions
from pinfold.ports.errors import ProviderError
from pinfold.rollout.events import CompactionFinished, Pin, RequestFinished, WindowReplaced
from pinfold.sanitize import clean
from pinfold.tui.panels.item import ItemPanel, page, title
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.preview_claims import ClaimsPanel
from pinfold.tui.panels.preview_foot import PreviewFoot
from pinfold.tui.panels.preview_head import Outcome
from pinfold.tui.panels.preview_list import PreviewList
from pinfold.tui.panels.preview_loss import LossPanel
from pinfold.tui.panels.preview_plans import Plans
from pinfold.tui.panels.preview_rows import rows_now, rows_of
from pinfold.tui.panels.preview_steps import PLAIN, PLANNING, PlanProgress
from pinfold.tui.panels.preview_summary import PreviewSummary
from pinfold.tui.panels.preview_text import TextPanel
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.table_panel import TablePanel
from pinfold.window.actions import Act

if TYPE_CHECKING:
    from pinfold.agent.compaction.compacting import Draft
    from pinfold.agent.session import Session

HINT = "Enter read · Tab, 1 to {} strategy · Esc leaves all as it is"

KEYS = [
    *moves("preview", "up", "down"),
    *keys(
        "preview",
        ("a,ctrl+enter", "apply", "Apply", "apply"),
        ("k", "keep", "Keep this once, or no longer", "keep"),
        ("f", "fold", "Fold out this once, or no longer", "fold"),
        ("p", "pin('pin')", "Pin", "pin"),
        ("u", "pin('unpin')", "Unpin", "unpin"),
        ("e", "edit", "Edit the text to insert", "edit"),
        ("l", "loss", "What would be lost", "losses"),
        ("d", "defaults", "Save strategy and options as defaults", "save"),
        ("z", "undo", "Undo a pin, a keep, a fold, an edit", "undo"),
        ("c", "claims", "The summary's entries, and what bears them out"),
        ("enter", "read", "Read in full"),
        ("tab", "next", "Next strategy; its number chooses one"),
        ("shift+tab", "previous", "Strategy before"),
        ("escape,q", "leave", "Leave all as it is"),
    ),
]
NUMBERS = [Binding(str(at), f"choose({at - 1})", show=False) for at in range(1, 10)]


class Pinning(NamedTuple):
    """What takes a pin back, or brings it back."""

    act: Act
    pin: Pin


class PreviewPanel(TablePanel[bool]):
    """Its result tells whether the plan was applied. What is applied is the draft that is shown."""

    HEADING = "Compaction preview"
    SHAPE = "preview"
    REFRESH = 0.2
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS, *NUMBERS]

    def __init__(
        self,
        session: Session,
        save: Callable[[str, PlanOptions], str],
        strategy: str = "",
        options: PlanOptions | None = None,
        *,
        trigger: CompactionTrigger = BY_HAND,
    ) -> None:
        """Without a strategy or options: the session's.

        `save` makes a strategy and options the user's defaults, in a thread, and says how.
        By hand no turn waits for its end, so nothing is applied while one runs.
        """
        self._list: PreviewList = PreviewList()
        super().__init__(self._list, session)
        self._session = session
        self._window = session.window
        self._compaction = session.compaction
        self._save = save
        self._strategy = strategy or self._compaction.strategy
        self._options = options or self._compaction.options
        self._trigger = trigger
        self._by_hand = trigger.cause == "manual"
        self.HINT = HINT.format(min(9, len(self._compaction.strategies)))
        self._before: list[PlanOptions | Pinning] = []
        """What z goes back to, the last on top: options, or a pin that came or went here."""
        self._plans = Plans(self._compaction, self._walk, trigger)
        self._claims: ClaimsPanel | None = None
        """The list of a summary's entries, while it is open."""
        self._wanted: int | None = None
        """The item that was to be kept or to go by the last key."""
        self._applying = False
        self._early = False
        """Whether a key came that needs the plan, and was told so."""
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
        self._show_choice()

    def _for_model(self) -> str:
        """Why it opens where the user takes a model whose window is smaller."""
        reading, key = self._session.reading(), self._foot.key_of("preview.apply")
        left = "stays" if reading.used > reading.usable else "switches as it is"
        return (
            f"{self._session.model.name} takes {reading.usable:,} tokens, {reading.used:,} stand "
            f"here: {key} makes room, {self._foot.key_of('preview.leave')} {left}."
        )

    def on_unmount(self) -> None:
        self._plans.forget(asked=True)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    # The plans

    @property
    def _draft(self) -> Draft | None:
        """What is shown and can be applied."""
        found = self._plans.drafts.get(self._strategy)
        return None if isinstance(found, Exception) else found

    def _shown(self) -> Draft | None:
        """The same; says why where there is none."""
        if self._draft is None:
            refused = self._strategy in self._plans.drafts
            self._early = not refused
            why = "There is no plan." if refused else "It is still being planned: wait for it."
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
        """Nothing that was planned holds any longer."""
        self._plans.forget()
        self._plan()

    def _begin(self) -> None:
        """Plan for the chosen strategy."""
        self._show_choice()
        self._plan()

    def _show_choice(self) -> None:
        """Show what is chosen; where a plan takes a model's time, show no other's meanwhile."""
        if self._plans.is_written(self._strategy):
            self._summary.wait(self._strategy)
            self._say_price()
            self._list.show_rows(list(rows_now(self._window.overview().rows)))
        self._show_strategies()

    @work(exclusive=True, group="plan")
    async def _plan(self) -> None:
        """Plan with the chosen strategy and show that, then with the others."""
        with suppress(NoScreen):  # it was closed meanwhile
            await self._plans.make(self._strategy, self._options, self._show_made)

    @work(exclusive=True, group="price")
    async def _say_price(self) -> None:
        used = self._session.reading().used
        with suppress(ProviderError, NoScreen):  # the plan says it; it was closed meanwhile
            quote = await self._compaction.quote(used)
            if self._plans.is_written(self._strategy):
                self._summary.say_price(price(quote, used))

    def _show_made(self, name: str) -> None:
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
            self._foot.say("")
        if self._claims is not None:
            self._claims.show(found)
        if isinstance(found, Exception):
            self._summary.show(found)
            self._list.show_rows(list(rows_now(self._window.overview().rows)))
        else:
            self._summary.show(found.report, self._foot.key_of("preview.claims"))
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
        names = self._compaction.strategies
        outcomes: dict[str, Outcome | None] = {
            name: None for name in names if name != self._strategy and self._plans.must_ask(name)
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

    # Keys: the cursor, the strategy

    def action_next(self) -> None:
        self._turn(1)

    def action_previous(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        names = self._compaction.strategies
        self.action_choose((names.index(self._strategy) + step) % len(names))

    def action_choose(self, at: int) -> None:
        names = self._compaction.strategies
        if at < len(names) and not self._applying:
            if names[at] == self._strategy:
                self._plans.ask_again(names[at])
            self._strategy = names[at]
            self._foot.say("")
            self._begin()

    # Keys: changes of the plan

    async def action_pin(self, act: Act) -> None:
        row = self._list.row
        if row is None or row.n is None or self._applying:
            return
        self._list.stay()
        pin = (self._window.pin_on(row.n) if act == "unpin" else None) or row.n
        if await self._pin(Pinning(act, pin)):
            self._before.append(Pinning("unpin" if act == "pin" else "pin", pin))
            self._foot.say(f"{'Pinned' if act == 'pin' else 'Unpinned'} #{row.n}. z undoes it.")
            self.read_now()

    async def _pin(self, pinning: Pinning) -> bool:
        """Whether that could be done; says why not."""
        try:
            await self._window.act(pinning.act, [pinning.pin])
        except Exception as error:  # the panel stays, whatever it is
            self._foot.say(told(error), "error")
            return False
        return True

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
        self.read_now()

    async def action_undo(self) -> None:
        if not self._before or self._applying:
            return
        before = self._before.pop()
        if isinstance(before, PlanOptions):
            self._options = before
        elif not await self._pin(before):
            return
        self._foot.say("Undone.")
        self.read_now()

    @work
    async def action_edit(self) -> None:
        draft = self._shown()
        if draft is None:
            return
        own = [inserted for inserted in draft.report.inserted if inserted.instead_of is None]
        # The last: what stands before it is the protected core, which `/core` edits.
        text = own[-1] if own and own[-1].kind != "compaction" else None
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
        if kept is not None and (kept.items or kept.lines):
            options, items = self._options, kept.items
            names = [f"#{n}" for n in sorted(items)]
            if kept.lines:
                names.append(f"{len(kept.lines)} line{'s' if len(kept.lines) > 1 else ''}")
            options = replace(
                options,
                keep=options.keep | items,
                fold=options.fold - items,
                lines=options.lines | kept.lines,
            )
            self._change(options, f"Kept this once: {', '.join(names)}. z undoes it.")

    @work
    async def action_claims(self) -> None:
        draft = self._shown()
        if draft is None:
            return
        if not draft.material.entries:
            self._foot.say(f"{draft.report.strategy} has no entries that cite items.", "warning")
            return
        self._claims = ClaimsPanel(draft, self._window.item, self._toggle_claim)
        await self.app.push_screen_wait(self._claims)
        self._claims = None

    def _toggle_claim(self, entry: str) -> None:
        claims = self._options.claims ^ {entry}
        verb = "Kept all the same" if entry in claims else "Left out again"
        if self._options.text is not None:
            verb = "Your own text stands until z undoes it. From then on"
        self._change(replace(self._options, claims=claims), f"{verb}: an entry. z undoes it.")

    # Keys: the rest

    @on(Table.Taken)
    def action_read(self) -> None:
        row = self._list.row
        if row is None:
            return
        if row.inserted is not None:
            self.app.push_screen(ItemPanel(_title(row.inserted), clean(row.inserted.text)))
        elif row.n is not None and (item := self._window.item(row.n)) is not None:
            self.app.push_screen(ItemPanel(title(item), page([item])))

    @work(exclusive=True, group="save")
    async def action_defaults(self) -> None:
        strategy, options = self._strategy, self._options
        self._compaction.keep_defaults(strategy, replace(options, focus=""))
        session = f"This session compacts by {strategy} from now on."
        try:
            saved = await asyncio.to_thread(self._save, strategy, options)
        except Exception as error:  # the panel stays, whatever it is
            self._foot.say(f"{session} Not saved: {told(error)}", "error")
        else:
            self._foot.say(f"{session} {saved}")

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
    async def _apply(self, draft: Draft) -> None:
        self.workers.cancel_group(self, "plan")
        self._foot.walk(PlanProgress(PLAIN, "writing", PLANNING))
        try:
            await self._compaction.apply(draft)
        except Exception as error:  # the panel stays, whatever it is
            self._applying = False
            self._foot.say(told(error), "error")
            self.read_now()
            return
        self.close(applied=True)

    async def action_leave(self) -> None:
        if self._applying:
            return
        while self._before:  # pins were a draft, as all else here
            before = self._before.pop()
            if isinstance(before, Pinning) and not await self._pin(before):
                return  # it says why; the next key leaves
        self.close(applied=False)

    def close(self, *, applied: bool) -> None:
        """Go, and with it what was opened above it: keys may have come behind the last one."""
        if self not in self.app.screen_stack:
            return
        while self.app.screen is not self:
            self.app.screen.dismiss(None)
        self.dismiss(applied)


def _title(inserted: Inserted) -> str:
    """What an inserted item is, in a title."""
    return f"To be inserted: {inserted.kind}, {inserted.tokens:,} tokens"


PANEL = Panel(
    "In the compaction preview (/compact --dry-run)",
    KEYS,
    lambda host, _: PreviewPanel(host.session, host.host.save_compact),
)
