"""`exec` with limits and a schema for its answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.agent import Stage, stage
from fakes.openai_server import FakeOpenAI, Reply
from fakes.process import Pinfold
from fakes.provider import calls, says
from pinfold import headless, reply_schema
from pinfold.agent.options import Options
from pinfold.ports.approver import Decision
from pinfold.rollout.provenance import Prompt
from pinfold.rollout.values import Usage
from pinfold.tokens.prices import Price

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"port": {"type": "integer"}},
    "required": ["port"],
}
PRICED = {"scripted/scripted-1": Price(1.0, 1.0)}
DEAR = Usage(input=600_000)


async def code(on: Stage, **options: Any) -> int:
    code = await headless.run(on.session, Prompt("go"), **options)
    await on.session.close()
    return code


async def test_a_limit_of_requests_is_exit_code_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = [calls((f"c{n}", "list_dir", '{"path": "."}')) for n in range(3)]
    on = await stage(tmp_path, script, Decision("policy"), options=Options(max_steps=2))
    assert await code(on) == 3
    assert "paused after 2 steps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("prices", "said"),
    [(PRICED, "the turn has cost $1.20, and $1.00 is the limit"), ({}, "needs a price: none is")],
)
async def test_a_limit_of_cost_is_exit_code_3(
    prices: dict[str, Price], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = [calls((f"c{n}", "list_dir", '{"path": "."}')) for n in range(3)]
    for response in script:
        response[-1] = says("", usage=DEAR)[-1]
    on = await stage(tmp_path, script, options=Options(prices=prices, max_cost=1.0))
    assert await code(on) == 3
    assert said in capsys.readouterr().err
    assert len(on.provider.requests) == (2 if prices else 0)


async def test_an_answer_that_obeys_the_schema_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on = await stage(tmp_path, [says('{"port": 8080}')])
    assert await code(on, schema=SCHEMA) == 0
    assert json.loads(capsys.readouterr().out) == {"port": 8080}
    assert on.provider.requests[0].schema == SCHEMA


async def test_an_answer_that_does_not_is_asked_for_once_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on = await stage(tmp_path, [says("It is 8080."), says('{"port": "8080"}')])
    assert await code(on, schema=SCHEMA) == 1
    assert "at $.port: '8080' is not of type 'integer'" in capsys.readouterr().err
    assert "Reply again" in on.provider.requests[1].items[-1].content


@pytest.mark.parametrize("text", ["[]", "{", '{"type": "nothing"}', '{"type": 1}'])
def test_what_is_no_schema_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(reply_schema.WrongSchema, match=r"s\.json"):
        reply_schema.load(tmp_path / "s.json")


async def test_the_command_takes_them_and_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    async with FakeOpenAI([Reply('{"port": 1}')]) as server:
        pinfold = Pinfold(tmp_path, **Pinfold.on(server.url))
        limits = ("--max-turns", "5", "--ephemeral", "--output-schema", str(tmp_path / "s.json"))
        done = await pinfold.run("exec", *limits, "which port?")
        assert (done.code, done.out.strip()) == (0, '{"port": 1}'), done.err
        listed = await pinfold.run("sessions")
        wrong = await pinfold.run("exec", "--max-cost", "1", "--output-schema", "none.json", "x")
    assert "which port?" not in listed.out
    assert wrong.code == 2
    assert "none.json can't be read" in wrong.err
