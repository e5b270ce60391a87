"""Has a model read a window, all of it, and write `summary_v1`."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pinfold.checkpoint.text import clip, one_line
from pinfold.compaction import prompts, transcript, view
from pinfold.compaction.atoms import atoms, open_atom
from pinfold.compaction.claims import ClaimSources
from pinfold.compaction.clusters import Piece, clusters, pieces
from pinfold.compaction.content import is_rebuilt_each_turn
from pinfold.compaction.replacement import as_sent, covered, read_as_sent
from pinfold.compaction.strategy import Material
from pinfold.compaction.summary import text_of, within
from pinfold.compaction.summary_merge import merge
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.errors import ContextOverflow
from pinfold.ports.summarizer import Summarizer
from pinfold.window.refused import Refused

if TYPE_CHECKING:
    from pinfold.compaction.summary_schema import SummaryV1

MAX_ANSWER = 8_000
"""Tokens that an answer may have, where the model's own limit is no lower."""
ANSWER_SHARE = 0.25
"""Of the model's window that it may have, at most."""
RETRY = 400
"""Tokens that are left for saying what was wrong with an answer."""
STANDING_SHARE = 0.33
"""Of the room, for the entries so far."""
_GOAL_CHARS = 1_000
_ERROR_CHARS = 800
_LEAST = 100
"""Tokens to read at once, below which reading makes no sense."""


