"""The notes that a model writes for the model that continues the session."""

import asyncio
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from pinfold.checkpoint.text import one_line
from pinfold.compaction import prompts, transcript
from pinfold.compaction.budget import room, share
from pinfold.compaction.claims import confirmed
from pinfold.compaction.content import without_data
from pinfold.compaction.replacement import as_sent, covered, read_as_sent
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowEntry, WindowView
from pinfold.ports.errors import ContextOverflow
from pinfold.ports.summarizer import Summarizer
from pinfold.rollout.items import Item
from pinfold.window.refused import Refused

HANDOFF = (0.25, 1_500)
"""Of the target, and tokens at most, that the notes may have."""
MIN_HANDOFF = 200
"""Tokens that they may have in the smallest window."""
MAX_MESSAGE_CHARS = 4_000
"""Of an item that the model reads where not all of it fits; of a longer one its ends."""
END = f"{transcript.END}\n\nNow write the notes, as you were told to."
"""What the model reads last: a small one would otherwise continue the record."""
MAX_MARKED = 8
"""Lines with unconfirmed names or numbers that the preview lists."""
MAX_ANSWER = 8_000
"""Tokens that the session's own model may take, with what it thinks before it writes."""
MAX_CALLS = 2
"""Requests to it."""
MAX_TRIES = 8
"""Requests, each for half of what was too much for the one before."""


async def write(
    view: WindowView,
    summarizer: Summarizer | None,
    options: PlanOptions,
    *,
    checked: bool = True,
) -> Material:
    """Have the notes written, and mark what the record does not confirm.

    Raises `Refused` where there is no model or it answers nothing, and `ProviderError`.
    """
    if summarizer is None:
        raise Refused("No model is available to write the handoff.")
    most = max(MIN_HANDOFF, share(HANDOFF, room(view, options).target))
    told = prompts.text("handoff", options.prompts)
    prompt = f"{told}\n\nWrite at most {most * 3 // 4:,} words."
    if options.focus:
        prompt += f"\n\nThe user wants you to focus on this, in their words:\n{options.focus}"
    known = covered(view)
    if not known:
        raise Refused("There is nothing to hand off.")
    items = await asyncio.to_thread(as_sent, view, known)
    read, dropped = len(items), 0
    answer = await _from_conversation(items, summarizer, prompt, options)
    if answer is None:
        transcript.check_readable(view)
        answer, read, dropped = await _from_transcript(
            view, known, summarizer, prompt, options, most
        )
    if not answer.strip():
        raise Refused("The model returned no text.")
    text, marked = answer.strip(), tuple[str, ...]()
    if checked:
        text, marked = await asyncio.to_thread(_confirmed, text, view)
    return Material(
        text=text,
        through=max(entry.n for entry in known),
        notes=tuple(_notes(view, marked, dropped, read + dropped)),
        meta={"model": summarizer.model.name, "read": read, "dropped": dropped},
    )


async def _from_conversation(
    items: Sequence[Item], summarizer: Summarizer, prompt: str, options: PlanOptions
) -> str | None:
    """The notes, written at the end of the live conversation; None if the model does not have that
    or it leaves too little room."""
    told = prompts.text("conversation", options.prompts)
    instruction = f"{told}\n\n{prompt}"
    room = summarizer.conversation_room(items, instruction)
    if not items or room < MIN_HANDOFF:
        return None
    answer = ""
    for _ in range(MAX_CALLS):  # it may have called a tool and written no text
        summarizer.step("writing the handoff", 0.1)
        try:
            answer = await summarizer.in_conversation(items, instruction, min(room, MAX_ANSWER))
        except ContextOverflow:
            return None
        if answer.strip():
            break
    return answer


async def _from_transcript(
    view: WindowView,
    known: Sequence[WindowEntry],
    summarizer: Summarizer,
    prompt: str,
    options: PlanOptions,
    most: int,
) -> tuple[str, int, int]:
    """The notes of a model that reads the window as text, and the numbers of items read and left
    out."""
    instructions = f"{prompt}\n\n{prompts.text('transcript', options.prompts)}"
    sent = [replace(e, item=transcript.told(e.item)) for e in read_as_sent(view, known)]
    texts = list(transcript.lines(sent))
    if not texts:
        raise Refused("There is nothing to hand off.")
    every = len(texts)
    free = summarizer.room(most) - summarizer.count(f"{instructions}\n\n{END}")
    if _size(texts, summarizer) > free:
        texts = _newest(list(transcript.lines(map(_shortened, sent))), free, summarizer)
    for tried in range(1, MAX_TRIES + 1):
        summarizer.step("writing the handoff", 0.1)
        try:
            answer = await summarizer(instructions, "\n".join((*texts, "", END)), most)
            break
        except ContextOverflow:
            if tried == MAX_TRIES or len(texts) == 1:
                raise
            texts = _newest(texts, _size(texts, summarizer) // 2, summarizer)
    return answer, len(texts), every - len(texts)


def item_of(view: WindowView, material: Material, options: PlanOptions) -> Item:
    """The notes behind their prefix. Raises `Refused` where there are none."""
    text = options.text
    if text is None:
        if not material.text:
            raise Refused("No handoff has been written.")
        text = f"{prompts.text('handoff_prefix', options.prompts)}\n\n{material.text}"
    return Item(
        n=0, kind="summary", content=text, detail={"handoffs": _handoffs_in_a_row(view) + 1}
    )


def _confirmed(notes: str, view: WindowView) -> tuple[str, tuple[str, ...]]:
    """The notes, checked against all that was said and done; earlier notes confirm nothing."""
    said = (item for item in view.session() if not {"handoffs", "entries"} & item.detail.keys())
    return confirmed(notes, said, view.known.cwd)


def _notes(view: WindowView, marked: Sequence[str], dropped: int, items: int) -> Iterator[str]:
    if dropped:
        yield (
            f"The model could not read all: the oldest {dropped:,} of {items:,} items were left "
            "out."
        )
    for line in marked[:MAX_MARKED]:
        yield f"Marked, as no item contains it: {one_line(line)}"
    if (more := len(marked) - MAX_MARKED) > 0:
        yield f"Marked like this: {more:,} more."
    if earlier := _handoffs_in_a_row(view):
        yield (
            f"Handoff {earlier + 1} in a row: each is made from the last, and accuracy drops. "
            "Start a new session if you can."
        )


def _shortened(entry: WindowEntry) -> WindowEntry:
    text = without_data(entry.item)
    left = len(text) - MAX_MESSAGE_CHARS
    if left > 0:
        head = MAX_MESSAGE_CHARS * 2 // 3
        text = f"{text[:head]}\n[… {left:,} characters …]\n{text[head + left :]}"
    return replace(entry, item=replace(entry.item, content=text, images=()))


def _newest(texts: Sequence[str], most: int, summarizer: Summarizer) -> list[str]:
    """The newest that fit, at least one."""
    found: list[str] = []
    for text in reversed(texts):
        most -= summarizer.count(text) + 1
        if most < 0 and found:
            break
        found.append(text)
    return found[::-1]


def _size(texts: Sequence[str], summarizer: Summarizer) -> int:
    return sum(summarizer.count(text) + 1 for text in texts)


def _handoffs_in_a_row(view: WindowView) -> int:
    """How many handoffs in a row the window comes from."""
    earlier = (e.item.detail.get("handoffs", 1) for e in view.entries if e.item.kind == "summary")
    return max((n for n in earlier if isinstance(n, int)), default=0)
