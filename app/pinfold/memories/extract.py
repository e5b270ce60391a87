"""Phase 1 with a model: statements about one session that cite its items."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct

from pinfold.agent.requests.writing import Writer
from pinfold.compaction import transcript
from pinfold.digests.choice import choose, render
from pinfold.memories.places import prompt
from pinfold.memories.proving import ModelStatement, Proving
from pinfold.memories.records import Extracted
from pinfold.memories.source import SessionText
from pinfold.memories.statements import KINDS, record
from pinfold.ports.errors import ContextOverflow
from pinfold.rollout.context import Context
from pinfold.rollout.values import Usage

WINDOW_SHARE = 0.7
"""Share of the model's window for instructions and record."""
MAX_ANSWER = 6_000
"""Tokens."""
MAX_STATEMENTS = 60
_TRIES = 3
"""Sizes of the record to try if the server has less room than it says."""
_LEAST = 500
"""Tokens; a smaller record is not tried."""
_SHORTENED = " It was long: these are its most informative lines."


class UnusableAnswer(Exception):
    """The model's answer can't be used; `str()` is a plain sentence."""


class Extraction(Struct, frozen=True):
    """The result of reading a session."""

    extracted: Extracted | None
    """None if nothing is worth remembering."""
    proven: int = 0
    """Statements that the session confirms."""
    left_out: tuple[str, ...] = ()
    """Why each of the others was left out."""
    usage: Usage = Usage()


class _Answer(Struct, frozen=True, forbid_unknown_fields=True):
    raw_memory: list[ModelStatement]
    rollout_summary: str
    rollout_slug: str


Beside = Callable[..., Awaitable[Any]]
_decoder = msgspec.json.Decoder(_Answer)


async def extract(
    source: SessionText, writer: Writer, beside: Beside = asyncio.to_thread
) -> Extraction:
    """Let the model read a session; `beside` runs what needs the processor.

    Raises `UnusableAnswer`, `ProviderError`.
    """
    system = prompt("stage_one_system")
    model = writer.model
    room = min(
        int(WINDOW_SHARE * model.context_window),
        writer.room(min(MAX_ANSWER, model.max_output)),
    ) - await beside(writer.count, f"{system}\n{prompt('stage_one_input')}")
    for attempt in range(1, _TRIES + 1):
        text = await beside(asked, source, room, writer)
        try:
            written = await writer.write(
                Context(instructions=system), (), text, MAX_ANSWER, schema=SCHEMA
            )
            break
        except ContextOverflow:
            room //= 2
            if attempt == _TRIES or room < _LEAST:
                raise
    if written.stop == "length":
        raise UnusableAnswer("The model's answer was cut off.")
    made: Extraction = await beside(kept, written.text, source)
    return msgspec.structs.replace(made, usage=written.usage)


def asked(source: SessionText, room: int, writer: Writer) -> str:
    """The request: the whole session, or its digest, in about `room` tokens."""
    record = "\n\n".join(transcript.lines(source.entries()))
    shortened = ""
    if writer.count(record) > room:
        record, shortened = _digest(source, room, writer), _SHORTENED
    return prompt("stage_one_input").format(cwd=source.cwd, shortened=shortened, record=record)


def _digest(source: SessionText, room: int, writer: Writer) -> str:
    record = source.record()
    budget = room
    while (size := writer.count(text := render(choose(record, budget)))) > room and budget > 0:
        budget = min(budget * room // size, budget * 19 // 20)
    return text


def kept(answer: str, source: SessionText) -> Extraction:
    """The part of an answer that the session confirms, without secrets. Raises `UnusableAnswer`."""
    given = _parsed(answer)
    proving = Proving(source)
    statements, left_out = proving.proven(given.raw_memory[:MAX_STATEMENTS])
    if not statements:
        return Extraction(None, left_out=left_out)
    summary, dropped = proving.prose(given.rollout_summary)
    extracted = Extracted(record(statements), summary, given.rollout_slug)
    return Extraction(source.safe(extracted), len(statements), (*left_out, *dropped))


def _parsed(answer: str) -> _Answer:
    for text in (answer, answer[answer.find("{") : answer.rfind("}") + 1]):
        try:
            return _decoder.decode(text)
        except (ValueError, RecursionError) as error:
            why = str(error)
    raise UnusableAnswer(f"The model's answer is not a memory: {why}.")


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_EVIDENCE = _closed({"item": {"type": "integer"}, "quote": _TEXT})
_STATEMENT = _closed(
    {
        "kind": {"type": "string", "enum": [kind for kind in KINDS if kind != "said"]},
        "evidence": {"type": "array", "items": _EVIDENCE},
        "text": _TEXT,
        "file": _TEXT,
    }
)
SCHEMA = _closed(
    {
        "raw_memory": {"type": "array", "items": _STATEMENT},
        "rollout_summary": _TEXT,
        "rollout_slug": _TEXT,
    }
)
"""For structured output; evidence comes before the text, so that the text follows the quotes."""