class Synthesis:
    """One reading, oldest part first; each part is read with the entries of the parts before."""

    def __init__(
        self,
        window: WindowView,
        summarizer: Summarizer,
        options: PlanOptions,
        material: Material,
    ) -> None:
        """`material` is what is known so far."""
        self._view = window
        self._summarizer = summarizer
        self._options = options
        self._before = material
        self._entries = material.entries
        model = summarizer.model
        least = min(model.max_output, int(ANSWER_SHARE * model.context_window))
        self._max_answer = min(least, MAX_ANSWER)
        self._prompt = prompts.text("snapshot", options.prompts)
        self._instructions = f"{self._prompt}\n\n{prompts.text('transcript', options.prompts)}"
        self._asked = self._asked_for()
        used = summarizer.count(f"{self._instructions}\n{self._asked}") + RETRY
        self._room = summarizer.room(self._max_answer) - used

    async def material(self) -> Material:
        """Read what came since. Raises `Refused`, `ProviderError`."""
        from pinfold.compaction.summary_schema import json_schema

        summarizer = self._summarizer
        if (made := await self._from_conversation()) is not None:
            return made
        transcript.check_readable(self._view)
        if self._room < _LEAST:
            name = summarizer.model.name
            raise Refused(f"the window of {name} is too small to read anything")
        summarizer.step("grouping", 0.05)
        every = self._view.entries
        since = [entry for entry in every if entry.n > self._before.through]
        wanted = [entry for entry in since if is_read(entry, self._options)]
        read = await asyncio.to_thread(read_as_sent, self._view, wanted)
        waiting = deque(await asyncio.to_thread(self._parts, read))
        tokens = await asyncio.to_thread(self._tokens, list(waiting))
        sources = await asyncio.to_thread(ClaimSources, every, self._entries, self._view.known.cwd)
        done = 0
        while waiting:
            parts = done + len(waiting)
            which = f"summarising, part {done + 1} of {parts}" if parts > 1 else "summarising"
            summarizer.step(which, 0.1 + 0.8 * done / parts)
            part = waiting.popleft()
            schema = json_schema(self._max_answer, part.first_lines)
            text = self._text(part)
            try:
                answer = await self._answer(partial(self._ask, text, schema))
            except ContextOverflow:
                halves = part.halves()
                if not halves:
                    raise
                # The server has less room than it says: the remaining parts are too large as well.
                rest = (half for piece in waiting for half in piece.halves() or (piece,))
                waiting = deque([*halves, *rest])
                continue
            self._entries = await asyncio.to_thread(merge, self._entries, answer, sources)
            done += 1
        if not self._entries:
            raise Refused("the summary is empty")
        before: dict[str, int] = self._before.meta.get("read", {})  # type: ignore[assignment]
        last = max((entry.n for entry in every), default=0)
        return self._material(len(read), tokens, done, last, before)

    async def _from_conversation(self) -> Material | None:
        """The same, asked at the end of the live conversation; None if the model does not have it
        or it leaves too little room."""
        window, summarizer = self._view, self._summarizer
        known = answered(window)
        items = await asyncio.to_thread(as_sent, window, known)
        room = summarizer.conversation_room(items, self._instruction())
        if not items or room < self._max_answer // 2:
            return None
        summarizer.step("summarising", 0.1)

        async def ask(more: str) -> str:
            most = min(room, MAX_ANSWER)
            return await summarizer.in_conversation(items, self._instruction(more), most)

        try:
            answer = await self._answer(ask)
        except ContextOverflow:
            return None
        sources = await asyncio.to_thread(
            ClaimSources, window.entries, self._entries, window.known.cwd
        )
        self._entries = await asyncio.to_thread(merge, self._entries, answer, sources)
        if not self._entries:
            raise Refused("the summary is empty")
        tokens = sum(entry.tokens for entry in known)
        return self._material(len(known), tokens, 1, max(entry.n for entry in known), {})

    def _instruction(self, more: str = "") -> str:
        told = prompts.text("conversation", self._options.prompts)
        return "\n\n".join(
            filter(None, (told, self._prompt, self._asked, self._entries_text(), more))
        )

    def _material(
        self, items: int, tokens: int, parts: int, through: int, before: Mapping[str, int]
    ) -> Material:
        """The entries so far, and how much was read for them, `before` included."""
        now = {"items": items, "tokens": tokens, "parts": parts}
        read = {key: n + before.get(key, 0) for key, n in now.items()}
        many = f"{read['parts']} parts" if read["parts"] > 1 else "one part"
        name = self._summarizer.model.name
        note = f"{name} read {read['items']:,} items, {read['tokens']:,} tokens, in {many}."
        return Material(
            entries=self._entries,
            through=through,
            told=(note,),
            meta={"read": read},
        )

    def _parts(self, read: Sequence[view.WindowEntry]) -> list[Piece]:
        """All of it at once where it fits, else in parts."""
        count, groups = self._summarizer.count, clusters(read)
        most = int(STANDING_SHARE * self._room)
        standing = min(count(text_of(self._entries, ids=True)), most)
        whole = pieces(groups, self._room - standing, count)
        return whole if len(whole) <= 1 else pieces(groups, self._room - most, count)

    def _tokens(self, parts: Iterable[Piece]) -> int:
        return sum(self._summarizer.count(part.text) for part in parts)

    async def _answer(self, ask: Callable[[str], Awaitable[str]]) -> "SummaryV1":
        """The model's summary; asked once more, with the error, if it is none."""
        from pinfold.compaction.summary_schema import Malformed, parse

        try:
            return parse(await ask(""))
        except Malformed as error:
            retry = prompts.text("snapshot_retry", self._options.prompts)
            again = retry.replace("{error}", clip(str(error), _ERROR_CHARS))
        try:
            return parse(await ask(again))
        except Malformed as error:
            raise Refused(f"the model's answer is not a summary: {error}") from None

    async def _ask(self, text: str, schema: Mapping[str, Any], more: str) -> str:
        text = f"{text}\n\n{more}" if more else text
        return await self._summarizer(self._instructions, text, self._max_answer, schema=schema)

    def _text(self, part: Piece) -> str:
        return "\n\n".join(
            filter(None, (self._asked, self._entries_text(), f"{transcript.RECORD}\n{part.text}"))
        )

    def _entries_text(self) -> str:
        supported = [entry for entry in self._entries if not entry.unsupported]
        most = int(STANDING_SHARE * self._room)
        shown = within(supported, most, self._summarizer.count)
        return f"{transcript.STANDING}\n{text_of(shown, ids=True)}" if shown else ""

    def _asked_for(self) -> str:
        """The goal, and what the user wants looked at, in their words."""
        rows = (
            (transcript.GOAL, clip(one_line(self._view.goal), _GOAL_CHARS)),
            (transcript.FOCUS, one_line(self._options.focus)),
        )
        return "\n\n".join(f"{head}\n{said}" for head, said in rows if said)


def answered(window: WindowView) -> Sequence[view.WindowEntry]:
    """What can be sent: no call whose result is still to come."""
    opened = open_atom(atoms(window))
    waits = any(entry.item.kind == "tool_call" and entry.partner is None for entry in opened)
    return covered(window) if waits else window.entries


def is_read(entry: view.WindowEntry, options: PlanOptions) -> bool:
    """Whether a model reads it: not what the user folded, nor what is said elsewhere."""
    out = options.fold & {entry.n, entry.partner}
    written = entry.item.kind == "summary" and "entries" in entry.item.detail
    return not (out or written or entry.form == "placeholder" or is_rebuilt_each_turn(entry.item))
