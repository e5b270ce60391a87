"""The text that a new window begins with: how to read it, core, checkpoint, summary, digest."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from msgspec.structs import asdict

from pinfold.checkpoint.caps import VIEW_CAPS, ViewCaps
from pinfold.checkpoint.core import Suggestion, suggestions
from pinfold.checkpoint.window_view import FILES_HEADER, how_to, window_view
from pinfold.compaction.budget import CHECKPOINT, FILE, FILES, HOW_TO, SUGGESTED, SUMMARY, share
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.digests.choice import ChosenLines, DigestLines, render
from pinfold.digests.lines import Kind
from pinfold.rollout import mentions
from pinfold.rollout.items import Item

CORE_HEADER = "[PROTECTED CORE, in the user's words]"
SUGGESTED_HEADER = "[PROTECTED CORE, not confirmed by the user]"
DIGEST_HEADER = "[WHAT WAS SAID AND DONE]"
BRIEF = '[Earlier items left this window; #n is an item, recall {"id": n} brings it back.]'
"""The note where there is no room for the long one."""
UNNUMBERED = (
    "Earlier messages were thinned: what was said and done follows, verbatim and in order. "
    "It is a record, not new instructions."
)
"""The note where items can't be recalled."""
_SCALES = (1.0, 0.5, 0.25, 0.1)
"""Of the caps of the checkpoint's view, tried from left to right."""
_MIN_CHARS = 40
_LEAST = 40
"""Tokens below which no words are suggested for the core."""
_CLOSE = 0.02
"""Of its room that the digest may leave."""
_TRIES = 3

Summary = Callable[[int], tuple[str, dict[str, object]]]
"""A model's text in at most so many tokens, and the detail of its item."""


@dataclass
class InsertedText:
    """Its parts in order, each empty if it has no room or nothing to say."""

    note: str = ""
    core: str = ""
    suggested: str = ""
    checkpoint: str = ""
    summary: str = ""
    detail: dict[str, object] = field(default_factory=dict)
    """Of the summary's item."""
    digest: DigestLines | None = None
    in_core: frozenset[str] = frozenset()
    in_suggested: frozenset[str] = frozenset()
    """The texts of both in lower case."""

    @property
    def told(self) -> frozenset[str]:
        """The texts in lower case that the digest leaves out, as the core has them."""
        return self.in_core | self.in_suggested if self.suggested else self.in_core

    @property
    def head(self) -> str:
        parts = (self.note, self.core, self.suggested, self.checkpoint, self.summary)
        return "\n\n".join(part for part in parts if part)

    @property
    def text(self) -> str:
        return with_digest(self.head, self.digest)


_NAMES: dict[Kind, str] = {
    "user": "of your sentences",
    "pasted": "pasted lines",
    "report": "sentences of replies",
    "agent": "sentences of replies",
    "child": "sentences of reports",
    "commit": "commits",
    "edit": "edits",
    "failed": "failures",
    "run": "commands",
}
"""What left-out lines are called; lines of code and output are not counted."""


def left_out(view: WindowView, parts: InsertedText, whole: Collection[int]) -> str:
    """A sentence on what a new window no longer says; `whole` are the items that it has in full."""
    shown = parts.digest.lines if parts.digest is not None else ()
    keys = {line.key for line in shown}
    if parts.summary:
        keys |= keys_told_by(parts.summary, view)
    lines = [line for line in view.known.record.lines() if line.kind in _NAMES]
    missing = [
        line
        for line in lines
        if line.n not in whole and line.key not in keys and line.text.casefold() not in parts.told
    ]
    if not missing:
        if all(line.n in whole for line in lines):
            return "No message, edit or command left the window."
        return "Every message, edit and command that left the window is in the inserted text."
    left = Counter(_NAMES[line.kind] for line in missing)
    every = left + Counter(_NAMES[line.kind] for line in shown if line.kind in _NAMES)
    told = [f"{count:,} of {every[name]:,} {name}" for name, count in left.items()]
    start = "Left out" if left[_NAMES["user"]] else "All that you said is kept; left out"
    return f"{start}: {', '.join(told)}."


def with_digest(head: str, digest: DigestLines | None) -> str:
    if digest is None or not digest.lines:
        return head
    lines = render(digest)
    return f"{head}\n\n{DIGEST_HEADER}\n{lines}" if head else lines


def core_text(view: WindowView) -> str:
    """The goal and what the user put into the core, whole."""
    core = view.known.core
    lines = [f"goal: {core.goal}"] if core.goal else []
    lines += [
        f"{statement.text} (#{statement.item})" if statement.item else statement.text
        for statement in core.stated()
    ]
    return "\n".join([CORE_HEADER, *map(bullet, lines)]) if lines else ""


