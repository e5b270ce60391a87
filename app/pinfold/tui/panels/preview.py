"""The preview: what a compaction would do, item by item, before it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on, work
from textual.binding import Binding, BindingType

from pinfold.agent.compaction.trigger import BY_HAND, CompactionTrigger
from pinfold.commands.failures import told
from pinfold.compaction.loss import Loss
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import Pin
from pinfold.sanitize import clean
from pinfold.tui.panels.item import ItemPanel, item_panel
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.preview_claims import ClaimsPanel
from pinfold.tui.panels.preview_loss import LossPanel
from pinfold.tui.panels.preview_rows import PreviewRow
from pinfold.tui.panels.preview_shown import ShownPlan
from pinfold.tui.panels.preview_steps import PLAIN, PLANNING, PlanProgress
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.write import WritePanel
from pinfold.window.actions import Act

if TYPE_CHECKING:
    from pinfold.agent.compaction.draft import CompactionDraft
    from pinfold.agent.session import Session

KEYS = [
    *moves("preview"),
    *keys(
        "preview",
        ("a,ctrl+enter", "apply", "Apply", "apply"),
        ("K,space", "keep", "Keep it this time, or stop keeping it", "keep"),
        ("f", "fold", "Fold it this time, or stop folding it", "fold"),
        ("p", "pin('pin')", "Pin", "pin"),
        ("u", "pin('unpin')", "Unpin", "unpin"),
        ("e", "edit", "Edit the text to insert", "edit"),
        ("l", "loss", "What would be lost", "losses"),
        ("d", "defaults", "Save strategy and options as defaults", "save"),
        ("z", "undo", "Undo a pin, a keep, a fold, an edit", "undo"),
        ("c", "claims", "The summary's entries and their sources"),
        ("enter", "read", "Read in full; open a run; run a strategy that uses the model"),
        ("x", "runs", "Open all runs of items, or close them"),
        ("tab", "next", "Next strategy; a number selects one"),
        ("shift+tab", "previous", "Previous strategy"),
        ("escape,q", "leave", "Close"),
    ),
]
NUMBERS = [Binding(str(at), f"choose({at - 1})", show=False) for at in range(1, 10)]


class Pinning(NamedTuple):
    """What takes a pin back, or brings it back."""

    act: Act
    pin: Pin


class PreviewPanel(ShownPlan):
    """Its result tells whether the plan was applied. What is applied is the draft that is shown."""

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
        super().__init__(session, strategy, options, trigger=trigger)
        self._save = save
        self._by_hand = trigger.cause == "manual"
        self._before: list[PlanOptions | Pinning] = []
        """What z goes back to, the last on top: options, or a pin that came or went here."""

    # Keys: the cursor, the strategy

    def action_next(self) -> None:
        self._turn(1)

    def action_previous(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        names = self._names
        self.action_choose((names.index(self._strategy) + step) % len(names))

    def action_choose(self, at: int) -> None:
        names = self._names
        if at < len(names) and not self._applying:
            if names[at] == self._strategy:
                self._plans.forget_failed(names[at])
            self._strategy = names[at]
            self._explain()
            self._begin()

    def action_runs(self) -> None:
        self._list.open_or_close_runs()

    # Keys: changes of the plan

    def _opens(self, row: PreviewRow) -> str:
        """How to get at the items of a run."""
        return f" {self._read_key} opens the run." if row.run else ""

    @property
    def _undoes(self) -> str:
        return f"{self.key_of('preview.undo')} undoes it."

    async def action_pin(self, act: Act) -> None:
        row = self._list.row
        if row is None or self._applying:
            return
        if row.n is None:
            self._foot.say(f"Only single items can be {act}ned.{self._opens(row)}", "warning")
            return
        self._list.stay()
        pin = (self._window.pin_on(row.n) if act == "unpin" else None) or row.n
        if await self._pin(Pinning(act, pin)):
            self._before.append(Pinning("unpin" if act == "pin" else "pin", pin))
            self._foot.say(f"{'Pinned' if act == 'pin' else 'Unpinned'} #{row.n}. {self._undoes}")
            self.read_now()

    async def _pin(self, pinning: Pinning) -> bool:
        """Whether that could be done; says why not."""
        with self.telling():
            await self._window.act(pinning.act, [pinning.pin])
            return True
        return False

    def action_keep(self) -> None:
        self._keep_or_fold(self._options.keep, keep=True)

    def action_fold(self) -> None:
        self._keep_or_fold(self._options.fold, keep=False)

    def _keep_or_fold(self, before: frozenset[int], *, keep: bool) -> None:
        """Keep the items under the cursor, or fold them out; with their other halves, and this
        once."""
        row = self._list.row
        if row is None:
            return
        numbers = row.run if row.n is None else (row.n,)
        if not numbers:
            self._foot.say("Only items of the window can be kept or folded.", "warning")
            return
        self._list.stay()
        partners = map(self._window.partner, numbers)
        both = {*numbers, *(partner for partner in partners if partner is not None)}
        off = before.issuperset(numbers) if row.run else bool(both & before)
        kept = self._options.keep - both
        out = self._options.fold - both
        if not off and keep:
            kept |= {*numbers}
        elif not off:
            out |= {*numbers}
        name = f"#{row.n}" if row.n is not None else f"{len(numbers)} items"
        verb = "Kept this time" if keep else "Folded this time"
        said = f"{name}: up to the strategy again." if off else f"{verb}: {name}. {self._undoes}"
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
        # The last: what is before it is the protected core, which `/core` edits.
        text = own[-1] if own and own[-1].kind != "compaction" else None
        if text is None and draft.options.text is None:
            self._foot.say(f"{draft.report.strategy} inserts no text.", "warning")
            return
        before = clean(text.text) if text else ""
        edited = await self.app.push_screen_wait(WritePanel("Text to insert", before))
        if edited not in (None, before):
            said = f"Your text will be inserted. {self._undoes}"
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
            self._change(
                options,
                f"Kept this time: {', '.join(names)}. {self._undoes}",
            )

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
        verb = "Kept anyway" if entry in claims else "Left out again"
        if self._options.text is not None:
            verb = "Your own text stays until you undo it. From then on"
        self._change(
            replace(self._options, claims=claims),
            f"{verb}: an entry. {self._undoes}",
        )

    # Keys: the rest

    @on(Table.Taken)
    def action_read(self) -> None:
        row = self._list.row
        if self._plans.must_ask(self._strategy):
            self._plans.order(self._strategy)
            self._begin()
            return
        if row is None:
            return
        if row.run:
            self._list.open_run(row.run)
            return
        if row.inserted is not None:
            inserted = row.inserted
            title = f"To be inserted: {inserted.kind}, {inserted.tokens:,} tokens"
            self.app.push_screen(ItemPanel(title, clean(inserted.text)))
        elif row.n is not None and (item := self._window.item(row.n)) is not None:
            self.app.push_screen(item_panel(item))

    @work(exclusive=True, group="save")
    async def action_defaults(self) -> None:
        strategy, options = self._strategy, self._options
        self._compaction.keep_defaults(strategy, replace(options, focus=""))
        session = f"This session now compacts with {strategy}."
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
            self._foot.say("A turn is running: apply once it has ended.", "warning")
        elif not self._applying:
            self._applying = True
            self._apply(draft)

    @work(group="apply")
    async def _apply(self, draft: CompactionDraft) -> None:
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


PANEL = Panel(
    "In the compaction preview (/compact --dry-run)",
    KEYS,
    lambda host, _: PreviewPanel(host.session, host.host.save_compact),
)
