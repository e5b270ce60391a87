"""Whether a call may run: by the approval mode, the rules and the user."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast, get_args

from pinfold.agent.calls.confinement import Confinement
from pinfold.agent.calls.drifting import Drifting
from pinfold.agent.context.remembering import Remembering
from pinfold.agent.context.skills import Skills
from pinfold.agent.record import Record
from pinfold.agent.updates import Phase
from pinfold.ports.approver import Approver, Decision, Question
from pinfold.ports.tool import Review, Sandbox, Tool
from pinfold.rollout.events import ApprovalDecided
from pinfold.rollout.items import Item
from pinfold.rollout.provenance import typed_in
from pinfold.settings import Mode, narrower
from pinfold.tools.approvals import Allowed, Ask, Denied, always, verdict
from pinfold.tools.sandbox.denied import Way

PLAN = "plan"
"""The mode in which the agent makes a plan: it only reads."""


@dataclass(slots=True)
class Consent:
    """What may run without asking."""

    chosen: Mode
    """The mode that was set."""
    allow: tuple[str, ...] = ()
    """Command prefixes from the settings."""
    deny: tuple[str, ...] = ()
    """Command prefixes that are always refused."""
    trusted: bool = False
    """Whether the user trusts the folder."""
    edits: bool = False
    """Whether plain edits in the workspace run without asking, though the mode asks."""
    attended: bool = True
    """Whether there is a user to ask."""
    planning: bool = False
    """Whether the agent is to make a plan, in the mode that only reads."""
    inherited: Callable[[], Collection[str]] = tuple
    """What the user always allows in the session that started this one."""
    ceiling: Callable[[], Mode] | None = None
    """The widest mode allowed, whatever is set."""

    @property
    def mode(self) -> Mode:
        return narrower(self.chosen, self.ceiling()) if self.ceiling else self.chosen

    @property
    def name(self) -> str:
        """The mode as the user knows it."""
        return PLAN if self.planning else self.mode

    def set(self, mode: str) -> None:
        """Raises `ValueError` where there is no such mode."""
        if mode not in (known := (*get_args(Mode), PLAN)):
            raise ValueError(f"{mode!r} is not one of {', '.join(known)}.")
        self.planning = mode == PLAN
        self.chosen = "read-only" if self.planning else cast("Mode", mode)
        self.edits = False


class RefusedCall(Exception):
    """The user, the mode or a hook said no; `words` is what the user said with it."""

    def __init__(self, reason: str, words: str = "") -> None:
        super().__init__(reason)
        self.words = words


class Granted(NamedTuple):
    """What a call may do."""

    arguments: str
    """The user may have changed them."""
    asked: bool = False
    way: Way | None = None
    """What the command may have beyond its sandbox."""


@dataclass(eq=False)
class Approvals:
    """Asks the user where the rules say so, and journals the answer."""

    _record: Record
    _approver: Approver
    _consent: Consent
    _confinement: Confinement
    _drift: Drifting
    _workspace: Path
    _remembering: Remembering
    _skills: Skills
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def settle(
        self,
        call: Item,
        tool: Tool,
        review: Review,
        again: str,
        sandbox: Sandbox | None,
        to_ask: Callable[[], Awaitable[None]],
    ) -> Granted:
        """Decide what the call may do. `again` says why the user is asked a second time, if so;
        `to_ask` waits until this call may ask. Raises `RefusedCall`.
        """
        call_id = call.call_id or ""
        outputs = (self._record.journal.folder / "outputs").resolve()
        own = [outputs, *self._remembering.readable, *self._skills.readable]
        stray = await self._drift.of(review)
        drifts = self._drift.why(stray)
        match verdict(
            self._consent.mode,
            review,
            tool.read_only,
            self._workspace,
            self._consent.allow,
            own,
            {*self._record.state.prefixes, *self._consent.inherited()},
            deny=self._consent.deny,
            roots=self._confinement.roots,
            confined=sandbox is not None,
            trusted=self._consent.trusted,
            drift=drifts,
            edits=self._consent.edits,
            attended=self._consent.attended,
        ):
            case Allowed():
                if stray:
                    await self._drift.tell(call_id, stray)
                return Granted(call.content)
            case Denied(reason):
                await self._record.append(
                    ApprovalDecided(call_id=call_id, verdict="policy", reason=reason)
                )
                raise RefusedCall(f"Refused: {reason}")
            case Ask(reason, edits):
                prefix: str | None = review.origin or None
                exact, outside = False, bool(review.outside)
                if review.foreign is not None:
                    # What may destroy something is asked about each time.
                    prefix = None if review.foreign.destructive else review.foreign.consent
                elif review.command and not outside:
                    prefix, exact = always(review.command, self._workspace)
                question = Question(
                    call_id,
                    call.name or "",
                    call.content,
                    review,
                    again or reason,
                    prefix,
                    exact,
                    outside,
                    network=outside and sandbox is not None and not sandbox.network,
                    editable=tool.editable,
                    folders=self._drift.folders(
                        stray if reason == drifts and review.foreign is None else (),
                        self._consent.mode,
                    ),
                    edits=edits,
                )
                await to_ask()
                decision = await self.ask(question)
        way: Way | None = None
        if outside and decision.verdict == "yes":
            way = "network" if decision.network else "outside"
        event = decided(question, decision, way)
        self._consent.edits = self._consent.edits or event.edits
        await self._record.append(event)
        if decision.verdict == "policy":
            raise RefusedCall(f"Refused: {decision.note}")
        if decision.verdict == "no":
            words = "\n".join(typed_in(decision.note, decision.pasted))
            raise RefusedCall(refusal("The user refused this call.", decision), words)
        arguments = call.content if decision.arguments is None else decision.arguments
        return Granted(arguments, asked=True, way=way)

    async def ask(self, question: Question) -> Decision:
        """Ask the user, one question at a time."""
        async with self._asking:
            before: Phase = self._record.phase
            asks: Phase = "question" if question.choices else "approval"
            self._record.enter(asks)
            try:
                return await self._approver(question)
            finally:
                # An agent in the background asks while the session goes on.
                if self._record.phase == asks:
                    self._record.enter(before)


def decided(question: Question, decision: Decision, way: Way | None) -> ApprovalDecided:
    """The event of the user's answer; `way` is what it gives the command beyond its sandbox."""
    always = decision.verdict == "always"
    return ApprovalDecided(
        call_id=question.call_id,
        verdict=decision.verdict,
        reason=decision.note,
        prefix=question.prefix if always else None,
        arguments=decision.arguments,
        way=way or "",
        asked=question.reason,
        folders=question.folders if always else (),
        edits=always and question.edits,
    )


def refusal(sentence: str, decision: Decision) -> str:
    """The sentence, and what the user said with their no."""
    return f"{sentence} They said: {decision.note}" if decision.note else sentence