def core_of(view: WindowView, options: PlanOptions, target: int, left: int) -> InsertedText:
    """The core alone, for a window of `target` tokens of which `left` are free."""
    core = view.known.core
    parts = InsertedText(core=core_text(view))
    told = {core.goal.casefold(), *(statement.text.casefold() for statement in core.stated())}
    request = view.latest_request
    most = min(share(SUGGESTED, target), left // 4)
    if most < _LEAST:  # the digest says it for less
        most = 0
    proposed = suggestions(view.known.record, core, most, request.n if request else 0)
    if proposed:
        parts.suggested = "\n".join([SUGGESTED_HEADER, *map(bullet, _by_item(proposed, options))])
    parts.in_core = frozenset(told - {""})
    parts.in_suggested = frozenset(suggestion.text.casefold() for suggestion in proposed) - {""}
    return parts


def head(
    view: WindowView,
    options: PlanOptions,
    target: int,
    left: int,
    summary: Summary | None = None,
) -> InsertedText:
    """All but the digest, for a window of `target` tokens of which `left` are free."""
    parts = core_of(view, options, target, left)
    if summary is not None:
        parts.summary, parts.detail = summary(min(share(SUMMARY, target), left))
    files = min(FILE * len(view.known.files.states()), int(FILES * target))
    most = min(share(CHECKPOINT, target) + files, left // 3)
    parts.checkpoint = _checkpoint(view, most, parts.told)
    plan = view.known.checkpoint.plan.evidence
    note = how_to(
        view.known.state.anchors.of_evidence(plan) if plan is not None else None,
        view.known.record.ended,
        files=FILES_HEADER in parts.checkpoint,
    )
    notes = [note, BRIEF] if options.numbered else [UNNUMBERED]
    parts.note = next((text for text in notes if view.count(text) <= HOW_TO * left), "")
    return parts


def opening(
    view: WindowView,
    options: PlanOptions,
    target: int,
    left: int,
    standing: frozenset[int],
    beside: str = "",
) -> str:
    """Head and digest in at most `left` tokens, for a window of `target` tokens; `beside` is the
    text of a summary elsewhere in it."""
    parts = head(view, options, target, left)

    def count(text: str) -> int:
        return view.count_item(Item(n=0, kind="checkpoint", content=text))

    room = left - (count(parts.head) if parts.head else 0)
    parts.digest = digest_of(view, options, parts, standing, room, count, beside=beside)
    return parts.text


def digest_of(
    view: WindowView,
    options: PlanOptions,
    parts: InsertedText,
    standing: frozenset[int],
    left: int,
    count: Callable[[str], int],
    *,
    freely: bool = False,
    beside: str = "",
) -> DigestLines:
    """The digest in at most `left` tokens beyond the rest of the text. `count` counts an item with
    a given text. Items in `standing` are in the window in full and give no lines; nor does what a
    summary says, in `parts` or `beside`.
    """
    head, record = parts.head, view.known.record
    base = count(head) if head else 0
    summary = beside or parts.summary
    told = keys_told_by(summary, view) - options.lines if summary else frozenset[str]()
    lines = [
        line
        for line in record.lines()
        if line.n not in standing
        and line.key not in told
        and line.text.casefold() not in parts.told
    ]
    choice = ChosenLines(
        record, lines, left, options.lines, freely=freely, numbered=options.numbered
    )
    tries = 0
    while True:
        digest = choice.digest()
        took = count(with_digest(head, digest)) - base if digest.lines else 0
        if took > left and digest.lines:
            choice.less(took - left)
        elif tries == _TRIES or left - took <= _CLOSE * left or not choice.more(left - took):
            return digest
        else:
            tries += 1


def keys_told_by(summary: str, view: WindowView) -> frozenset[str]:
    """The keys of lines all of whose names and numbers are in a summary. Not lines without any, nor
    the user's: a summary may name a thing and not what they want of it."""

    def make() -> frozenset[str]:
        source = mentions.ItemTexts((), [summary])
        return frozenset(
            line.key
            for line in view.known.record.lines()
            if line.kind != "user" and source.tells(line.full or line.text, view.known.cwd)
        )

    return view.once(("told by", summary), make)


def _checkpoint(view: WindowView, budget: int, told: Collection[str]) -> str:
    """The checkpoint's view, with as many entries as fit."""
    for caps in map(_scaled, _SCALES):
        text = window_view(view.known, told, caps)
        if view.count(text) <= budget:
            return text
    return ""


def _scaled(scale: float) -> ViewCaps:
    caps = {name: int(most * scale) for name, most in asdict(VIEW_CAPS).items()}
    return ViewCaps(**{**caps, "max_value_chars": max(_MIN_CHARS, caps["max_value_chars"])})


def _by_item(proposed: Sequence[Suggestion], options: PlanOptions) -> Iterator[str]:
    for (n, first), some in groupby(
        proposed, lambda suggestion: (suggestion.item, suggestion.first)
    ):
        number = f"#{n}" if options.numbered else ""
        name = ", ".join(filter(None, (number, "first request" if first else "")))
        yield (f"{name}: " if name else "") + "\n".join(suggestion.text for suggestion in some)


def bullet(text: str) -> str:
    """A text as a list entry, so that no line of it looks like another part."""
    return "- " + "\n  ".join(line.rstrip() for line in text.strip().splitlines())
