"""What a session and its agents may do and spend together."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from fakes.agents import Cast, task, troupe
from fakes.provider import Step, calls, says
from pinfold.agent.children.definition import Agent
from pinfold.agent.options import Options
from pinfold.commands.agents import review
from pinfold.commands.status import cost
from pinfold.ports.approver import Decision
from pinfold.rollout.values import Usage
from pinfold.tokens.prices import Price

PRICES = {"scripted/scripted-1": Price(1.0, 1.0)}
DEAR = Usage(input=600_000)
WRITE = '{"path": "b", "content": "x"}'


def dear(made: list[Step]) -> list[Step]:
    return [*made[:-1], says("", usage=DEAR)[-1]]


def look(n: int) -> tuple[str, str, str]:
    return (f"l{n}", "list_dir", '{"path": "."}')


async def test_the_cost_of_all_of_them_counts_before_each_request(tmp_path: Path) -> None:
    parts = {name: [dear(calls(look(n))) for n in range(9)] for name in ("one", "two")}
    script = [calls(task("c1", "one"), task("c2", "two")), says("never sent")]
    options = Options(prices=PRICES, max_cost=2.0)
    on = await troupe(tmp_path, script, parts, options=options)
    ending = await on.session.send("go")
    assert isinstance(on.provider, Cast)
    # Four at $0.60 are over the limit; a fifth may have been on its way.
    assert 4 <= sum(len(part.requests) for part in on.provider.parts.values()) <= 5
    assert len(on.provider.requests) == 1
    assert (ending.state, ending.limit) == ("waiting", "cost")
    for n in (1, 2):
        end = on.session.children.end(n)
        assert end is not None
        assert end.state == "waiting"
        assert "$2.00 is the limit" in end.reason
    said: list[str] = []
    await cost(SimpleNamespace(session=on.session, tell=said.append))  # type: ignore[arg-type]
    spent = sum(len(part.requests) for part in on.provider.parts.values()) * 600_000
    own = on.provider.requests
    assert len(own) == 1
    assert "Agents" in said[0]
    assert f"{spent:,} tokens in" in said[0]
    await on.session.close()


async def test_their_steps_count_together_and_one_question_is_for_all(tmp_path: Path) -> None:
    parts = {name: [calls(look(n)) for n in range(9)] for name in ("one", "two")}
    script = [calls(task("c1", "one"), task("c2", "two")), says("never sent")]
    options = Options(max_steps=5)
    on = await troupe(tmp_path, script, parts, Decision("yes"), Decision("no"), options=options)
    ending = await on.session.send("go")
    assert isinstance(on.provider, Cast)
    assert sum(len(part.requests) for part in on.provider.parts.values()) == 9
    assert (ending.state, ending.limit) == ("waiting", "steps")
    assert len(on.user.asked) == 2
    await on.session.close()


@dataclass
class Waiting:
    """Approvals of a parent that change while its agent is about to write."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def part(self) -> list[list[Step]]:
        return [[self.gate, *calls(("w", "write_file", WRITE))], says("ok")]


@pytest.mark.parametrize(
    ("parent", "agent", "then", "verdict"),
    [
        ("full", "full", None, "runs"),
        ("ask", "full", None, "asks"),
        ("read-only", "full", None, "refused"),
        ("full", "read-only", None, "refused"),
        ("full", "full", "ask", "asks"),
        ("full", "full", "read-only", "refused"),
        ("full", "full", "plan", "refused"),
        ("ask", "full", "full", "runs"),
        ("ask", "read-only", "full", "refused"),
    ],
)
async def test_approvals_are_never_wider_than_the_parents_are_now(
    tmp_path: Path, parent: str, agent: str, then: str | None, verdict: str
) -> None:
    waiting = Waiting()
    on = await troupe(
        tmp_path,
        [calls(task("c1", "write", agent="writer")), says("ok")],
        {"write": waiting.part()},
        Decision("no"),
        options=Options(approvals=parent),  # type: ignore[arg-type]
        agents={"writer": Agent("writer", approvals=agent)},  # type: ignore[arg-type]
    )
    sent = on.session.send("go")
    assert isinstance(on.provider, Cast)
    await on.provider.asked("write")
    if then:
        on.session.set_approvals(then)
    waiting.gate.set()
    await sent
    asked = [question.agent for question in on.user.asked]
    assert asked == (["a1 writer"] if verdict == "asks" else [])
    assert (tmp_path / "work" / "b").exists() == (verdict == "runs")
    assert ("changed b" in on.texts("tool_result")[0]) == (verdict == "runs")
    await on.session.close()


async def test_approvals_that_change_while_it_is_opened_hold(tmp_path: Path) -> None:
    on = await troupe(
        tmp_path,
        [calls(task("c1", "write")), says("ok")],
        {"write": [calls(("w", "write_file", WRITE)), says("ok")]},
        options=Options(approvals="full"),
        opening=lambda: on.session.set_approvals("read-only"),
    )
    await on.session.send("go")
    assert not (tmp_path / "work" / "b").exists()
    await on.session.close()


async def test_what_was_always_allowed_ends_with_the_approvals(tmp_path: Path) -> None:
    """The user allows an agent all edits, then sets the approvals again: it asks again."""
    gate = asyncio.Event()
    edits = [
        calls(("w1", "write_file", WRITE)),
        calls(("w2", "write_file", '{"path": "c", "content": "x"}')),
        [gate, *calls(("w3", "write_file", '{"path": "d", "content": "x"}'))],
        says("ok"),
    ]
    on = await troupe(
        tmp_path,
        [calls(task("c1", "write")), says("ok")],
        {"write": edits},
        Decision("always"),
        Decision("no"),
    )
    sent = on.session.send("go")
    assert isinstance(on.provider, Cast)
    part = on.provider.parts["write"]
    async with asyncio.timeout(30):
        while len(part.requests) < 3:
            await asyncio.sleep(0)
    on.session.set_approvals("ask")
    gate.set()
    await sent
    assert [question.agent for question in on.user.asked] == ["a1", "a1"]
    assert not (tmp_path / "work" / "d").exists()
    await on.session.close()


async def test_an_agent_that_the_user_starts_counts_for_itself(tmp_path: Path) -> None:
    """A turn that took all its steps leaves `/review` as many."""
    script = [calls(look(1)), calls(look(2)), says("ok")]
    parts = {"uncommitted": [calls(look(3)), calls(look(4)), says("Fine.")]}
    on = await troupe(tmp_path, script, parts, options=Options(max_steps=3))
    await on.session.send("go")
    await review(SimpleNamespace(session=on.session, tell=str))  # type: ignore[arg-type]
    await on.until(lambda: not on.session.children.running)
    end = on.session.children.end(1)
    assert end is not None
    assert end.state == "done"
    assert not on.user.asked
    await on.session.close()
