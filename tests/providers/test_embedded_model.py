"""The embedded model itself: xllamacpp and SmolLM2, as installed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pinfold.ports.errors import ContextOverflow
from pinfold.ports.provider import PartDone, Progress, Request, ResponseDone, TextDelta
from pinfold.providers.embedded import Embedded, available
from pinfold.rollout.context import Context
from pinfold.rollout.items import Item

pytestmark = pytest.mark.real_model

PARENT = """
import asyncio
from test_embedded_model import PROMPTS, request
from pinfold.providers.embedded import Embedded

async def main():
    embedded = Embedded()
    await embedded.warm()
    print("up", flush=True)
    async for delta in embedded.stream(request(PROMPTS["long"])):
        print(delta, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""
PROMPTS = {"short": "Say hello.", "long": "word and thing " * 400, "huge": "word " * 9000}


def request(text: str) -> Request:
    model = available()
    assert model
    context = Context(instructions="Be brief.")
    return Request(model, context, (Item(n=1, kind="user", content=text),))


@pytest.fixture
async def embedded() -> AsyncIterator[Embedded]:
    provider = Embedded()
    yield provider
    await provider.close()


async def test_streams_an_answer_with_its_usage(embedded: Embedded) -> None:
    deltas = [delta async for delta in embedded.stream(request(PROMPTS["short"]))]

    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    parts = [delta for delta in deltas if isinstance(delta, PartDone)]
    assert text
    assert [part.content for part in parts] == [text]
    assert isinstance(deltas[-1], ResponseDone)
    assert deltas[-1].usage
    assert 0 < deltas[-1].usage.output <= 512


async def test_its_count_is_what_it_reports_as_usage(embedded: Embedded) -> None:
    await embedded.warm()
    counted = await embedded.count(request(PROMPTS["short"]))
    deltas = [delta async for delta in embedded.stream(request(PROMPTS["short"]))]

    assert isinstance(deltas[-1], ResponseDone)
    assert deltas[-1].usage
    assert counted == deltas[-1].usage.input


class Found(msgspec.Struct, forbid_unknown_fields=True):
    item: int
    quote: str


class Decision(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    evidence: list[Found]


class Summary(msgspec.Struct, forbid_unknown_fields=True):
    task: str
    decisions: list[Decision]


def words(most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": most}


def made_of(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def one(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1, "maxItems": 1}


async def test_a_nested_schema_is_obeyed_as_a_grammar(embedded: Embedded) -> None:
    evidence = made_of(item={"type": "integer", "enum": [1, 2]}, quote=words(20))
    schema = made_of(task=words(20), decisions=one(made_of(text=words(20), evidence=one(evidence))))
    asked = msgspec.structs.replace(request("#1 Tell a joke. #2 No, a poem."), schema=schema)
    deltas = [delta async for delta in embedded.stream(asked)]

    (part,) = [delta for delta in deltas if isinstance(delta, PartDone)]
    summary = msgspec.convert(json.loads(part.content), Summary)
    assert {found.item for decision in summary.decisions for found in decision.evidence} <= {1, 2}
    assert isinstance(deltas[-1], ResponseDone)
    assert deltas[-1].stop == "stop"


async def test_a_request_that_generates_nothing_warms_the_prompt_cache(embedded: Embedded) -> None:
    prompt = request("word and thing " * 50)
    first = [d async for d in embedded.stream(msgspec.structs.replace(prompt, max_output=1))]
    again = [d async for d in embedded.stream(msgspec.structs.replace(prompt, max_output=2))]

    warmed, used = first[-1], again[-1]
    assert isinstance(warmed, ResponseDone)
    assert isinstance(used, ResponseDone)
    assert warmed.usage
    assert used.usage
    assert (warmed.usage.output, warmed.usage.cached) == (1, 0)
    assert used.usage.cached > used.usage.input // 2


async def test_tells_how_much_of_a_long_prompt_is_read(embedded: Embedded) -> None:
    deltas = [delta async for delta in embedded.stream(request(PROMPTS["long"]))]

    read = [d.done for d in deltas if isinstance(d, Progress) and d.done is not None]
    assert read == sorted(read)
    assert len(read) > 2
    assert read[-1] == 1


async def test_a_request_that_does_not_fit_is_an_overflow(embedded: Embedded) -> None:
    with pytest.raises(ContextOverflow):
        _ = [delta async for delta in embedded.stream(request(PROMPTS["huge"]))]


async def test_an_interrupted_request_leaves_the_model_free(embedded: Embedded) -> None:
    async with aclosing(embedded.stream(request(PROMPTS["long"]))) as deltas:
        async for delta in deltas:
            if delta == Progress("reading the prompt", 0.0):
                break

    answer = [delta async for delta in embedded.stream(request(PROMPTS["short"]))]
    assert isinstance(answer[-1], ResponseDone)


async def test_the_child_imports_nothing_from_the_working_directory(
    embedded: Embedded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)

    await embedded.warm()


@pytest.mark.parametrize("moment", ["up", "Progress(note='reading the prompt', done=0"])
async def test_no_child_outlives_a_killed_parent(moment: str) -> None:
    """Neither when it is idle nor when it computes."""
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PARENT,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    assert parent.stdout
    async with asyncio.timeout(60):
        while not (await parent.stdout.readline()).decode().startswith(moment):
            assert parent.returncode is None
        children = children_of(parent.pid)
        assert len(children) == 1

        parent.send_signal(signal.SIGKILL)
        await parent.wait()
        while any(runs(child) for child in children):
            await asyncio.sleep(0.05)


def children_of(pid: int) -> list[str]:
    return subprocess.run(
        ["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split()


def runs(pid: str) -> bool:
    """Whether a process is there, and more than a corpse that waits to be reaped."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=False
    ).stdout.strip()
    return state != "" and not state.startswith("Z")
