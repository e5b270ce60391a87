"""`/eval`: what each strategy that needs no model would keep of this session as it stands."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType

from pinfold.commands.failures import told
from pinfold.compaction.loss import Loss
from pinfold.compaction.view import PlanOptions
from pinfold.evaluation.recorded_now import SHOWN, SessionMoment
from pinfold.evaluation.recorded_scores import LEVEL, NAMES
from pinfold.evaluation.trials import SLACK
from pinfold.evaluation.verdict import listed
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.eval_list import EvalList, Tried
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.preview_loss import Keeping, LossPanel
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.table_panel import TablePanel

if TYPE_CHECKING:
    from pinfold.agent.session import Session

ABOUT = "need: names used in the last fifth · words: your own"
KEYS = [
    *moves("eval"),
    *keys(
        "eval",
        ("enter", "lost", "What it would lose", "what it loses"),
        ("p", "preview", "Preview it", "preview"),
        ("r", "again", "Evaluate the session again", "again"),
        ("escape,q", "leave", "Stop and close"),
    ),
]


class EvalPanel(TablePanel[tuple[str, PlanOptions] | None]):
    """Its result is the strategy and options to preview."""

    HEADING = "What would be kept of this session"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, session: Session) -> None:
        self._list: EvalList = EvalList()
        super().__init__(self._list, facts="")
        self._session = session
        self._options = session.compaction.options
        self._tried: list[Tried] = []
        self._before = 0

    # What is shown

    @work(exclusive=True, group="evaluate")
    async def read(self) -> None:
        """Show each strategy as soon as it was tried; closing the panel stops that."""
        self._tried = []
        self._list.show_tried(())
        try:
            await self._try_all()
        except Exception as error:  # the panel stays, whatever it is
            self._facts.update("")
            self._foot.say(told(error), "error")

    async def _try_all(self) -> None:
        session, compaction = self._session, self._session.compaction
        able = [name for name in compaction.strategies if not compaction.asks_model(name)]
        self._facts.update("Reading the session…")
        happened = await session.events()
        standing: SessionMoment | None = None
        for number, name in enumerate(able, 1):
            self._facts.update(f"Trying {name}, {number} of {len(able)}…")
            try:
                draft = await compaction.draft(name, self._options)
            except Exception as error:  # a strategy that fails is told as such
                self._add(Tried(name, {}, failed=told(error)))
                continue
            view, plan = draft.view, draft.plan
            if standing is None:
                standing = await asyncio.to_thread(
                    SessionMoment, happened, view, self._options, session.model, session.counter
                )
            kept = await asyncio.to_thread(standing.kept, name, view, plan)
            self._before = plan.sizes.before
            by = plan.strategy if plan.strategy != name else ""
            after = plan.sizes.after
            over = after > SLACK * standing.goal
            self._add(Tried(name, kept, after, over, draft.seconds * 1e3, by))
        self._facts.update(self._verdict(standing.goal if standing else 0))

    def _add(self, tried: Tried) -> None:
        self._tried.append(tried)
        self._list.show_tried(self._tried)

    def _verdict(self, budget: int) -> str:
        ran = [tried for tried in self._tried if tried.kept]
        if not ran:
            return "No strategy makes this window smaller."
        fair = [tried for tried in ran if not tried.over]
        if not fair:
            return f"No strategy gets this window down to {tokens(budget)} tokens."
        best = max(fair, key=lambda tried: (tried.mean, -tried.after))
        level = [tried for tried in fair if best.mean - tried.mean < LEVEL]
        names = list(dict.fromkeys(one_line(tried.by or tried.strategy) for tried in level))
        sizes = list(dict.fromkeys(tokens(size) for size in sorted(tried.after for tried in level)))
        size = sizes[0] if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}"
        return (
            f"{listed(names)} {'keeps' if len(names) == 1 else 'keep'} the most: {best.mean:.0%}, "
            f"in {size} of {tokens(self._before)} tokens"
        )

    @on(Table.Moved)
    def _moved(self) -> None:
        tried = self._list.row
        if tried is None:
            self._foot.show("", ABOUT)
        elif tried.failed:
            self._foot.show(tried.name, "not run", effect=tried.failed)
        else:
            over = ", above the target" if tried.over else ""
            sizes = f"{tokens(self._before)} → {tokens(tried.after)} tokens{over}"
            shares = [
                f"{NAMES[name]} {tried.kept[name]:.0%}" for name in SHOWN if name in tried.kept
            ]
            self._foot.show(tried.name, sizes, *shares, effect=ABOUT)

    # Keys

    @on(Table.Taken)
    def action_lost(self) -> None:
        tried = self._list.row
        if tried is None or tried.failed:
            return

        async def losses() -> Loss:
            compaction = self._session.compaction
            return await compaction.loss(await compaction.draft(tried.strategy, self._options))

        def keep(kept: Keeping | None) -> None:
            if kept is not None and (kept.items or kept.lines):
                self._leave_for(tried, kept)

        self.app.push_screen(LossPanel(losses, self._session.window.item), keep)

    def action_preview(self) -> None:
        if (tried := self._list.row) is not None:
            self._leave_for(tried, Keeping(frozenset(), frozenset()))

    def _leave_for(self, tried: Tried, kept: Keeping) -> None:
        before = self._options
        options = replace(before, keep=before.keep | kept.items, lines=before.lines | kept.lines)
        self.dismiss((tried.strategy, options))

    def action_again(self) -> None:
        self.read()


async def _open(host: PanelHost, _: str) -> None:
    wanted = await host.push_screen_wait(EvalPanel(host.session))
    if wanted is not None:
        host.preview(*wanted)


PANEL = Panel("In the evaluation (/eval)", KEYS, _open)
