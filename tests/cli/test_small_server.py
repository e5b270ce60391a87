"""`pinfold exec` behind a server that takes far less than `context_window` says."""

import json
from pathlib import Path

from fakes.openai_server import Call, FakeOpenAI, Recorded, Reply
from fakes.process import Pinfold
from pinfold.agent.requests.learned_windows import NAME
from pinfold.rollout.codec import decode
from pinfold.rollout.events import ModelChanged, WindowReplaced
from pinfold.tokens.counter import Counter

STEPS = 9
READ = Call("shell", json.dumps({"command": "seq 1 400"}))


class LlamaCpp:
    """Answers as llama.cpp: a turn reads a few times, then says so.

    Its `n_ctx` is so many times what instructions and tools take."""

    def __init__(self, times: float) -> None:
        self.n_ctx = 0
        self._times = times
        self._answered = 0
        self._counter = Counter("none")

    def __call__(self, request: Recorded) -> Reply:
        system, *messages = request.body["messages"]
        fixed = self._counter.count(json.dumps([system, request.body.get("tools")]))
        tokens = fixed + self._counter.count(json.dumps(messages))
        self.n_ctx = self.n_ctx or int(self._times * fixed)
        if tokens > self.n_ctx:
            return self._refusal(tokens)
        usage = {"input": tokens, "cached": 0, "output": 20, "reasoning": 0}
        self._answered += 1
        if self._answered % STEPS:
            return Reply(calls=(READ,), usage=usage)
        return Reply("All of it is read.", usage=usage)

    def _refusal(self, tokens: int) -> Reply:
        error = {
            "code": 400,
            "message": f"request ({tokens} tokens) exceeds the available context size "
            f"({self.n_ctx} tokens), try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": tokens,
            "n_ctx": self.n_ctx,
        }
        return Reply(status=400, body={"error": error})


def pinfold_at(root: Path, url: str) -> Pinfold:
    env = Pinfold.on(url) | {"PINFOLD_MODEL__CONTEXT_WINDOW": "400000"}
    return Pinfold(root, **env)


async def test_it_goes_on_by_itself_and_later_sessions_know(tmp_path: Path) -> None:
    model = LlamaCpp(2.3)
    async with FakeOpenAI(answer=model) as server:
        pinfold = pinfold_at(tmp_path, server.url)
        first = await pinfold.run("exec", "--approvals", "full", "read it all")
        requests = len(server.bodies)
        second = await pinfold.run("exec", "--approvals", "full", "read it again")
        later = len(server.bodies) - requests
        dry = await pinfold.run("context", "--last")
    assert (first.code, first.out) == (0, "All of it is read.\n"), first.err
    takes = f"{model.n_ctx:,} tokens"
    assert f"takes {takes}, not the 400,000 tokens that context_window asks for" in first.err
    assert (requests, later) == (STEPS + 1, STEPS), "one was refused, and never again"
    assert second.code == 0, second.err
    line = second.err.splitlines()[0]
    assert f"{takes}, learned" in line
    assert "not the 400,000 that context_window asks for" in line
    assert f"of {takes}" in dry.out
    assert "window learned" in dry.out
    (kept,) = json.loads((pinfold.home / NAME).read_bytes())
    assert kept["context_window"] == model.n_ctx
    data = [decode(chunk).data for chunk in pinfold.rollouts()[0].read_bytes().splitlines()]
    assert [e.window_source for e in data if isinstance(e, ModelChanged)] == ["config", "learned"]
    assert "overflow" in [e.reason for e in data if isinstance(e, WindowReplaced)]


async def test_where_nothing_fits_it_ends_in_one_sentence(tmp_path: Path) -> None:
    model = LlamaCpp(1.3)
    async with FakeOpenAI(answer=model) as server:
        pinfold = pinfold_at(tmp_path, server.url)
        ended = await pinfold.run("exec", "look at this: " + "some words " * 900)
        assert len(server.bodies) == 1
    assert ended.code == 1
    *_, said, last = ended.err.splitlines()
    assert f"takes {model.n_ctx:,} tokens, not the 400,000" in said
    assert last.startswith(
        "pinfold: scripted-1 can't take this request: "
        f"its context window is {model.n_ctx:,} tokens, but "
    )
    assert "would not make" not in ended.err
