"""Cuts long outputs to head and tail for the window; a file has all of it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from pinfold.ports.provider import ModelInfo
from pinfold.ports.tool import ToolContext, ToolOutcome
from pinfold.tools.output import CAP, keep
from pinfold.window.reading import reserve

SHARE, LEAST = 0.05, 1_000
"""The largest share of the usable window that an output takes; the tokens it may always take."""
PAGE = 0.25
"""The same of a page that a tool reads of a file."""
DENSE = 3.5
"""Characters of a token, in text that has few."""


@dataclass(eq=False)
class Outputs:
    _model: Callable[[], ModelInfo]
    _count: Callable[[str], int]
    """The tokens of a text."""

    def bounded(self, context: ToolContext) -> ToolContext:
        """The context of a call, with what its output may take now."""
        page = int(PAGE * self._usable * DENSE)
        return replace(
            context,
            max_output=min(CAP, int(self.most * DENSE)),
            max_page=min(context.max_page, max(page, int(LEAST * DENSE))),
        )

    @property
    def most(self) -> int:
        """Tokens of one output."""
        return max(LEAST, int(SHARE * self._usable))

    @property
    def _usable(self) -> int:
        model = self._model()
        return model.context_window - reserve(model.context_window, model.max_output)

    async def fitted(self, outcome: ToolOutcome, context: ToolContext) -> ToolOutcome:
        """The outcome, with its output cut if it is too long, and the file that has all of it."""
        text = outcome.output
        if self._fits(text):
            return outcome
        detail = dict(outcome.detail)
        where = f"the rest is in {detail.get('spill')}"
        if "spill" not in detail:
            path, problem = await asyncio.to_thread(_keep, context, text)
            where = problem or f"the whole output is in {path}"
            detail |= {} if path is None else {"spill": str(path)}
        size = CAP
        while True:
            head, tail = _head_and_tail(text, size)
            left = len(text) - len(head) - len(tail)
            mark = f"\n[... {left:,} characters left out; {where} ...]\n"
            if self._fits(cut := head + mark + tail) or not head + tail:
                break
            size = size * 9 // 10
        start, shift = len(head), len(cut) - len(text)
        spans = [
            *([a, b] for a, b in detail.get("host", ()) if b <= start),
            [start, start + len(mark)],
            *([a + shift, b + shift] for a, b in detail.get("host", ()) if a >= start + left),
        ]
        return replace(outcome, output=cut, detail=detail | {"host": spans})

    def _fits(self, text: str) -> bool:
        most = self.most
        return len(text) <= CAP and (len(text) <= most or self._count(text) <= most)


def _keep(context: ToolContext, text: str) -> tuple[Path | None, str]:
    """The file with the text, or why there is none."""
    try:
        return keep(context.folder, context.call_id, text), ""
    except OSError as error:
        return None, f"it could not be kept: {error.strerror}"


def _head_and_tail(text: str, size: int) -> tuple[str, str]:
    """The head and the tail of a text, in whole lines unless these are very long."""
    half = size // 2
    head, tail = text[:half], text[len(text) - half :] if half else ""
    head = head[: head.rfind("\n", half // 2) + 1 or half].rstrip("\n")
    return head, tail[tail.find("\n", 0, half // 2) + 1 :]
